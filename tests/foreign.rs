//! Clients that are not ours, on the other side of the same lock: they keep us out until they end,
//! and we keep them out.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::time::Duration;

use common::{Make, eventually};
use ground::{Ground, PATIENCE, Wire, ms, timed, wire::STRANGER, wire::wall};
use leasehold::{
    ErrorKind, Loss, Released,
    strategy::{Dialect, LockStrategy, Reentrant, Timestamp, Token},
};

fn guarded(dialect: Dialect) -> Timestamp {
    Timestamp::guarded(dialect, Duration::from_secs(60))
}

/// A foreign hold keeps `strategy` out; it is had once that has ended by itself.
fn assert_kept_out(strategy: impl LockStrategy + 'static, wire: Wire) {
    let ground = Ground::one(Make::Found);
    let lock = ground.client(strategy).lock("name").unwrap();
    assert!(wire.try_take(ground.server(), "name", ms(60_000)));
    let theirs = ground.picture();
    assert!(lock.try_acquire().unwrap().is_none());
    let error = lock.acquire_within(ms(100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let left = error.holder().unwrap().remaining().unwrap();
    assert!(left > ms(50_000) && left < ms(70_000), "{left:?}");
    assert_eq!(ground.picture(), theirs, "nothing of theirs is touched");

    ground.seize(wire, "name", ms(700));
    assert!(lock.try_acquire().unwrap().is_none());
    let (lease, took) = timed(|| lock.acquire_within(PATIENCE).unwrap());
    assert!(took > ms(400), "it was had {took:?} into a hold of 700 ms");
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0]);
}

/// A hold of `strategy` keeps foreign clients out; they have it once it is released.
fn assert_keeps_out(strategy: impl LockStrategy + 'static, wire: Wire) {
    let ground = Ground::one(Make::Found);
    let lock = ground.client(strategy).lock("name").unwrap();
    let lease = lock.acquire().unwrap();
    assert!(!wire.try_take(ground.server(), "name", ms(1_000)));
    lease.extend(ms(40_000)).unwrap();
    assert!(!wire.try_take(ground.server(), "name", ms(1_000)));
    lease.release().unwrap();
    assert!(wire.try_take(ground.server(), "name", ms(1_000)));
}

#[test]
fn a_string_set_by_hand_keeps_a_token_out_until_it_ends() {
    assert_kept_out(Token::default(), Wire::Text);
}

#[test]
fn a_token_keeps_out_who_sets_a_string_by_hand() {
    assert_keeps_out(Token::default(), Wire::Text);
}

#[test]
fn a_hash_of_another_redisson_client_keeps_a_reentrant_lock_out_until_it_ends() {
    assert_kept_out(Reentrant::default(), Wire::Hash);
}

#[test]
fn a_reentrant_lock_keeps_out_another_redisson_client() {
    assert_keeps_out(Reentrant::default(), Wire::Hash);
}

#[test]
fn a_bare_stamp_keeps_a_guarded_one_out_until_it_has_passed() {
    assert_kept_out(guarded(Dialect::seconds()), Wire::Seconds);
    assert_kept_out(guarded(Dialect::java_millis()).margin(ms(50)), Wire::Millis);
}

#[test]
fn a_bare_stamp_keeps_a_classic_one_out_until_it_has_passed() {
    assert_kept_out(Timestamp::classic(Dialect::seconds()), Wire::Seconds);
    assert_kept_out(Timestamp::classic(Dialect::java_millis()), Wire::Millis);
}

#[test]
fn a_guarded_stamp_keeps_out_legacy_clients() {
    assert_keeps_out(guarded(Dialect::seconds()), Wire::Seconds);
    assert_keeps_out(guarded(Dialect::java_millis()), Wire::Millis);
}

#[test]
fn a_classic_stamp_keeps_out_legacy_clients() {
    assert_keeps_out(Timestamp::classic(Dialect::seconds()), Wire::Seconds);
    assert_keeps_out(Timestamp::classic(Dialect::java_millis()), Wire::Millis);
}

/// The stamp that a legacy client reads, in ms; it is a number in its unit at every moment.
fn stamp(ground: &Ground, wire: Wire) -> u128 {
    let text: String = ground.server().command(&["GET", "name"]);
    assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
    let unit = if wire == Wire::Seconds { 1_000 } else { 1 };
    text.parse::<u128>().unwrap() * unit
}

#[test]
fn a_stamp_never_passes_while_its_holder_believes() {
    for (dialect, wire) in [
        (Dialect::seconds(), Wire::Seconds),
        (Dialect::java_millis(), Wire::Millis),
    ] {
        let ground = Ground::one(Make::Found);
        for strategy in [guarded(dialect.clone()), Timestamp::classic(dialect)] {
            let lock = ground.client(strategy).lock("name").unwrap();
            let lease = lock.acquire().unwrap();
            let believed = (wall() + lease.remaining()).as_millis();
            assert!(stamp(&ground, wire) >= believed);
            lease.extend(ms(45_000)).unwrap();
            let believed = (wall() + lease.remaining()).as_millis();
            assert!(stamp(&ground, wire) >= believed);
            lease.release().unwrap();
        }
    }
}

#[test]
fn a_foreign_clock_that_is_behind_is_given_the_margin() {
    let ground = Ground::one(Make::Found);
    let strategy = guarded(Dialect::java_millis()).margin(ms(60_000));
    let lock = ground.client(strategy).lock("name").unwrap();
    // It ended 30 s ago by our clock, and by that of who wrote it perhaps not.
    let stamp = Wire::Millis.stamp(wall().saturating_sub(ms(30_000)));
    ground.everywhere(&["SET", "name", &stamp]);
    assert!(lock.try_acquire().unwrap().is_none());
    let stamp = Wire::Millis.stamp(wall().saturating_sub(ms(70_000)));
    ground.everywhere(&["SET", "name", &stamp]);
    assert!(lock.try_acquire().unwrap().is_some());
}

