//! A server that forgets its scripts between any two steps changes nothing.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread::{self, ScopedJoinHandle},
};

use leasehold::Released;

use crate::ground::{PATIENCE, ms, rounds};

#[test]
fn scripts_may_be_forgotten_between_any_two_steps() {
    let ground = super::start();
    let flush = || ground.everywhere(&["SCRIPT", "FLUSH"]);
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    flush();
    let lease = lock.acquire().unwrap();
    flush();
    assert!(lock.try_acquire().unwrap().is_none());
    flush();
    lease.extend(ms(40_000)).unwrap();
    flush();
    assert!(lock.is_held_by(lease.owner()).unwrap());
    flush();
    assert_eq!(lease.release().unwrap(), Released::Freed);
    flush();
    assert!(lock.holder().unwrap().is_none());
    flush();
    let lease = lock.acquire().unwrap();
    let seen = lock.holder().unwrap().unwrap();
    flush();
    assert!(lock.force_release(&seen).unwrap());
    flush();
    assert!(lease.release().unwrap_err().is_lost());
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn scripts_may_be_forgotten_all_the_time() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let (counter, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let rounds = rounds(15, 300);
    thread::scope(|scope| {
        let adders: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let lock = client.lock("counter").unwrap();
                        let lease = lock.acquire_within(PATIENCE).unwrap();
                        let read = counter.load(Ordering::Relaxed);
                        thread::yield_now();
                        counter.store(read + 1, Ordering::Relaxed);
                        lease.release().unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ground.everywhere(&["SCRIPT", "FLUSH"]);
            }
        });
        let ends: Vec<_> = adders.into_iter().map(ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ends.iter().all(Result::is_ok));
    });
    assert_eq!(counter.into_inner(), u64::from(3 * rounds));
    assert_eq!(ground.keys(), [""; 0]);
}
