//! What several servers cannot do safely is refused before anything is sent.

use leasehold::{
    Builder, Client, ErrorKind,
    strategy::{Dialect, Timestamp, Token},
};

use crate::ground::ms;

const THREE: [&str; 3] = ["redis://a/", "redis://b/", "redis://c/"];

#[track_caller]
fn assert_refused(builder: Builder, said: &[&str]) {
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    let text = error.to_string();
    assert!(said.iter().all(|said| text.contains(said)), "{text}");
}

#[test]
fn a_server_is_counted_once_and_there_is_at_least_one() {
    assert_refused(Client::redlock([""; 0]), &["`urls` = 0", "1 to 32"]);
    let many = (0..33).map(|number| format!("redis://host{number}/"));
    assert_refused(Client::redlock(many), &["`urls` = 33"]);
    let twice = ["redis://a/", "redis://b/", "redis://a:6379/1"];
    assert_refused(Client::redlock(twice), &["`urls` = a:6379", "named twice"]);
    assert_refused(
        Client::redlock(["redis://a/", "b"]),
        &["`url`", "no scheme"],
    );
}

#[test]
fn a_server_must_answer_within_the_lease() {
    let builder = Client::redlock(THREE).lease(ms(100)).io_timeout(ms(100));
    assert_refused(builder, &["`io_timeout` = 100ms", "within the lease"]);
    let lock = Client::redlock(THREE)
        .build()
        .unwrap()
        .lock("lock")
        .unwrap();
    assert!(lock.lease(ms(50)).is_err());
}

#[test]
fn strategies_that_cannot_undo_are_refused() {
    let redlock = || Client::redlock(THREE);
    let classic = Timestamp::classic(Dialect::seconds());
    let why = ["`strategy`", "does not say whose it is"];
    assert_refused(redlock().strategy(classic.clone()), &why);
    assert_refused(redlock().strategy(Token::commands()), &["tombstones"]);
    let client = redlock().build().unwrap();
    assert!(client.with_strategy(classic).is_err());
    let guarded = Timestamp::guarded(Dialect::seconds(), ms(60_000));
    assert!(client.with_strategy(guarded).is_ok());
}
