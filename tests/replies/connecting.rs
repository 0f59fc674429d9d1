//! What a server says to who may not, or to one too many.

use std::thread;

use leasehold::{Error, ErrorKind, Released, Renewal, strategy::Token};

use crate::common::{Server, eventually};
use crate::ground::{PATIENCE, Recorder, builder, ms};
use crate::trouble::{Told, Trouble, each, settings};

#[track_caller]
fn is_denied(error: &Error, code: &str, command: &str) {
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains(code), "{error}");
    assert!(
        error.to_string().contains(&format!("`{command}`")),
        "{error}"
    );
    assert!(!error.is_passing(), "{error}");
}

#[test]
fn noperm_is_told_at_once_and_outlived_by_renewals() {
    let mut denied = Trouble::with(
        "NOPERM",
        |server| {
            let commands = ["-eval", "-evalsha", "-setnx", "-get", "-del"];
            let user = ["ACL", "SETUSER", "default"];
            let _: String = server.command(&[&user[..], &commands[..]].concat());
        },
        |server| {
            let _: String = server.command(&["ACL", "SETUSER", "default", "+@all"]);
        },
    );
    denied.kind = ErrorKind::Denied;
    denied.passes = false;
    denied.is_met();
}

#[test]
fn who_may_not_touch_the_key_is_denied() {
    each(|name, strategy| {
        let server = Server::start();
        let _: String = server.command(&[
            "ACL", "SETUSER", "app", "on", ">secret", "+@all", "~other*", "&*",
        ]);
        let url = server.url() + "?user=app&pass=secret";
        let client = builder(url).strategy(strategy).build().unwrap();
        let error = client
            .lock("lock")
            .unwrap()
            .acquire()
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{name}: {error}");
        assert!(error.to_string().contains("NOPERM"), "{name}: {error}");
    });
}

fn without_password(server: &Server) -> String {
    let url = server.url();
    let (url, _password) = url.split_once('?').expect("it has a password");
    url.to_owned()
}

#[test]
fn noauth_is_told_at_once() {
    each(|_, strategy| {
        let server = Server::options().password("secret").start();
        let url = without_password(&server);
        let strategy = Recorder::of(strategy);
        let client = builder(url).strategy(strategy.clone()).build().unwrap();
        let error = client
            .lock("lock")
            .unwrap()
            .acquire()
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
        assert!(error.to_string().to_lowercase().contains("auth"), "{error}");
        assert_eq!(strategy.tries(), 1, "it was tried again");
    });
}

#[test]
fn noauth_in_a_database_of_ones_own_is_told_at_once() {
    let server = Server::options().password("secret").start();
    let url = without_password(&server);
    let client = builder(format!("{url}?db=1")).build().unwrap();
    let error = client
        .lock("lock")
        .unwrap()
        .acquire()
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("NOAUTH"), "{error}");
}

#[test]
fn wrongpass_is_told_at_once() {
    let server = Server::options().password("secret").tcp().start();
    let port = server.port().unwrap();
    for url in [
        format!("redis://:wrong@127.0.0.1:{port}"),
        format!("redis://nobody:wrong@127.0.0.1:{port}"),
        format!("redis://:wrong@127.0.0.1:{port}/1"),
    ] {
        let strategy = Recorder::of(Token::default());
        let client = builder(url).strategy(strategy.clone()).build().unwrap();
        let error = client.lock("lock").unwrap().acquire().unwrap_err();
        is_denied(&error, "WRONGPASS", "AUTH");
        assert_eq!(strategy.tries(), 1, "it was tried again");
    }
}

#[test]
fn a_password_where_none_is_set_is_told_at_once() {
    let server = Server::options().tcp().start();
    let url = format!("redis://:secret@127.0.0.1:{}", server.port().unwrap());
    let error = builder(url)
        .build()
        .unwrap()
        .lock("lock")
        .unwrap()
        .acquire()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_password_that_is_changed_and_changed_back_is_outlived_by_renewals() {
    let server = Server::options().password("secret").start();
    let told = Told::default();
    let mut admin = server.connection();
    let mut ask = |words: &[&str]| {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).exec(&mut admin).unwrap();
    };
    let client = settings(&server)
        .observer(told.clone())
        .renewal(Renewal::Every(ms(60)));
    let lease = client
        .build()
        .unwrap()
        .lock("lock")
        .unwrap()
        .acquire()
        .unwrap();
    ask(&["CONFIG", "SET", "requirepass", "another"]);
    ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    eventually(PATIENCE, "a renewal is told", || {
        told.failures()
            .iter()
            .any(|reason| reason.contains("WRONGPASS"))
    });
    ask(&["CONFIG", "SET", "requirepass", "secret"]);
    let renewed = told.renewals();
    eventually(PATIENCE, "the next is not", || told.renewals() > renewed);
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(told.losses(), 0);
}

