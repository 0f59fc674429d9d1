//! Anybody can ask who holds a lock, and an operator can end it.

use leasehold::Loss;

use crate::ground::ms;

#[test]
fn nobody_holds_a_free_lock() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    assert!(lock.holder().unwrap().is_none());
    assert!(!lock.is_locked().unwrap());
    assert!(!lock.is_held_by(&client.owner()).unwrap());
    let lease = lock.acquire().unwrap();
    let owner = *lease.owner();
    lease.release().unwrap();
    assert!(lock.holder().unwrap().is_none());
    assert!(!lock.is_held_by(&owner).unwrap());
}

#[test]
fn a_held_lock_has_its_holder_for_what_is_left_of_the_lease() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    for lock in [&lock, &other] {
        let holder = lock.holder().unwrap().unwrap();
        let left = holder.remaining().unwrap();
        assert!(left > ms(20_000) && left < ms(36_000), "{left:?}");
        assert!(lock.is_locked().unwrap());
    }
    assert!(lock.is_held_by(lease.owner()).unwrap());
    assert!(!lock.is_held_by(&client.owner()).unwrap());
    assert!(!lock.thread().is_held().unwrap());
}

#[test]
fn a_foreign_holder_is_a_holder() {
    let ground = super::start();
    ground.seize(super::WIRE, "lock", ms(60_000));
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    let left = lock.holder().unwrap().unwrap().remaining().unwrap();
    assert!(left > ms(50_000) && left < ms(70_000), "{left:?}");
    assert!(lock.is_locked().unwrap());
    assert!(!lock.is_held_by(&client.owner()).unwrap());
}

#[test]
fn a_holder_is_shown_without_what_proves_its_hold() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let _lease = lock.acquire().unwrap();
    let holder = lock.holder().unwrap().unwrap();
    let mark = String::from_utf8_lossy(holder.mark()).into_owned();
    let error = lock.acquire_within(ms(0)).unwrap_err();
    for shown in [format!("{holder} {holder:?}"), format!("{error} {error:?}")] {
        assert!(!shown.contains(&mark), "{shown}");
    }
}

#[test]
fn force_release_ends_the_very_hold_that_was_seen() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let operator = ground.client(super::strategy()).lock("lock").unwrap();
    let seen = operator.holder().unwrap().unwrap();
    assert!(operator.force_release(&seen).unwrap());
    assert!(!operator.is_locked().unwrap());
    assert_eq!(ground.keys(), [""; 0]);
    assert!(!operator.force_release(&seen).unwrap());
    let error = lease.release().unwrap_err();
    assert_eq!(error.loss(), Some(Loss::Deleted));
}

#[test]
fn force_release_ends_a_foreign_hold_too() {
    let ground = super::start();
    ground.seize(super::WIRE, "lock", ms(60_000));
    let operator = ground.client(super::strategy()).lock("lock").unwrap();
    let seen = operator.holder().unwrap().unwrap();
    assert!(operator.force_release(&seen).unwrap());
    assert_eq!(ground.keys(), [""; 0]);
}
