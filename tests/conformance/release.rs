//! A release frees the lock and says so; so does every other way of letting go.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use leasehold::{ErrorKind, Loss, Released};

#[test]
fn a_release_frees_the_lock() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    assert!(lock.is_locked().unwrap());
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert!(!lock.is_locked().unwrap());
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    assert!(other.try_acquire().unwrap().is_some());
}

#[test]
fn dropping_a_lease_frees_the_lock() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    assert!(!lock.is_locked().unwrap());
}

#[test]
fn a_lease_may_be_released_by_another_thread() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let released = thread::scope(|scope| scope.spawn(|| lease.release()).join().unwrap());
    assert_eq!(released.unwrap(), Released::Freed);
    assert!(!lock.is_locked().unwrap());
}

#[test]
fn with_gives_what_the_work_gave() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let gave = lock.with(|lease| {
        lease.check().unwrap();
        assert!(lock.try_acquire().unwrap().is_none());
        42
    });
    assert_eq!(gave.unwrap(), 42);
    assert!(!lock.is_locked().unwrap());
}

#[test]
fn a_panic_inside_with_frees_the_lock() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let work = || lock.with(|_| panic!("the work fails"));
    let panic = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"the work fails"));
    assert!(!lock.is_locked().unwrap());
    assert!(lock.try_acquire().unwrap().is_some());
}

#[test]
fn a_lease_that_was_deleted_at_the_server_is_lost() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    ground.everywhere(&["FLUSHALL"]);
    let error = lease.release().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lost);
    assert_eq!(error.loss(), Some(Loss::Deleted));
    assert!(!error.is_passing());
    let error = lock.with(|_| ground.everywhere(&["FLUSHALL"])).unwrap_err();
    assert_eq!(error.loss(), Some(Loss::Deleted));
}
