//! What a network delivers late harms nobody: an undo, a release or a renewal that comes in, or is
//! said again, when its hold is over leaves alone whatever is held by then.

mod common;
mod ground;
#[path = "ambiguity/stage.rs"]
#[allow(dead_code, reason = "shared with the tests of lost answers")]
mod stage;

use std::thread;

use common::eventually;
use ground::{PATIENCE, ended, ms};
use leasehold::{
    Lease, Renewal,
    strategy::{Dialect, LockStrategy, Reentrant, Timestamp},
};
use stage::{Stage, each, rehearse};

/// Fails where somebody else can have the lock that this lease is said to hold.
#[track_caller]
fn excludes(lease: &Lease, stage: &Stage, strategy: impl LockStrategy + 'static) {
    let lock = stage.neighbour(strategy).lock("lock").unwrap();
    let theirs = lock.try_acquire().unwrap();
    lease.check().expect("it is held");
    assert!(theirs.is_none(), "two hold it");
}

/// How many questions came by source, as undos and what the keeper says again do.
fn by_source(stage: &Stage) -> usize {
    let seen = stage.proxy.seen();
    seen.iter().filter(|command| *command == "EVAL").count()
}

#[test]
fn an_undo_that_is_said_again_spares_the_next_hold_of_its_owner() {
    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default()).thread();
    stage.proxy.requests().of("EVALSHA").lost();
    assert!(lock.try_acquire().unwrap_err().is_unknown());
    let lease = lock.acquire().unwrap();
    let before = by_source(&stage);
    eventually(PATIENCE, "the keeper undoes it twice more", || {
        by_source(&stage) > before + 2
    });
    excludes(&lease, &stage, Reentrant::default());
}

#[test]
fn a_release_that_is_said_again_spares_the_next_hold_of_its_owner() {
    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default()).thread();
    let first = lock.acquire().unwrap();
    let again = stage.proxy.requests().of("EVAL").held();
    stage.proxy.replies().of("EVALSHA").lost();
    drop(first);
    let second = lock.acquire().unwrap();
    stage.runs_one_more(|| again.deliver());
    excludes(&second, &stage, Reentrant::default());
}

#[test]
fn the_release_of_a_hold_that_had_ended_spares_the_next_one_of_its_owner() {
    let stage = Stage::new();
    let client = stage.client(Reentrant::default());
    rehearse(&client);
    let lock = client.lock("lock").unwrap();
    let lock = lock.owned_by(&client.owner()).unwrap();
    let first = lock.clone().lease(ms(200)).unwrap().acquire().unwrap();
    ended(&first);
    let late = stage.proxy.requests().of("EVALSHA").held();
    let second = thread::scope(|scope| {
        let releasing = scope.spawn(|| first.release());
        late.caught();
        let second = lock.acquire().unwrap();
        stage.runs_one_more(|| late.deliver());
        assert!(releasing.join().unwrap().unwrap_err().is_lost());
        second
    });
    excludes(&second, &stage, Reentrant::default());
}

#[test]
fn a_count_that_is_mended_late_does_not_shorten_the_outer_hold() {
    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default());
    let thread = lock.thread();
    let outer = thread.acquire().unwrap();
    stage.proxy.requests().of("EVALSHA").lost(); // the inner acquire
    let mending = stage.proxy.requests().of("EVALSHA").held();
    assert!(thread.try_acquire().unwrap_err().is_unknown());
    outer.extend(ms(50_000)).unwrap();
    stage.runs_one_more(|| mending.deliver());
    let there = lock.holder().unwrap().unwrap().remaining().unwrap();
    let believed = outer.remaining();
    assert!(there >= believed, "{there:?} of {believed:?} are left");
}

#[test]
fn a_renewal_that_comes_in_late_does_not_shorten_what_was_extended_since() {
    each(|name, strategy| {
        let stage = Stage::new();
        let often = Renewal::Every(ms(100));
        let lock = stage.lock(strategy);
        let lock = lock.lease(ms(9_000)).unwrap().renewal(often).unwrap();
        let late = stage.proxy.requests().of("EVALSHA").nth(2).held();
        let lease = lock.acquire().unwrap();
        late.caught();
        lease.extend(ms(50_000)).unwrap();
        stage.runs_one_more(|| late.deliver());
        let there = lock.holder().unwrap().unwrap().remaining().unwrap();
        let believed = lease.remaining();
        assert!(
            there >= believed,
            "{name}: {there:?} of {believed:?} are left"
        );
    });
}

#[test]
fn a_classic_release_that_is_said_again_spares_the_next_holder() {
    let stage = Stage::new();
    let strategy = Timestamp::classic(Dialect::java_millis());
    let first = stage.lock(strategy.clone()).acquire().unwrap();
    let theirs = stage.neighbour(strategy.clone()).lock("lock").unwrap();
    let answer = stage.proxy.replies().of("DEL").held();
    let second = thread::scope(|scope| {
        let releasing = scope.spawn(|| first.release());
        answer.caught();
        let second = theirs.acquire().unwrap();
        let released = releasing.join().unwrap();
        assert!(released.is_ok(), "the first was free by then: {released:?}");
        second
    });
    excludes(&second, &stage, strategy);
}
