//! A hold is ended by who does not have it: its holder learns of it, and a waiter has the lock.

use std::thread;

use leasehold::Released;

use super::{client, start};
use crate::{
    common::eventually,
    ground::{PATIENCE, ms},
};

const NAME: &str = "forced";

#[test]
fn we_end_their_hold() {
    let stage = start();
    let client = client(&stage);
    let lock = client.lock(NAME).unwrap();
    let (holder, waiter) = (stage.peer(), stage.peer());
    assert_eq!(holder.ask(format!("tryLock {NAME} 0 30000")), "true");
    waiter.tell(format!("tryLock {NAME} 30000 30000"));
    assert!(waiter.answers_within(ms(300)).is_none());
    let seen = lock.holder().unwrap().unwrap();
    assert!(lock.force_release(&seen).unwrap());
    let had = waiter.answers_within(PATIENCE);
    assert_eq!(had.expect("it is told").text, "true");
    assert!(!lock.force_release(&seen).unwrap(), "it has another holder");
    holder.refused(format!("unlock {NAME}"));
    assert_eq!(waiter.ask(format!("isMine {NAME}")), "true");
    waiter.ask(format!("unlock {NAME}"));
    stage.nothing_left(NAME);
    stage.note("is forced out by us, and its waiter has it", "");
}

#[test]
fn they_end_our_hold() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock(NAME).unwrap();
    let lease = lock.acquire().unwrap();
    let asked = stage.scripts_run();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| lock.acquire_within(PATIENCE).unwrap());
        eventually(PATIENCE, "we have asked", || stage.scripts_run() > asked);
        assert_eq!(peer.ask(format!("forceUnlock {NAME}")), "true");
        let next = waiter.join().unwrap();
        assert!(lease.commit(|| ()).unwrap_err().is_lost());
        assert!(lease.release().unwrap_err().is_lost());
        next.commit(|| ()).expect("it is the next one's");
        assert_eq!(next.release().unwrap(), Released::Freed);
    });
    assert_eq!(peer.ask(format!("forceUnlock {NAME}")), "false");
    stage.nothing_left(NAME);
    stage.note("forces us out, and our waiter has it", "");
}
