//! An acquire without an answer: tried again with the same ticket, or undone.

use leasehold::{ErrorKind, Released};

use crate::common::eventually;
use crate::ground::{PATIENCE, Recorder, ms};
use crate::stage::{Stage, TIMEOUT, each};

#[test]
fn the_try_after_a_lost_reply_is_granted_as_its_own() {
    each(|name, strategy| {
        let stage = Stage::new();
        let strategy = Recorder::of(strategy);
        let lock = stage.lock(strategy.clone());
        let before = strategy.tries();
        stage.proxy.replies().of("EVALSHA").lost();
        let lease = lock.acquire().unwrap();
        assert_eq!(strategy.tries() - before, 2, "{name}");
        assert!(lease.is_held(), "{name}");
        let contended = stage.told.of("Contended");
        assert_eq!(
            contended, [""; 0],
            "{name}: it was reported as somebody else's"
        );
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
    });
}

#[test]
fn a_reply_that_comes_too_late_is_not_waited_for_and_harms_nobody() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        stage.proxy.replies().of("EVALSHA").late(TIMEOUT * 3);
        let lease = lock.acquire().unwrap();
        lease.extend(ms(30_000)).unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
    });
}

#[test]
fn a_try_that_comes_in_after_the_release_is_refused() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let first = stage.proxy.requests().of("EVALSHA").held();
        let lease = lock.acquire().unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        stage.runs_one_more(|| first.deliver());
        assert_eq!(stage.locks(), [""; 0], "{name}: it made a ghost");
        for (key, ttl) in stage.tombstones() {
            assert!(
                (1..=20_000).contains(&ttl),
                "{name}: {key} stands for {ttl} ms"
            );
        }
    });
}

#[test]
fn a_try_that_comes_in_while_the_lock_is_held_changes_nothing() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy.clone());
        let first = stage.proxy.requests().of("EVALSHA").held();
        let lease = lock.acquire().unwrap();
        stage.runs_one_more(|| first.deliver());
        lease.check().unwrap();
        lease.extend(ms(20_000)).unwrap();
        let other = stage.neighbour(strategy).lock("lock").unwrap();
        assert!(other.try_acquire().unwrap().is_none(), "{name}");
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
    });
}

#[test]
fn who_gives_up_after_a_lost_reply_has_undone_it_before_the_caller_hears() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        stage.proxy.replies().of("EVALSHA").late(TIMEOUT * 3 / 2);
        let error = lock.try_acquire().unwrap_err();
        assert_eq!(stage.locks(), [""; 0], "{name}: it was not undone");
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        assert!(error.is_unknown() && error.is_passing(), "{name}");
        let undone = stage.told.of("Undone");
        assert_eq!(undone.len(), 1, "{name}");
        assert!(undone[0].contains("confirmed: true"), "{name}: {undone:?}");
    });
}

#[test]
fn who_gives_up_undoes_it_also_where_the_connection_is_gone() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        stage.proxy.requests().of("EVALSHA").cut_after(); // carried out, and never heard of
        let error = lock.try_acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        eventually(PATIENCE, "it is undone", || stage.locks().is_empty());
    });
}

#[test]
fn who_gives_up_undoes_it_also_where_a_later_try_said_that_somebody_else_has_it() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy.clone());
        let neighbour = stage.neighbour(strategy).lock("lock").unwrap();
        let first = stage.proxy.requests().of("EVALSHA").held();
        stage.proxy.requests().of("EVAL").lost(); // the undo that would come behind it
        let error = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lock.acquire_within(TIMEOUT * 3));
            first.caught();
            let theirs = neighbour.acquire().unwrap();
            let error = waiting.join().unwrap().unwrap_err();
            theirs.release().unwrap();
            error
        });
        assert!(error.is_timeout(), "{name}: {error}");
        eventually(PATIENCE, "the undo has left its tombstone", || {
            stage.tombstones().iter().any(|(_, ttl)| *ttl > 0)
        });
        stage.runs_one_more(|| first.deliver());
        assert_eq!(stage.locks(), [""; 0], "{name}: it made a ghost");
    });
}

#[test]
fn a_question_that_comes_in_after_its_undo_is_refused() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let first = stage.proxy.requests().of("EVALSHA").held();
        stage.proxy.requests().of("EVAL").lost(); // the undo that would come behind it
        assert!(lock.try_acquire().unwrap_err().is_unknown(), "{name}");
        eventually(PATIENCE, "the undo has left its tombstone", || {
            !stage.tombstones().is_empty()
        });
        stage.runs_one_more(|| first.deliver());
        assert_eq!(stage.locks(), [""; 0], "{name}: it made a ghost");
    });
}

#[test]
fn an_undo_that_found_nothing_goes_on_until_it_has_freed_something() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let first = stage.proxy.requests().of("EVALSHA").held();
        stage.proxy.requests().of("EVAL").lost();
        assert!(lock.try_acquire().unwrap_err().is_unknown(), "{name}");
        eventually(PATIENCE, "the undo has left its tombstone", || {
            !stage.tombstones().is_empty()
        });
        for (key, _) in stage.tombstones() {
            let _: u32 = stage.server.command(&["DEL", &key]); // as eviction would
        }
        stage.runs_one_more(|| first.deliver());
        eventually(PATIENCE, "the next undo frees it", || {
            stage.locks().is_empty()
        });
    });
}

#[test]
fn a_grant_that_comes_after_its_own_end_is_refused_and_undone() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).lease(ms(60)).unwrap();
        stage.proxy.replies().of("EVALSHA").late(ms(100));
        let error = lock.acquire_within(ms(0)).unwrap_err();
        assert!(
            error.to_string().contains("after the end of its own lease"),
            "{name}: {error}"
        );
        assert_eq!(stage.told.of("Undone").len(), 1, "{name}");
        eventually(PATIENCE, "it is undone", || stage.locks().is_empty());
        assert!(lock.acquire().is_ok(), "{name}");
    });
}

#[test]
fn a_grant_that_came_too_late_is_not_reported_as_somebody_elses_lock() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).lease(ms(60)).unwrap();
        stage.proxy.replies().of("EVALSHA").late(ms(100));
        let result = lock.try_acquire();
        assert!(
            result.is_err(),
            "{name}: {result:?}, but nobody else held it"
        );
    });
}

#[test]
fn an_inner_hold_that_was_given_up_leaves_the_outer_one() {
    use leasehold::strategy::Reentrant;

    let stage = Stage::new();
    let lock = stage.lock(Reentrant::default()).thread();
    let outer = lock.acquire().unwrap();
    stage.proxy.replies().of("EVALSHA").lost();
    let error = lock.try_acquire().unwrap_err();
    assert!(error.is_unknown(), "{error}");
    outer.check().unwrap();
    assert!(lock.is_held().unwrap());
    let count: Vec<String> = stage.server.command(&["HVALS", "lock"]);
    assert_eq!(count, ["1"]);
    let inner = lock.acquire().unwrap();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    assert_eq!(outer.release().unwrap(), Released::Freed);
    assert_eq!(stage.locks(), [""; 0]);
}
