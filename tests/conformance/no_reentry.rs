//! An owner that holds the lock waits for it like anyone, and is told that it waits for itself.

use std::thread;

use crate::ground::ms;

#[test]
fn an_owners_second_acquire_waits_and_names_the_owner_itself() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let owner = client.owner();
    let lock = client.lock("lock").unwrap().owned_by(&owner).unwrap();
    let lease = lock.acquire().unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    let error = lock.acquire_within(ms(30)).unwrap_err();
    assert!(error.is_timeout());
    assert!(error.to_string().contains("the caller itself"), "{error}");
    lease.check().unwrap();
    assert!(lock.is_held_by(&owner).unwrap());
    lease.release().unwrap();
    assert!(lock.try_acquire().unwrap().is_some());
}

#[test]
fn a_threads_second_acquire_waits_and_names_the_thread_itself() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.thread().acquire().unwrap();
    assert!(lock.thread().try_acquire().unwrap().is_none());
    assert!(lock.thread().is_held().unwrap());
    let error = lock.thread().acquire_within(ms(30)).unwrap_err();
    assert!(error.to_string().contains("the caller itself"), "{error}");
    lease.release().unwrap();
    assert!(!lock.thread().is_held().unwrap());
}

#[test]
fn another_owner_is_not_told_that_it_waits_for_itself() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    let _lease = lock.thread().acquire().unwrap();
    let other = lock.owned_by(&client.owner()).unwrap();
    for error in [
        lock.acquire_within(ms(0)).unwrap_err(),
        other.acquire_within(ms(0)).unwrap_err(),
        thread::scope(|scope| {
            let elsewhere = scope.spawn(|| lock.thread().acquire_within(ms(0)).unwrap_err());
            elsewhere.join().unwrap()
        }),
    ] {
        assert!(error.is_timeout());
        assert!(!error.to_string().contains("itself"), "{error}");
    }
}
