//! Two locks at once: neighbours exclude each other, a phase that would be skipped is refused, and
//! a failure between the two leaves neither behind.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use common::{Make, Proxy, eventually};
use ground::{Ground, PATIENCE, Recorder, Wire, builder, ms};
use leasehold::{
    ErrorKind, Lock, Loss, Name,
    migrate::Marker,
    strategy::{Bridge, Dialect, LockStrategy, Phase, Reentrant, Timestamp, Token},
};

fn old() -> Timestamp {
    Timestamp::guarded(Dialect::java_millis(), ms(60_000))
}

fn bridge(phase: Phase) -> Bridge {
    Bridge::new(old(), Token::default()).phase(phase)
}

fn lock(ground: &Ground, strategy: impl LockStrategy + 'static) -> Lock {
    ground.client(strategy).lock("lock").unwrap()
}

fn marker(ground: &Ground) -> Marker {
    Marker::of(&ground.client(Token::default()))
}

#[test]
fn it_holds_both_locks_and_frees_both() {
    let ground = Ground::one(Make::Found);
    let lease = lock(&ground, bridge(Phase::Both)).acquire().unwrap();
    assert_eq!(ground.keys(), ["lock", "{lock}:next", "{lock}:owner"]);
    lease.release().unwrap();
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn names_may_be_mapped_otherwise_but_not_to_the_old_one() {
    let ground = Ground::one(Make::Found);
    let mapped =
        bridge(Phase::Both).names(|name| Name::new([b"v2:", name.as_bytes()].concat()).unwrap());
    let lease = lock(&ground, mapped).acquire().unwrap();
    assert!(ground.keys().contains(&"v2:lock".to_owned()));
    lease.release().unwrap();
    let same = bridge(Phase::Both).names(Name::clone);
    let error = lock(&ground, same).acquire().unwrap_err();
    assert!(error.to_string().contains("the old name"), "{error}");
    assert_eq!(ground.keys(), [""; 0]);
}

/// Whoever of `one` and `other` comes first keeps the second out.
fn assert_exclude(ground: &Ground, one: &Lock, other: &Lock) {
    for (first, second) in [(one, other), (other, one)] {
        let lease = first.acquire().unwrap();
        assert!(second.try_acquire().unwrap().is_none());
        assert!(second.is_locked().unwrap());
        lease.release().unwrap();
        second.acquire_within(PATIENCE).unwrap().release().unwrap();
    }
    assert!(ground.keys().iter().all(|key| key == "leasehold:phase"));
}

#[test]
fn neighbouring_phases_exclude_each_other() {
    let ground = Ground::one(Make::Found);
    let both = lock(&ground, bridge(Phase::Both));
    assert_exclude(&ground, &both, &lock(&ground, bridge(Phase::Old)));
    assert_exclude(&ground, &both, &lock(&ground, old()));
    marker(&ground).raise(Phase::Both).unwrap();
    assert_exclude(&ground, &both, &lock(&ground, bridge(Phase::New)));
    let pure = ground.client(Token::default()).lock("{lock}:next").unwrap();
    assert_exclude(&ground, &both, &pure);
}

#[test]
fn every_pair_of_strategies_makes_a_bridge() {
    let ground = Ground::one(Make::Found);
    for (one, _, old) in ground::all() {
        for (other, _, new) in ground::all() {
            let names = |name: &Name| Name::new([name.as_bytes(), b"2"].concat()).unwrap();
            let bridge = Bridge::new(old.clone(), new).names(names);
            let (first, second) = (lock(&ground, bridge.clone()), lock(&ground, bridge));
            let lease = first.acquire().unwrap();
            assert!(second.try_acquire().unwrap().is_none(), "{one} {other}");
            lease.extend(ms(40_000)).unwrap();
            lease.check().unwrap();
            assert!(first.is_locked().unwrap(), "{one} {other}");
            lease.release().unwrap();
            assert_eq!(ground.keys(), [""; 0], "{one} {other}");
        }
    }
}

#[test]
fn an_owner_that_comes_again_does_not_lose_what_it_holds() {
    let ground = Ground::one(Make::Found);
    let strategy = Bridge::new(Reentrant::default(), Token::default());
    let client = ground.client(strategy);
    let lock = client.lock("lock").unwrap();
    let owner = client.owner();
    let again = lock.owned_by(&owner).unwrap();
    let lease = again.acquire().unwrap();
    assert!(
        again.try_acquire().unwrap().is_none(),
        "a token does not re-enter"
    );
    lease.extend(ms(40_000)).unwrap();
    lease.release().unwrap();
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_phase_that_would_be_skipped_is_refused_and_told_what_to_do() {
    let ground = Ground::one(Make::Found);
    let error = lock(&ground, bridge(Phase::New)).acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let text = error.to_string();
    for part in [
        "new (2)",
        "\"leasehold:phase\" stands at old (0)",
        "run every client in phase both",
        "raise the marker",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(ground.keys(), [""; 0]);
    marker(&ground).raise(Phase::Both).unwrap();
    let error = lock(&ground, bridge(Phase::Old)).acquire().unwrap_err();
    assert!(
        error.to_string().contains("start it in phase both"),
        "{error}"
    );
    lock(&ground, bridge(Phase::New))
        .acquire()
        .unwrap()
        .release()
        .unwrap();
    marker(&ground).raise(Phase::New).unwrap();
    assert!(lock(&ground, bridge(Phase::Both)).acquire().is_err());
    assert_eq!(ground.keys(), ["leasehold:phase"]);
}

#[test]
fn a_client_that_was_admitted_is_refused_once_its_phase_is_over() {
    let ground = Ground::one(Make::Found);
    let lock = lock(&ground, bridge(Phase::Old));
    lock.acquire().unwrap().release().unwrap();
    marker(&ground).raise(Phase::Both).unwrap();
    assert_eq!(lock.acquire().unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(
        ground.keys(),
        ["leasehold:phase"],
        "nothing is kept of the refused hold"
    );
    marker(&ground).lower(Phase::Old).unwrap();
    lock.acquire().unwrap().release().unwrap();
}

#[test]
fn the_marker_moves_by_one_phase_and_back() {
    let ground = Ground::one(Make::Found);
    let marker = marker(&ground);
    let error = marker.raise(Phase::New).unwrap_err();
    assert!(
        error.to_string().contains("by one phase at a time"),
        "{error}"
    );
    assert_eq!(marker.lowest().unwrap(), Phase::Old);
    for phase in [Phase::Both, Phase::Both, Phase::New, Phase::New] {
        marker.raise(phase).unwrap();
        assert_eq!(marker.lowest().unwrap(), phase);
    }
    assert!(marker.lower(Phase::Old).is_err());
    for phase in [Phase::Both, Phase::Both, Phase::Old] {
        marker.lower(phase).unwrap();
        assert_eq!(marker.lowest().unwrap(), phase);
    }
    ground.everywhere(&["SET", "leasehold:phase", "soon"]);
    assert!(marker.raise(Phase::Both).is_err());
    assert!(lock(&ground, bridge(Phase::Both)).acquire().is_err());
}

#[test]
fn a_marker_of_its_own_is_another_migration() {
    let ground = Ground::one(Make::Found);
    let client = ground.client(Token::default());
    Marker::of(&client).key("mine").raise(Phase::Both).unwrap();
    let other = lock(&ground, bridge(Phase::New).marker("mine"));
    other.acquire().unwrap().release().unwrap();
    assert!(lock(&ground, bridge(Phase::New)).acquire().is_err());
}

#[test]
fn a_hold_is_lost_when_either_side_is() {
    let ground = Ground::one(Make::Found);
    let lock = lock(&ground, bridge(Phase::Both));
    for gone in ["lock", "{lock}:next"] {
        let lease = lock.acquire().unwrap();
        ground.everywhere(&["DEL", gone]);
        assert_eq!(
            lease.extend(ms(40_000)).unwrap_err().loss(),
            Some(Loss::Deleted),
            "{gone}"
        );
        assert!(lease.release().unwrap_err().is_lost());
        assert_eq!(ground.keys(), [""; 0], "the other side is let go");
    }
    let lease = lock.acquire().unwrap();
    ground.everywhere(&["SET", "lock", &Wire::Millis.stamp(ground::wire::wall())]);
    assert_eq!(lease.release().unwrap_err().loss(), Some(Loss::Contested));
    assert_eq!(ground.keys(), ["lock"], "the stamp of a loser stays");
}

#[test]
fn a_new_lock_that_is_held_leaves_the_old_one_free() {
    let ground = Ground::one(Make::Found);
    ground.seize(Wire::Text, "{lock}:next", ms(60_000));
    let lock = lock(&ground, bridge(Phase::Both));
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(ground.keys(), ["{lock}:next"]);
    let error = lock.acquire_within(ms(50)).unwrap_err();
    assert!(error.holder().unwrap().remaining().unwrap() > ms(50_000));
    let seen = lock.holder().unwrap().unwrap();
    assert!(lock.force_release(&seen).unwrap());
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_new_key_of_another_type_is_named_and_the_old_lock_is_free() {
    let ground = Ground::one(Make::Found);
    ground.everywhere(&["RPUSH", "{lock}:next", "x"]);
    let error = lock(&ground, bridge(Phase::Both)).acquire().unwrap_err();
    assert!(error.to_string().contains("{lock}:next"), "{error}");
    assert!(
        !ground.keys().contains(&"lock".to_owned()),
        "{:?}",
        ground.keys()
    );
}

/// Every message of an acquire is lost, or its connection cut, one after the other.
#[test]
fn a_failure_between_the_two_leaves_neither_behind() {
    let ground = Ground::one(Make::Found);
    for fault in ["reply lost", "cut before", "cut after"] {
        for nth in 1..=4 {
            let proxy = Proxy::of(ground.server());
            let client = builder(proxy.url())
                .strategy(bridge(Phase::Both))
                .io_timeout(ms(200));
            let lock = client.build().unwrap().lock("lock").unwrap();
            lock.acquire().unwrap().release().unwrap(); // scripts are known, the marker was asked
            match fault {
                "reply lost" => proxy.replies().nth(nth).lost(),
                "cut before" => proxy.requests().nth(nth).cut_before(),
                _ => proxy.requests().nth(nth).cut_after(),
            }
            let lease = lock.try_acquire();
            assert!(lease.is_err() || nth > 3, "{fault} {nth}: {lease:?}");
            drop(lease);
            let held = |key: &str| ground.keys().iter().any(|held| held == key);
            eventually(PATIENCE, "neither is held", || {
                !held("lock") && !held("{lock}:next") && !held("{lock}:owner")
            });
        }
    }
}

#[test]
fn it_costs_the_commands_of_both_and_one_more() {
    let ground = Ground::one(Make::Found);
    let recorder = Recorder::of(bridge(Phase::Both));
    let lock = lock(&ground, recorder);
    lock.acquire().unwrap().release().unwrap();
    let monitor = common::Monitor::of(ground.server());
    lock.acquire().unwrap().release().unwrap();
    let seen = monitor.finish().into_iter();
    let seen: Vec<String> = seen.map(|seen| seen.command).collect();
    assert_eq!(seen, ["EVALSHA", "EVALSHA", "GET", "EVALSHA", "EVALSHA"]);
}
