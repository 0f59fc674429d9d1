//! A release without an answer: asked again, and never called a success.

use std::thread;

use leasehold::{ErrorKind, Released, strategy::Reentrant};

use crate::common::eventually;
use crate::ground::{PATIENCE, ended, ms, timed};
use crate::stage::{Stage, TIMEOUT, each, rehearse};

#[test]
fn a_release_whose_reply_was_lost_is_asked_again_and_answers_freed() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let lease = lock.acquire().unwrap();
        stage.proxy.replies().of("EVALSHA").lost();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
        assert_eq!(stage.told.of("Lost"), [""; 0], "{name}");
    });
}

#[test]
fn a_release_that_was_lost_on_its_way_is_asked_again_and_answers_freed() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let lease = lock.acquire().unwrap();
        stage.proxy.requests().of("EVALSHA").lost();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
    });
}

#[test]
fn a_release_whose_reply_was_lost_is_freed_also_where_somebody_else_has_the_lock_by_now() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy.clone());
        let lease = lock.acquire().unwrap();
        let reply = stage.proxy.replies().of("EVALSHA").held();
        let theirs = thread::scope(|scope| {
            let releasing = scope.spawn(|| lease.release());
            reply.caught();
            let neighbour = stage.neighbour(strategy.clone()).lock("lock").unwrap();
            let theirs = neighbour.acquire().unwrap();
            assert_eq!(
                releasing.join().unwrap().unwrap(),
                Released::Freed,
                "{name}"
            );
            theirs
        });
        theirs.extend(ms(20_000)).unwrap();
        assert_eq!(
            theirs.release().unwrap(),
            Released::Freed,
            "{name}: it was touched"
        );
    });
}

#[test]
fn an_inner_release_whose_reply_was_lost_answers_still_held() {
    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default()).thread();
    let outer = lock.acquire().unwrap();
    let inner = lock.acquire().unwrap();
    stage.proxy.replies().of("EVALSHA").lost();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    let count: Vec<String> = stage.server.command(&["HVALS", "lock"]);
    assert_eq!(count, ["1"], "it counted twice");
    assert_eq!(outer.release().unwrap(), Released::Freed);
}

#[test]
fn a_release_without_any_answer_is_unknown() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).lease(ms(900)).unwrap();
        let lease = lock.acquire().unwrap();
        stage.proxy.blackhole();
        let (result, took) = timed(|| lease.release());
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        assert!(took < PATIENCE, "{name}: {took:?}");
    });
}

#[test]
fn a_release_without_any_answer_is_said_as_soon_as_the_server_can_be_reached() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).wait(TIMEOUT).unwrap();
        let lease = lock.acquire().unwrap();
        stage.proxy.blackhole();
        assert!(lease.release().unwrap_err().is_unknown(), "{name}");
        assert!(!stage.locks().is_empty(), "{name}");
        stage.proxy.heal();
        eventually(PATIENCE, "the keeper has released it", || {
            stage.locks().is_empty()
        });
    });
}

#[test]
fn a_release_whose_reply_was_lost_before_the_server_was_is_unknown() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).wait(TIMEOUT * 3).unwrap();
        let lease = lock.acquire().unwrap();
        let reply = stage.proxy.replies().of("EVALSHA").held();
        let error = thread::scope(|scope| {
            let releasing = scope.spawn(|| lease.release());
            reply.caught();
            stage.proxy.refuse();
            stage.proxy.cut();
            releasing.join().unwrap().unwrap_err()
        });
        assert_eq!(stage.locks(), [""; 0], "{name}: it was released");
        assert_eq!(
            error.kind(),
            ErrorKind::Unknown,
            "{name}: nobody knows that nothing was done: {error}"
        );
    });
}

#[test]
fn a_release_that_is_answered_after_the_end_by_somebody_elses_lock_is_unknown() {
    each(|name, strategy| {
        let stage = Stage::new();
        let client = stage.builder().strategy(strategy.clone()).lease(ms(300));
        let client = client.io_timeout(ms(5_000)).build().unwrap();
        rehearse(&client);
        let lock = client.lock("lock").unwrap();
        let lease = lock.acquire().unwrap();
        stage.proxy.requests().of("EVALSHA").cut_after(); // carried out, and never heard of
        let again = stage.proxy.requests().of("EVALSHA").held();
        let neighbour = stage.neighbour(strategy).lock("lock").unwrap();
        let result = thread::scope(|scope| {
            let releasing = scope.spawn(|| lease.release());
            again.caught();
            let theirs = neighbour.acquire().unwrap(); // after ours was granted
            eventually(PATIENCE, "ours has ended", || {
                theirs.remaining() < ms(29_300)
            });
            again.deliver();
            let result = releasing.join().unwrap();
            assert_eq!(theirs.release().unwrap(), Released::Freed, "{name}");
            result
        });
        let error = result.unwrap_err();
        assert!(
            !error.is_lost(),
            "{name}: it was released within its lease: {error}"
        );
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
    });
}

#[test]
fn a_lease_that_had_ended_is_lost_however_its_release_is_answered() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).lease(ms(100)).unwrap();
        let lease = lock.acquire().unwrap();
        ended(&lease);
        stage.proxy.replies().of("EVALSHA").lost();
        let error = lease.release().unwrap_err();
        assert!(error.is_lost(), "{name}: {error}");
    });
}
