//! A server that is full lets a holder go on and let go.

use leasehold::{ErrorKind, Released};

use crate::ground::{Ground, ms};

/// Fills every server: from here on a command that needs memory is refused.
fn fill(ground: &Ground) {
    ground.everywhere(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    ground.everywhere(&["CONFIG", "SET", "maxmemory", "1"]);
}

#[test]
fn a_release_works_on_a_full_server() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    let dropped = client.lock("dropped").unwrap().acquire().unwrap();
    fill(&ground);
    let error = client.lock("another").unwrap().try_acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "the server is full");
    assert_eq!(lease.release().unwrap(), Released::Freed);
    drop(dropped);
    assert!(!client.lock("lock").unwrap().is_locked().unwrap());
    assert!(!client.lock("dropped").unwrap().is_locked().unwrap());
}

#[test]
fn a_hold_can_be_forced_to_end_on_a_full_server() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let _lease = lock.acquire().unwrap();
    fill(&ground);
    let seen = lock.holder().unwrap().unwrap();
    assert!(lock.force_release(&seen).unwrap());
}

#[test]
fn an_acquire_waits_until_the_server_has_room() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    fill(&ground);
    let error = lock.acquire_within(ms(60)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(
        error.is_passing() && error.to_string().contains("OOM"),
        "{error}"
    );
    ground.everywhere(&["CONFIG", "SET", "maxmemory", "0"]);
    lock.acquire().unwrap().release().unwrap();
}
