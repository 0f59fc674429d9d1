//! Whoever holds keeps the other out, and whoever waits has the lock once it is let go.

use std::thread;

use leasehold::Released;

use super::{client, start};
use crate::{
    common::eventually,
    ground::{PATIENCE, ms},
};

const NAME: &str = "excluded";

#[test]
fn what_they_hold_we_wait_for() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock(NAME).unwrap();
    assert_eq!(peer.ask(format!("tryLock {NAME} 0 30000")), "true");
    assert!(lock.is_locked().unwrap());
    assert!(lock.try_acquire().unwrap().is_none());
    let asked = stage.scripts_run();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| lock.acquire_within(PATIENCE).unwrap());
        eventually(PATIENCE, "we have asked twice", || {
            stage.scripts_run() >= asked + 2
        });
        assert!(!waiter.is_finished());
        peer.ask(format!("unlock {NAME}"));
        let lease = waiter.join().unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed);
    });
    stage.nothing_left(NAME);
    stage.note("holds, and we wait", "");
}

#[test]
fn what_we_hold_they_wait_for() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lease = client.lock(NAME).unwrap().acquire().unwrap();
    assert_eq!(peer.ask(format!("tryLock {NAME} 0 30000")), "false");
    peer.tell(format!("tryLock {NAME} 30000 30000"));
    assert!(peer.answers_within(ms(300)).is_none(), "it did not wait");
    assert_eq!(lease.release().unwrap(), Released::Freed);
    let had = peer.answers_within(PATIENCE);
    assert_eq!(had.expect("it does not wait for the end").text, "true");
    peer.ask(format!("unlock {NAME}"));
    stage.nothing_left(NAME);
    stage.note("waits, and we hold", "");
}
