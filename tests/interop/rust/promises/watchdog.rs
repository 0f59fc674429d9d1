//! A hold that is renewed lasts, also after an inner one was released.

use leasehold::Released;

use super::{MORTAL_LEASE_MS, client, mortal, start};
use crate::ground::ms;

const NAME: &str = "renewed";
const LEASE_MS: u64 = 1_500;

#[test]
fn their_watchdog_keeps_us_out_through_three_leases() {
    let stage = mortal(LEASE_MS);
    let (client, peer) = (client(&stage), stage.peer());
    for _ in 0..2 {
        assert_eq!(
            peer.ask(format!("tryLock {NAME} 0 {MORTAL_LEASE_MS}")),
            "true"
        );
    }
    peer.ask(format!("unlock {NAME}"));
    let lock = client.lock(NAME).unwrap();
    let error = lock.acquire_within(ms(3 * LEASE_MS)).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(peer.ask(format!("isMine {NAME}")), "true");
    peer.ask(format!("unlock {NAME}"));
    stage.nothing_left(NAME);
    stage.note("is renewed by its watchdog", "through 3 leases of 1.5 s");
}

#[test]
fn our_renewal_keeps_them_out_through_three_leases() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock(NAME).unwrap().lease(ms(LEASE_MS)).unwrap();
    let lock = lock.thread();
    let outer = lock.acquire().unwrap();
    let inner = lock.acquire().unwrap();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    let wait = 3 * LEASE_MS;
    assert_eq!(peer.ask(format!("tryLock {NAME} {wait} 30000")), "false");
    outer.check().expect("it is still ours");
    assert_eq!(outer.release().unwrap(), Released::Freed);
    stage.nothing_left(NAME);
    stage.note("waits while ours is renewed", "through 3 leases of 1.5 s");
}
