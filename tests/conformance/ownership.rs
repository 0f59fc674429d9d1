//! Nobody lets go of what is somebody else's, whatever he believes to hold.

use leasehold::{ErrorKind, Loss};

use crate::ground::{PATIENCE, ended, ms};

#[test]
fn a_release_of_what_is_anothers_changes_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    ground.seize(super::WIRE, "lock", PATIENCE);
    let theirs = ground.server().command::<Vec<u8>>(&["DUMP", "lock"]);
    let error = lease.release().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lost);
    assert!(
        matches!(error.loss(), Some(Loss::Taken | Loss::Contested)),
        "{error}"
    );
    let now = ground.server().command::<Vec<u8>>(&["DUMP", "lock"]);
    assert_eq!(now, theirs);
}

#[test]
fn dropping_what_is_anothers_changes_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    ground.seize(super::WIRE, "lock", PATIENCE);
    let theirs = ground.server().command::<Vec<u8>>(&["DUMP", "lock"]);
    drop(lease);
    let now = ground.server().command::<Vec<u8>>(&["DUMP", "lock"]);
    assert_eq!(now, theirs);
}

#[test]
fn with_fails_when_somebody_has_taken_the_lock_meanwhile() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let seize = || ground.seize(super::WIRE, "lock", PATIENCE);
    let error = lock.with(|_| seize()).unwrap_err();
    assert!(error.is_lost(), "{error}");
    assert!(lock.is_locked().unwrap());
}

#[test]
fn a_release_after_the_end_does_not_harm_the_next_holder() {
    let ground = super::start();
    let late = ground.fleeting(super::strategy(), ms(100));
    let lease = late.lock("lock").unwrap().acquire().unwrap();
    ended(&lease);
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let next = lock.acquire_within(PATIENCE).unwrap();
    let picture = ground.picture();
    let error = lease.release().unwrap_err();
    assert!(
        matches!(error.loss(), Some(Loss::Expired { .. })),
        "{error}"
    );
    assert_eq!(ground.picture(), picture);
    assert!(late.lock("lock").unwrap().try_acquire().unwrap().is_none());
    next.release().unwrap();
}

#[test]
fn force_release_leaves_the_next_holder_alone() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let first = lock.acquire().unwrap();
    let seen = lock.holder().unwrap().unwrap();
    first.release().unwrap();
    let second = lock.acquire().unwrap();
    let picture = ground.picture();
    assert!(!lock.force_release(&seen).unwrap());
    assert_eq!(ground.picture(), picture);
    second.release().unwrap();
}
