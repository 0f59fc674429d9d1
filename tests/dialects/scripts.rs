//! The scripts know nothing of Rust's `Dialect`: both read and write the same, value by value.

use std::{cell::RefCell, time::Duration};

use leasehold::{
    LeaseTime, Lock, WallTime,
    strategy::{Dialect, Holder, Stamp, Timestamp},
};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::{
    common::Make,
    ground::{Ground, ms, wire::wall},
};

fn guarded(dialect: &Dialect) -> Timestamp {
    Timestamp::guarded(dialect.clone(), ms(60_000)).margin(ms(0))
}

fn put(connection: &RefCell<redis::Connection>, value: &[u8]) {
    let mut set = redis::cmd("SET");
    let set = set.arg("name").arg(value);
    set.query::<()>(&mut *connection.borrow_mut()).unwrap();
}

/// The script and the dialect are of one mind about what stands there.
fn agree(lock: &Lock, dialect: &Dialect, value: &[u8]) -> Result<(), TestCaseError> {
    let shown = format!("{}: {}", dialect.name(), value.escape_ascii());
    let before = wall();
    let holder = lock.holder().unwrap();
    match dialect.read(value) {
        Stamp::Until(end) if end.since_epoch() + ms(5) < before => {
            prop_assert!(holder.is_none(), "{shown} has passed");
        }
        Stamp::Until(end) if end.since_epoch() < before + ms(1_000) => {} // it is passing
        Stamp::Until(end) if end.since_epoch() > Duration::from_secs(1 << 40) => {
            prop_assert!(holder.is_some(), "{shown} is held for ages");
        }
        Stamp::Until(end) => {
            let left = holder.as_ref().and_then(Holder::remaining);
            let left = left.expect(&shown);
            let most = end.since_epoch().saturating_sub(before) + ms(2);
            prop_assert!(left <= most, "{shown}: {left:?} of {most:?}");
            prop_assert!(left + ms(2_000) > most, "{shown}: {left:?} of {most:?}");
        }
        Stamp::Forever | Stamp::None => {
            let holder = holder.expect(&shown);
            prop_assert_eq!(holder.remaining(), None, "{}", shown);
            prop_assert!(lock.try_acquire().unwrap().is_none(), "{shown} is held");
        }
    }
    Ok(())
}

#[test]
fn scripts_read_what_the_dialect_reads() {
    let ground = Ground::one(Make::Found);
    let connection = RefCell::new(ground.server().connection());
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(300)
    };
    for dialect in Dialect::all() {
        let lock = ground.client(guarded(&dialect)).lock("name").unwrap();
        let value = prop_oneof![
            "[0-9.e:+-]{0,20}".prop_map(String::into_bytes),
            "[1-3]?[0-9]{9}(\\.[0-9]{1,18})?(-[0-9-]{0,4})?".prop_map(String::into_bytes),
            "([a-f:]{0,4}:)?[1-3][0-9]{12}".prop_map(String::into_bytes),
            "true|1|1\\.0|2147483649(\\.0)?".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 8),
            (0_i64..4_000_000_000).prop_map(|seconds| seconds.to_le_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..12),
        ];
        let mut runner = TestRunner::new(config.clone());
        let agreed = runner.run(&value, |value| {
            put(&connection, &value);
            agree(&lock, &dialect, &value)
        });
        agreed.unwrap();
    }
}

#[test]
fn scripts_write_what_the_dialect_writes() {
    let ground = Ground::one(Make::Found);
    for dialect in Dialect::all() {
        let client = ground.client(guarded(&dialect));
        for _ in 0..20 {
            let lease = client.lock("name").unwrap().acquire().unwrap();
            let written: Vec<u8> = ground.server().command(&["GET", "name"]);
            let shown = format!("{}: {}", dialect.name(), written.escape_ascii());
            let end = dialect.parse(&written).expect(&shown);
            let believed = wall() + lease.remaining();
            assert!(end.since_epoch() >= believed, "{shown}");
            assert!(end.since_epoch() <= believed + ms(3_500), "{shown}");
            assert!(reprinted(&dialect, end, &written), "{shown}");
            lease.extend(ms(40_000)).unwrap();
            let later: Vec<u8> = ground.server().command(&["GET", "name"]);
            let later = dialect.parse(&later).unwrap().since_epoch();
            let longer = later.saturating_sub(end.since_epoch());
            assert!(longer >= ms(9_000) && longer <= ms(12_000), "{shown}");
            lease.release().unwrap();
            assert_eq!(ground.keys(), [""; 0], "{shown}");
        }
    }
}

/// Whether the dialect would write `written`, digit by digit, for a lock with that end.
fn reprinted(dialect: &Dialect, end: WallTime, written: &[u8]) -> bool {
    let text = String::from_utf8_lossy(written).into_owned();
    let owner = text.split_once('-').map_or("", |(_, owner)| owner);
    let owner = text.rsplit_once(':').map_or(owner, |(owner, _)| owner);
    let lease = LeaseTime::new(ms(30_000)).unwrap();
    let plain = dialect.clone().slack(Duration::ZERO);
    let taken = WallTime::from_epoch(end.since_epoch().saturating_sub(ms(30_000)));
    plain.stamp(taken, lease, owner) == written
}

#[test]
fn a_stamp_that_ends_is_had_when_it_has_passed_and_the_margin_with_it() {
    let ground = Ground::one(Make::Found);
    let connection = RefCell::new(ground.server().connection());
    for dialect in Dialect::all() {
        let strategy = guarded(&dialect).margin(ms(10_000));
        let lock = ground.client(strategy).lock("name").unwrap();
        let lease = LeaseTime::new(ms(1_000)).unwrap();
        let taken = |ago| WallTime::from_epoch(wall().saturating_sub(Duration::from_secs(ago)));
        put(&connection, &dialect.stamp(taken(9), lease, "a"));
        assert!(lock.try_acquire().unwrap().is_none(), "{}", dialect.name());
        put(&connection, &dialect.stamp(taken(15), lease, "a"));
        assert!(lock.try_acquire().unwrap().is_some(), "{}", dialect.name());
    }
}
