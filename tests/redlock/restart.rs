//! A server that comes back empty has forgotten who holds, and is not counted for a while.

use leasehold::{Client, Renewal};

use crate::{
    common::Server,
    ground::{PATIENCE, ms, redlock},
};

const LEASE: u64 = 2_000;

fn client(servers: &[Server], quarantine: u64) -> Client {
    redlock(servers.iter().map(Server::url))
        .lease(ms(LEASE))
        .renewal(Renewal::Off)
        .quarantine(ms(quarantine))
        .build()
        .unwrap()
}

/// A hold on the first two of three servers, the second of which has then forgotten it.
fn forget(servers: &mut [Server], quarantine: u64) -> leasehold::Lease {
    let holder = client(servers, quarantine).lock("lock").unwrap();
    drop(holder.acquire_within(PATIENCE).unwrap()); // all of them are old enough
    servers[2].kill();
    let lease = holder.acquire_within(PATIENCE).unwrap();
    servers[1].kill();
    servers[1].restart();
    servers[2].restart();
    lease
}

#[test]
fn without_the_uptime_rule_there_are_two_holders() {
    let mut servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let first = forget(&mut servers, 0);
    let other = client(&servers, 0).lock("lock").unwrap();
    let second = other.try_acquire().unwrap().expect("a majority is free");
    assert!(
        first.is_held() && second.is_held(),
        "this is what the rule is for"
    );
}

#[test]
fn with_it_there_is_one_at_a_time() {
    let mut servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let first = forget(&mut servers, LEASE);
    let other = client(&servers, LEASE).lock("lock").unwrap();
    let error = other.acquire_within(ms(100)).unwrap_err();
    assert!(first.is_held());
    let text = error.to_string();
    assert!(text.contains("does not count: it was started"), "{text}");
    let second = other.acquire_within(PATIENCE).unwrap();
    assert!(!first.is_held() && second.is_held());
}
