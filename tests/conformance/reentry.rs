//! An owner may acquire again what it holds, and the lock is free when all of it is released.

use std::{sync::Barrier, thread};

use leasehold::{ErrorKind, Lease, Released};

use crate::ground::{PATIENCE, ended, ms};

#[test]
fn a_thread_nests_three_times_and_releases_three_times() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let mine = lock.thread();
    let first = mine.acquire().unwrap();
    let second = mine.try_acquire().unwrap().unwrap();
    let third = mine.acquire_within(ms(0)).unwrap();
    assert_eq!(first.owner(), third.owner());
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(third.release().unwrap(), Released::StillHeld);
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(first.release().unwrap(), Released::StillHeld); // in whatever order
    assert!(lock.try_acquire().unwrap().is_none());
    second.check().unwrap();
    assert!(mine.is_held().unwrap());
    assert_eq!(second.release().unwrap(), Released::Freed);
    assert!(!mine.is_held().unwrap());
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn dropping_an_inner_lease_keeps_the_outer_one() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let outer = lock.thread().acquire().unwrap();
    drop(lock.thread().acquire().unwrap());
    lock.thread().with(|inner| inner.check().unwrap()).unwrap();
    outer.check().unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(outer.release().unwrap(), Released::Freed);
}

#[test]
fn an_owner_holds_from_two_threads() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    let job = lock.owned_by(&client.owner()).unwrap();
    let both_hold = Barrier::new(2);
    let work = || {
        both_hold.wait();
        let lease = job.acquire();
        both_hold.wait();
        let outside = lock.try_acquire().map(|lease| lease.is_some());
        both_hold.wait();
        (lease.and_then(Lease::release), outside)
    };
    for _ in 0..20 {
        let ends = thread::scope(|scope| {
            let other = scope.spawn(work);
            [work(), other.join().unwrap()]
        });
        let mut released = ends.map(|(released, outside)| {
            assert!(!outside.unwrap(), "a third is inside");
            released.unwrap() == Released::Freed
        });
        released.sort_unstable();
        assert_eq!(released, [false, true], "the last to release frees");
        assert_eq!(ground.keys(), [""; 0]);
    }
}

#[test]
fn threads_of_one_owner_that_nest_at_random_leave_nothing() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    let lock = client.lock("lock").unwrap();
    let job = lock.owned_by(&client.owner()).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let outer = job.acquire().unwrap();
                    let inner = job.acquire().unwrap();
                    outer.release().unwrap();
                    inner.check().unwrap();
                    inner.release().unwrap();
                }
            });
        }
    });
    assert_eq!(ground.keys(), [""; 0]);
    assert!(lock.try_acquire().unwrap().is_some());
}

#[test]
fn a_plain_second_acquire_waits_and_says_who_holds() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let error = lock.acquire_within(ms(30)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(error.holder().unwrap().owner(), Some(lease.owner()));
    assert!(!error.to_string().contains("itself"), "{error}");
    let error = lock.thread().acquire_within(ms(0)).unwrap_err();
    assert!(error.is_timeout());
    lease.release().unwrap();
}

#[test]
fn another_thread_is_another_owner() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.thread().acquire().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert!(lock.thread().try_acquire().unwrap().is_none()));
    });
    lease.release().unwrap();
}

#[test]
fn an_owner_of_another_client_is_refused() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let stranger = ground.client(super::strategy()).owner();
    let error = lock.owned_by(&stranger).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
}

#[test]
fn an_inner_acquire_never_shortens_the_outer_lease() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let outer = lock.thread().acquire().unwrap();
    let brief = lock.clone().lease(ms(100)).unwrap();
    let inner = brief.thread().acquire().unwrap();
    assert!(outer.remaining() > ms(20_000));
    assert!(lock.holder().unwrap().unwrap().remaining().unwrap() > ms(20_000));
    inner.release().unwrap();
    assert!(lock.holder().unwrap().unwrap().remaining().unwrap() > ms(20_000));
    outer.release().unwrap();
}

#[test]
fn after_a_loss_an_inner_hold_is_a_fresh_one() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let mine = lock.thread();
    let lost = mine.acquire().unwrap();
    let lost_too = mine.acquire().unwrap();
    ground.everywhere(&["FLUSHALL"]);
    let fresh = mine.acquire().unwrap();
    assert!(!lost.is_held() && !lost_too.is_held());
    let picture = ground.picture();
    assert!(lost.release().unwrap_err().is_lost());
    drop(lost_too);
    assert_eq!(ground.picture(), picture);
    fresh.check().unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(fresh.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn after_the_end_of_a_lease_an_inner_hold_is_a_fresh_one() {
    let ground = super::start();
    let mine = ground
        .fleeting(super::strategy(), ms(100))
        .lock("lock")
        .unwrap()
        .thread();
    let lost = mine.acquire().unwrap();
    ended(&lost);
    let fresh = mine.acquire_within(PATIENCE).unwrap();
    fresh.extend(ms(30_000)).unwrap();
    assert!(lost.release().unwrap_err().is_lost());
    fresh.check().unwrap();
    assert!(mine.is_held().unwrap());
    assert_eq!(fresh.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_hold_that_was_taken_over_is_not_re_entered() {
    let ground = super::start();
    let mine = ground
        .client(super::strategy())
        .lock("lock")
        .unwrap()
        .thread();
    let outer = mine.acquire().unwrap();
    ground.seize(super::WIRE, "lock", PATIENCE);
    assert!(mine.try_acquire().unwrap().is_none());
    let error = outer.check().unwrap_err();
    assert!(
        error.is_lost(),
        "an inner acquire has seen the loss: {error}"
    );
}