#[test]
fn a_losers_stamp_under_our_hold_is_told_and_left_alone() {
    let ground = Ground::one(Make::Found);
    let lock = ground
        .client(guarded(Dialect::java_millis()))
        .lock("name")
        .unwrap();
    let lease = lock.acquire().unwrap();
    let loser = Wire::Millis.stamp(wall() + ms(20_000));
    let _: String = ground.server().command(&["GETSET", "name", &loser]);
    assert!(lock.try_acquire().unwrap().is_none(), "we still hold it");
    let error = lease.release().unwrap_err();
    assert_eq!(error.loss(), Some(Loss::Contested));
    assert_eq!(ground.server().command::<String>(&["GET", "name"]), loser);
    assert_eq!(ground.keys(), ["name"]);
}

#[test]
fn clients_of_ours_take_over_at_the_end_without_a_margin() {
    let ground = Ground::one(Make::Found);
    let strategy = || guarded(Dialect::seconds()).margin(PATIENCE * 2);
    let mortal = ground.fleeting(strategy(), ms(200));
    std::mem::forget(mortal.lock("name").unwrap().acquire().unwrap());
    let lock = ground.client(strategy()).lock("name").unwrap();
    lock.acquire_within(PATIENCE)
        .expect("its end, not that of its stamp, is what counts")
        .release()
        .unwrap();
}

#[test]
fn a_redisson_client_reads_our_hash_as_its_own() {
    let ground = Ground::one(Make::Found);
    let lock = ground.client(Reentrant::default()).lock("name").unwrap();
    let outer = lock.thread().acquire().unwrap();
    let inner = lock.thread().acquire().unwrap();
    let field = lock.holder().unwrap().unwrap().owner().unwrap().to_string();
    let hash: Vec<String> = ground.server().command(&["HGETALL", "name"]);
    assert_eq!(hash, [&field, "2"]);
    let ttl: i64 = ground.server().command(&["PTTL", "name"]);
    assert!((20_000..=30_000).contains(&ttl), "{ttl}");
    inner.release().unwrap();
    let count: i64 = ground.server().command(&["HGET", "name", &field]);
    assert_eq!(count, 1);
    outer.release().unwrap();
}

#[test]
fn the_holder_of_a_redisson_hash_is_named() {
    let ground = Ground::one(Make::Found);
    assert!(Wire::Hash.try_take(ground.server(), "name", ms(60_000)));
    let lock = ground.client(Reentrant::default()).lock("name").unwrap();
    let owner = STRANGER.parse().unwrap();
    assert!(lock.is_held_by(&owner).unwrap());
    let error = lock.acquire_within(ms(0)).unwrap_err();
    assert_eq!(error.holder().unwrap().owner(), Some(&owner));
    assert!(error.to_string().contains("3f1c..:89"), "{error}");
}

/// What a Redisson client subscribes to while it waits.
fn subscriber(ground: &Ground, channel: &str) -> redis::Connection {
    let mut connection = ground.server().connection();
    redis::cmd("SUBSCRIBE")
        .arg(channel)
        .query::<redis::Value>(&mut connection)
        .unwrap();
    connection
}

#[test]
fn a_redisson_client_that_waits_is_told_of_the_release_and_of_no_inner_one() {
    for (name, channel) in [
        ("name", "redisson_lock__channel:{name}"),
        ("{tag}:name", "redisson_lock__channel:{tag}:name"),
    ] {
        let ground = Ground::one(Make::Found);
        let lock = ground.client(Reentrant::default()).lock(name).unwrap();
        let mut waits = subscriber(&ground, channel);
        let outer = lock.thread().acquire().unwrap();
        lock.thread().acquire().unwrap().release().unwrap();
        let marker: i64 = ground.server().command(&["PUBLISH", channel, "marker"]);
        assert_eq!(marker, 1);
        outer.release().unwrap();
        let mut next = || match waits.recv_response().unwrap() {
            redis::Value::Array(parts) => redis::from_redis_value::<String>(parts[2].clone()),
            other => panic!("{other:?}"),
        };
        assert_eq!(next().unwrap(), "marker", "an inner release tells nobody");
        assert_eq!(next().unwrap(), "0");
    }
}

#[test]
fn a_hash_without_an_end_is_waited_for_and_said_to_have_none() {
    let ground = Ground::one(Make::Found);
    ground.everywhere(&["HSET", "name", STRANGER, "1"]);
    let lock = ground.client(Reentrant::default()).lock("name").unwrap();
    let error = lock.acquire_within(ms(30)).unwrap_err();
    assert_eq!(error.holder().unwrap().remaining(), None);
    assert!(error.to_string().contains("without an end"), "{error}");
}

#[test]
fn a_string_that_another_client_deletes_is_had_soon() {
    let ground = Ground::one(Make::Found);
    ground.everywhere(&["SET", "name", "x"]);
    let lock = ground.client(Token::default()).lock("name").unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| lock.acquire_within(PATIENCE).map(drop));
        eventually(PATIENCE, "it waits", || {
            let stats: String = ground.server().command(&["INFO", "commandstats"]);
            stats.contains("cmdstat_evalsha")
        });
        assert!(!waiter.is_finished());
        ground.everywhere(&["DEL", "name"]);
        waiter.join().unwrap().unwrap();
    });
}