#[test]
fn max_number_of_clients_is_waited_for_and_told() {
    one_too_many_is_waited_for(&Server::start());
}

#[test]
fn max_number_of_clients_is_not_read_as_the_answer_to_a_password() {
    one_too_many_is_waited_for(&Server::options().password("secret").start());
}

#[test]
fn max_number_of_clients_is_not_read_as_the_answer_to_select() {
    let server = Server::options().tcp().start();
    let url = format!("redis://127.0.0.1:{}/1", server.port().unwrap());
    one_too_many(&server, &url);
}

fn one_too_many_is_waited_for(server: &Server) {
    one_too_many(server, &server.url());
}

fn one_too_many(server: &Server, url: &str) {
    let mut admin = server.connection();
    let mut ask = |words: &[&str]| {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]).exec(&mut admin).unwrap();
    };
    let (strategy, told) = (Recorder::of(Token::default()), Told::default());
    let settings = || builder(url).renewal(Renewal::Off).lease(ms(20_000));
    let brief = settings().build().unwrap().lock("lock").unwrap();
    let patient = settings().strategy(strategy.clone()).build().unwrap();
    let patient = patient.lock("lock").unwrap();
    let holder = settings()
        .observer(told.clone())
        .renewal(Renewal::Every(ms(60)));
    let lease = holder
        .build()
        .unwrap()
        .lock("held")
        .unwrap()
        .acquire()
        .unwrap();
    ask(&["CONFIG", "SET", "maxclients", "1"]);
    ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    let error = brief.acquire_within(ms(80)).unwrap_err();
    let waiting = thread::spawn(move || patient.acquire_within(PATIENCE)?.release());
    eventually(PATIENCE, "it has tried", || {
        strategy.tries() >= 3 || waiting.is_finished()
    });
    eventually(PATIENCE, "a renewal is told", || {
        !told.failures().is_empty()
    });
    let failures = told.failures();
    ask(&["CONFIG", "SET", "maxclients", "100"]);
    let released = waiting.join().unwrap();
    let renewed = told.renewals();
    eventually(PATIENCE, "the next renewal is not", || {
        told.renewals() > renewed
    });
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(
        error.to_string().contains("max number of clients reached"),
        "{error}"
    );
    assert!(error.is_passing(), "{error}");
    let said = |reason: &String| reason.contains("max number of clients reached");
    assert!(failures.iter().any(said), "{failures:?}");
    assert_eq!(released.expect("who waits is granted"), Released::Freed);
}

#[test]
fn busy_is_not_read_as_the_last_word_on_a_database() {
    let server = Server::options().tcp().arg("lua-time-limit", "1").start();
    let url = format!("redis://127.0.0.1:{}/1", server.port().unwrap());
    let strategy = Recorder::of(Token::default());
    let client = builder(url).strategy(strategy.clone()).build().unwrap();
    let mut busy = server.connection();
    let running = thread::spawn(move || {
        let _ = redis::cmd("EVAL")
            .arg("while true do end")
            .arg(0)
            .exec(&mut busy);
    });
    eventually(PATIENCE, "the server is busy", || {
        redis::cmd("PING").exec(&mut server.connection()).is_err()
    });
    let lock = client.lock("lock").unwrap();
    let told = lock.acquire_within(ms(80)).map(drop).unwrap_err();
    let before = strategy.tries();
    let waiting = thread::spawn(move || lock.acquire_within(PATIENCE)?.release());
    eventually(PATIENCE, "it has tried", || {
        strategy.tries() - before >= 3 || waiting.is_finished()
    });
    let _: String = server.command(&["SCRIPT", "KILL"]);
    running.join().unwrap();
    assert!(told.to_string().contains("BUSY"), "{told}");
    assert!(told.is_passing(), "{told}");
    let released = waiting.join().unwrap();
    assert_eq!(released.expect("who waits is granted"), Released::Freed);
}
