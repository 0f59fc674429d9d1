//! The lock of a process that is killed is had at the end of its lease, and not before.

use std::time::Duration;

use leasehold::Lock;

use super::{MORTAL_LEASE_MS, ROLE, client, mortal, start};
use crate::{
    common::Worker,
    figures::millis,
    ground::{PATIENCE, ms},
    neighbour::now,
    roles,
};

const LEASE_MS: u64 = 1_500;

/// What tells a lock that ended from one that was freed by something else.
const ROUNDING: Duration = Duration::from_millis(10);

/// Both sides ask again every 100 ms at the latest; the rest is for a busy machine.
const LATE: Duration = Duration::from_secs(2);

/// How much longer the hold of who was killed lasts, and when that was read.
fn left(lock: &Lock) -> (Duration, u64) {
    let read = now();
    let holder = lock.holder().unwrap().expect("it outlives its holder");
    (holder.remaining().expect("it has an end"), read)
}

fn since(read: u64, had: u64) -> Duration {
    Duration::from_nanos(had.saturating_sub(read))
}

/// What is to be said of a lock that was had so long after so much was left of it.
fn judge(took: Duration, left: Duration) -> String {
    assert!(took + ROUNDING >= left, "{left:?} left, had after {took:?}");
    let late = took.saturating_sub(left);
    assert!(late < LATE, "{left:?} left, had after {took:?}");
    format!("{} left, had {} later", millis(left), millis(late))
}

#[test]
fn a_neighbour_that_is_killed_lets_go() {
    let stage = mortal(LEASE_MS);
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock("their-last").unwrap();
    assert_eq!(
        peer.ask(format!("tryLock their-last 0 {MORTAL_LEASE_MS}")),
        "true"
    );
    stage.neighbour().freeze(); // lest it renew what has been read
    let (left, read) = left(&lock);
    stage.neighbour().kill();
    let lease = lock.acquire_within(PATIENCE).unwrap();
    let took = since(read, now());
    lease.release().unwrap();
    let measured = judge(took, left);
    stage.note("is killed (-9), and we have it at the end", measured);
}

#[test]
fn when_we_are_killed_a_neighbour_has_it() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock("our-last").unwrap();
    let url = stage.server().url();
    let variables = [("URL", &*url), ("STRATEGY", ROLE), ("NAME", "our-last")];
    let mut victim = Worker::spawn("roles::victim", &variables);
    victim.expect("held");
    peer.tell("tryLock our-last 30000 30000");
    // Longer than the lease, which is renewed.
    assert!(peer.answers_within(ms(roles::LEASE_MS + 200)).is_none());
    victim.freeze(); // lest it renew what has been read
    let (left, read) = left(&lock);
    victim.kill();
    let had = peer.hear();
    assert_eq!(had.text, "true");
    let took = since(read, had.ended);
    peer.ask("unlock our-last");
    let measured = judge(took, left);
    stage.note("has it at the end when we are killed (-9)", measured);
}
