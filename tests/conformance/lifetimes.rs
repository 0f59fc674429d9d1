//! Every key has an end: whoever dies leaves a lock that frees itself.

use crate::{
    common::eventually,
    ground::{Ground, PATIENCE, ms},
};

/// Every key ends, and not much later than a lease of 30 s does.
#[track_caller]
fn assert_all_end(ground: &Ground) {
    let ttls = ground.ttls();
    assert!(!ttls.is_empty());
    for (key, ttl) in ttls {
        assert!((1..200_000).contains(&ttl), "{key} lives for {ttl} ms");
    }
}

#[test]
fn every_key_has_an_end_at_every_step() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    assert_all_end(&ground);
    assert!(other.acquire_within(ms(20)).unwrap_err().is_timeout());
    assert_all_end(&ground);
    lease.extend(ms(40_000)).unwrap();
    assert_all_end(&ground);
    let _ = lock.holder().unwrap();
    assert_all_end(&ground);
    lease.release().unwrap();
}

#[test]
fn an_extension_gives_every_key_a_new_end() {
    let ground = super::start();
    let lock = ground
        .fleeting(super::strategy(), ms(5_000))
        .lock("lock")
        .unwrap();
    let lease = lock.acquire().unwrap();
    lease.extend(ms(60_000)).unwrap();
    for (key, ttl) in ground.ttls() {
        assert!(ttl > 50_000, "{key} lives for {ttl} ms");
    }
    lease.release().unwrap();
}

/// The server's own clean-up, and nobody's release.
#[test]
fn a_lock_whose_holder_is_gone_frees_itself() {
    let ground = super::start();
    let client = ground.fleeting(super::strategy(), ms(100));
    let lock = client.lock("lock").unwrap();
    std::mem::forget(lock.acquire().unwrap());
    eventually(PATIENCE, "the lock frees itself", || {
        matches!(lock.is_locked(), Ok(false)) // of several servers, each has an end of its own
    });
    assert!(lock.try_acquire().unwrap().is_some());
}
