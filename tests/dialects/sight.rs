//! Taking over by sight: by no clock but our own that never jumps.

use leasehold::{
    WallTime,
    strategy::{Dialect, Timestamp},
};

use crate::{
    common::{Make, Proxy, eventually},
    ground::{Ground, PATIENCE, builder, instant, ms, timed, wire::wall},
};

fn by_sight(dialect: Dialect) -> Timestamp {
    Timestamp::guarded(dialect, ms(60_000))
        .margin(ms(100))
        .by_sight(ms(400))
}

/// A stamp of a lock that ended long ago, by any clock, or will end in a year.
fn stamps(dialect: &Dialect) -> [Vec<u8>; 2] {
    let lease = leasehold::LeaseTime::new(ms(60_000)).unwrap();
    let year = ms(365 * 24 * 3_600_000);
    [wall().saturating_sub(year), wall() + year]
        .map(|taken| dialect.stamp(WallTime::from_epoch(taken), lease, "a"))
}

fn put(ground: &Ground, value: &[u8]) {
    let mut connection = ground.server().connection();
    let () = redis::cmd("SET")
        .arg("name")
        .arg(value)
        .query(&mut connection)
        .unwrap();
}

#[test]
fn whatever_a_stamp_says_it_is_had_once_it_stood_for_a_lease_and_the_margin() {
    let ground = Ground::one(Make::Found);
    for dialect in [
        Dialect::java_millis(),
        Dialect::redis_py_28(),
        Dialect::redis_lock_ruby(),
    ] {
        for stamp in stamps(&dialect) {
            put(&ground, &stamp);
            let lock = ground
                .client(by_sight(dialect.clone()))
                .lock("name")
                .unwrap();
            let (lease, took) = timed(|| lock.acquire_within(PATIENCE).unwrap());
            assert!(took >= ms(500), "it was had after {took:?}");
            lease.release().unwrap();
        }
    }
}

#[test]
fn a_stamp_that_changes_is_not_had() {
    let ground = Ground::one(Make::Found);
    let lock = ground
        .client(by_sight(Dialect::java_millis()))
        .lock("name")
        .unwrap();
    let mut changes = 0;
    let ((), took) = timed(|| {
        eventually(PATIENCE, "it changed often enough", || {
            changes += 1;
            put(&ground, changes.to_string().as_bytes());
            let seen = lock.acquire_within(ms(200));
            assert!(seen.unwrap_err().is_timeout());
            changes == 6
        });
    });
    assert!(
        took > ms(1_000),
        "each stood for less than a lease, all for more: {took:?}"
    );
}

#[test]
fn what_is_no_stamp_is_never_had() {
    let ground = Ground::one(Make::Found);
    for value in [&b"a-uuid"[..], b"true", b""] {
        put(&ground, value);
        let client = ground.client(by_sight(Dialect::resque_lock_timeout()));
        let error = client
            .lock("name")
            .unwrap()
            .acquire_within(ms(1_000))
            .unwrap_err();
        assert_eq!(error.holder().unwrap().remaining(), None);
    }
}

#[test]
fn our_own_take_over_from_each_other_at_the_end_of_the_lease() {
    let ground = Ground::one(Make::Found);
    let patient = || by_sight(Dialect::seconds()).by_sight(PATIENCE);
    let first = ground.fleeting(patient(), ms(200));
    std::mem::forget(first.lock("name").unwrap().acquire().unwrap());
    let other = ground.client(patient());
    let (lease, took) = timed(|| {
        other
            .lock("name")
            .unwrap()
            .acquire_within(PATIENCE)
            .unwrap()
    });
    assert!(took < PATIENCE / 2, "{took:?}");
    lease.release().unwrap();
}

/// The server may have looked at the beginning of a slow answer or at its end.
#[test]
fn a_slow_answer_is_not_counted_as_standing() {
    let ground = Ground::one(Make::Found);
    put(&ground, b"1");
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url()).strategy(by_sight(Dialect::java_millis()));
    let lock = client.build().unwrap().lock("name").unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    put(&ground, b"2"); // another holder, first seen by the next answer
    proxy.replies().of("EVALSHA").late(ms(700));
    assert!(lock.try_acquire().unwrap().is_none());
    assert!(
        lock.try_acquire().unwrap().is_none(),
        "700 ms of waiting for an answer"
    );
    assert!(lock.acquire_within(PATIENCE).is_ok());
}

#[test]
fn a_stamp_that_changed_at_the_last_moment_is_not_had() {
    let ground = Ground::one(Make::Found);
    put(&ground, b"1");
    let client = ground.client(by_sight(Dialect::java_millis()));
    let lock = client.lock("name").unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    let seen = instant();
    eventually(PATIENCE, "it stood long enough", || {
        seen.elapsed() > ms(600)
    });
    put(&ground, b"2");
    assert!(
        lock.try_acquire().unwrap().is_none(),
        "this one was never seen before"
    );
}
