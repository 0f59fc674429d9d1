//! Questions that come in when nobody waits for their answers any more.

use leasehold::{Lease, Lock, Released, strategy::Reentrant};

use crate::ground::ms;
use crate::stage::{Stage, each};

/// Fails where the server would let the lock go before its holder does.
#[track_caller]
fn lasts_at_the_server(name: &str, lock: &Lock, lease: &Lease) {
    let holder = lock.holder().unwrap();
    let there = holder
        .and_then(|holder| holder.remaining())
        .unwrap_or_default();
    let believed = lease.remaining();
    assert!(
        there >= believed,
        "{name}: the server lets go in {there:?}, the holder believes in {believed:?}"
    );
}

#[test]
fn an_acquire_that_comes_in_late_does_not_shorten_what_was_extended_since() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let late = stage.proxy.requests().of("EVALSHA").held();
        let lease = lock.acquire().unwrap();
        lease.extend(ms(50_000)).unwrap();
        stage.runs_one_more(|| late.deliver());
        lasts_at_the_server(name, &lock, &lease);
    });
}

#[test]
fn an_extension_that_comes_in_late_does_not_shorten_a_later_one() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let lease = lock.acquire().unwrap();
        let late = stage.proxy.requests().of("EVALSHA").held();
        lease.extend(ms(25_000)).unwrap();
        lease.extend(ms(50_000)).unwrap();
        stage.runs_one_more(|| late.deliver());
        lasts_at_the_server(name, &lock, &lease);
    });
}

#[test]
fn an_inner_acquire_that_comes_in_after_everything_was_released_is_refused() {
    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default()).thread();
    let outer = lock.acquire().unwrap();
    let late = stage.proxy.requests().of("EVALSHA").held();
    let inner = lock.acquire().unwrap();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    assert_eq!(outer.release().unwrap(), Released::Freed);
    stage.runs_one_more(|| late.deliver());
    assert_eq!(stage.locks(), [""; 0], "it made a ghost");
}

#[test]
fn an_inner_release_that_comes_in_late_does_not_shorten_the_outer_hold() {
    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default());
    let thread = lock.thread();
    let outer = thread.acquire().unwrap();
    let inner = thread.acquire().unwrap();
    let late = stage.proxy.requests().of("EVALSHA").held();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    outer.extend(ms(50_000)).unwrap();
    stage.runs_one_more(|| late.deliver());
    lasts_at_the_server("reentrant", &lock, &outer);
}

#[test]
fn a_release_that_comes_in_late_leaves_the_owners_next_hold_alone() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy.clone());
        let thread = lock.thread();
        let first = thread.acquire().unwrap();
        let late = stage.proxy.requests().of("EVALSHA").held();
        assert_eq!(first.release().unwrap(), Released::Freed, "{name}");
        let second = thread.acquire().unwrap();
        stage.runs_one_more(|| late.deliver());
        let neighbour = stage.neighbour(strategy).lock("lock").unwrap();
        let theirs = neighbour.try_acquire().unwrap();
        assert!(
            theirs.is_none() || !second.is_held(),
            "{name}: two hold it, since the late release ended a hold that came after it"
        );
    });
}

#[test]
fn an_extension_that_comes_in_late_does_not_shorten_the_owners_next_hold() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let first = lock.thread().acquire().unwrap();
        let late = stage.proxy.requests().of("EVALSHA").held();
        first.extend(ms(21_000)).unwrap();
        first.release().unwrap();
        let longer = lock.clone().lease(ms(50_000)).unwrap();
        let second = longer.thread().acquire().unwrap();
        stage.runs_one_more(|| late.deliver());
        lasts_at_the_server(name, &lock, &second);
    });
}
