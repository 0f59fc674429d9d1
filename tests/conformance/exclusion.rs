//! While somebody holds the lock, nobody else does.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use leasehold::Lock;

use crate::ground::{PATIENCE, ms, rounds};

/// Adds by reading and writing, as somebody does who is alone.
fn add_one(counter: &AtomicU64) {
    let read = counter.load(Ordering::Relaxed);
    thread::yield_now();
    counter.store(read + 1, Ordering::Relaxed);
}

fn count_under(locks: &[Lock], rounds: u32) -> u64 {
    let counter = AtomicU64::new(0);
    thread::scope(|scope| {
        for lock in locks {
            let counter = &counter;
            scope.spawn(move || {
                for _ in 0..rounds {
                    let lease = lock.acquire_within(PATIENCE).unwrap();
                    add_one(counter);
                    lease.release().unwrap();
                }
            });
        }
    });
    counter.into_inner()
}

#[test]
fn threads_of_one_client_lose_no_update() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("counter").unwrap();
    let rounds = rounds(12, 300);
    let counted = count_under(&[lock.clone(), lock.clone(), lock.clone(), lock], rounds);
    assert_eq!(counted, u64::from(4 * rounds));
}

#[test]
fn clients_of_their_own_lose_no_update() {
    let ground = super::start();
    let lock = || ground.client(super::strategy()).lock("counter").unwrap();
    let rounds = rounds(12, 300);
    let counted = count_under(&[lock(), lock(), lock()], rounds);
    assert_eq!(counted, u64::from(3 * rounds));
}

#[test]
fn trying_gives_nothing_while_the_lock_is_held() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    assert!(other.try_acquire().unwrap().is_none());
    lease.check().unwrap();
    lease.release().unwrap();
    assert!(other.try_acquire().unwrap().is_some());
}

#[test]
fn an_acquire_waits_until_the_holder_lets_go() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let inside = AtomicU64::new(0);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let lease = other.acquire_within(PATIENCE).unwrap();
            assert_eq!(inside.load(Ordering::SeqCst), 0, "two are inside");
            lease.release().unwrap();
        });
        inside.store(1, Ordering::SeqCst);
        assert!(lock.acquire_within(ms(50)).unwrap_err().is_timeout());
        assert!(!waiter.is_finished());
        inside.store(0, Ordering::SeqCst);
        lease.release().unwrap();
        waiter.join().unwrap();
    });
}

#[test]
fn locks_of_different_names_do_not_meet() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let names = ["a", "b", "{a}", "{a}:b", "{a}::b", "a:owner"];
    let leases: Vec<_> = names
        .iter()
        .map(|name| client.lock(name).unwrap().try_acquire().unwrap())
        .collect();
    for (name, lease) in names.iter().zip(leases) {
        let lease = lease.unwrap_or_else(|| panic!("{name} was free"));
        lease.release().unwrap();
    }
}
