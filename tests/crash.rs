//! A holder that is killed: its lock ends with its lease, and a waiter is in right then.

mod common;
mod ground;

use std::{
    thread,
    time::{Duration, Instant},
};

use common::{
    Server, Worker,
    worker::{self, Role},
};
use ground::{Any, PATIENCE, all, builder, instant, ms, rounds};
use leasehold::{Client, Retry};

/// The holder's lease. A stamp in seconds lasts for whole ones.
const LEASE: Duration = Duration::from_millis(1_500);

/// How much later than the end of the lease the next holder may be in.
const LATE: Duration = Duration::from_millis(50);

/// The same where the machine was busy with something else just then.
const BUSY: Duration = Duration::from_secs(2);

fn client(url: &str, strategy: &str) -> Client {
    let builder = builder(url).strategy(Any::named(strategy)).lease(LEASE);
    builder.build().expect("the settings are valid")
}

/// Holds until it is killed.
#[test]
fn holder() {
    let Some(role) = worker::role("holder") else {
        return;
    };
    hold(&role);
}

fn hold(role: &Role) {
    let lock = client(&role.get("URL"), &role.get("STRATEGY")).lock("job");
    let lease = lock.unwrap().acquire().unwrap();
    role.say("holds");
    role.hear();
    drop(lease);
}

/// How long after the end of the dead holder's lease the next one was in, and by how many tries.
fn take_over(server: &Server, strategy: &str) -> (Duration, usize) {
    let (url, recorder) = (server.url(), ground::Recorder::of(Any::named(strategy)));
    let variables = [("URL", &*url), ("STRATEGY", strategy)];
    let mut holder = Worker::spawn("holder", &variables);
    holder.expect("holds");
    // A retry that is never due: what brings the waiter in is the holder's own end.
    let waiter = builder(&url)
        .strategy(recorder.clone())
        .lease(LEASE)
        .retry(Retry::fixed(PATIENCE * 10))
        .wait(PATIENCE)
        .build()
        .unwrap();
    let lock = waiter.lock("job").unwrap();
    holder.kill();
    let end = end_of_lease(&lock);
    let lease = lock.acquire().expect("the next holder is in");
    let late = instant().saturating_duration_since(end);
    drop(lease);
    (late, recorder.tries())
}

/// When the lease of a holder that is dead ends, as the strategy tells it.
fn end_of_lease(lock: &leasehold::Lock) -> Instant {
    let holder = lock.holder().unwrap().expect("the dead one's lease lasts");
    instant() + holder.remaining().expect("it has an end")
}

/// Has every strategy do it at once, each with a server of its own.
fn for_each_strategy(test: impl Fn(&Server, &'static str) + Sync) {
    thread::scope(|scope| {
        for (strategy, _, _) in all() {
            let test = &test;
            scope.spawn(move || test(&Server::start(), strategy));
        }
    });
}

#[test]
fn the_next_holder_is_in_when_the_lease_of_a_killed_one_ends() {
    for_each_strategy(|server, strategy| {
        let killed = (0..rounds(3, 10)).map(|_| take_over(server, strategy).0);
        let mut late: Vec<_> = killed.collect();
        late.sort();
        let (median, worst) = (late[late.len() / 2], late[late.len() - 1]);
        println!("{strategy}: in after the end by {median:.1?}, at worst by {worst:.1?}");
        // A stamp in whole seconds has passed only in the second after the one it names.
        let unit = ms(if strategy == "classic-s" { 1000 } else { 0 });
        assert!(median <= LATE + unit, "{strategy}: {late:?}");
        assert!(worst <= BUSY + unit, "{strategy}: {late:?}");
    });
}

#[test]
fn waiting_for_the_end_of_a_killed_holder_s_lease_takes_few_tries() {
    for_each_strategy(|server, strategy| {
        let (_, tries) = take_over(server, strategy);
        println!("{strategy}: {tries} tries");
        assert!(tries <= 10, "{strategy}: {tries} tries");
    });
}

#[test]
fn without_its_holder_a_lock_lasts_no_longer_than_its_lease() {
    let server = Server::start();
    let url = server.url();
    let mut holder = Worker::spawn("holder", &[("URL", &url), ("STRATEGY", "token")]);
    holder.expect("holds");
    holder.kill();
    let ttl: i64 = server.command(&["PTTL", "job"]);
    assert!((1..=1_500).contains(&ttl), "{ttl}");
}
