//! What the clients of each dialect write, as read in their sources: a lock that is taken at
//! unix 1369146345.123456 for a minute (that of redis-semaphore for 10 s).

use std::time::Duration;

use proptest::prelude::*;

use super::{Dialect, Passed, Stamp, Unit};
use crate::clock::WallTime;
use crate::config::LeaseTime;

const TAKEN: Duration = Duration::from_micros(1_369_146_345_123_456);
const UUID: &str = "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55";
const LE: &[u8] = &1_369_146_406_i64.to_le_bytes();

/// Dialect, lease in s, owner, value, the end that it says in microseconds.
fn vectors() -> Vec<(Dialect, u64, &'static str, &'static [u8], u64)> {
    let jedis_2015 = b"3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:1369146405124";
    let (s, ms) = (1_369_146_406_000_000, 1_369_146_405_124_000);
    let float = 1_369_146_406_123_456;
    vec![
        (Dialect::seconds(), 60, "", b"1369146406", s),
        (Dialect::redis_docs(), 60, "", b"1369146406", s),
        (Dialect::java_millis(), 60, "", b"1369146405124", ms),
        (Dialect::jedis_lock(), 60, "", b"1369146405124", ms),
        (Dialect::jedis_lock_2015(), 60, UUID, jedis_2015, ms),
        (
            Dialect::redis_py_24(),
            60,
            "",
            b"1369146405.0",
            s - 1_000_000,
        ),
        (
            Dialect::redis_py_28(),
            60,
            "",
            b"1369146405.123456",
            float - 1_000_000,
        ),
        (
            Dialect::redis_objects(),
            60,
            "",
            b"1369146406.123456",
            float,
        ),
        (
            Dialect::redis_mutex(),
            60,
            "",
            b"1369146405.123456",
            float - 1_000_000,
        ),
        (
            Dialect::redis_lock_ruby(),
            60,
            "12345-70123456789",
            b"1369146406-12345-70123456789",
            s,
        ),
        (
            Dialect::resque_lock_timeout(),
            60,
            "",
            b"1369146405",
            s - 1_000_000,
        ),
        (Dialect::servicestack_lock(), 60, "", b"1369146405124", ms),
        (Dialect::servicestack_distributed_lock(), 60, "", LE, s),
        (Dialect::redis_lock_npm(), 60, "", b"1369146405124", ms),
        (Dialect::faye_redis(), 60, "", b"1369146405124", ms),
        (Dialect::retools(), 60, "", b"1369146406.123456", float),
        (
            Dialect::redis_semaphore(),
            10,
            "",
            b"1369146356.123456",
            float - 50_000_000,
        ),
    ]
}

fn lease(seconds: u64) -> LeaseTime {
    LeaseTime::new(Duration::from_secs(seconds)).unwrap()
}

#[test]
fn every_preset_writes_and_reads_what_its_clients_write() {
    for (dialect, seconds, owner, value, end) in vectors() {
        let name = dialect.name();
        let written = dialect.stamp(WallTime::from_epoch(TAKEN), lease(seconds), owner);
        assert_eq!(
            written.escape_ascii().to_string(),
            value.escape_ascii().to_string(),
            "{name}"
        );
        let end = WallTime::from_epoch(Duration::from_micros(end));
        assert_eq!(dialect.read(value), Stamp::Until(end), "{name}");
    }
}

#[test]
fn every_preset_has_a_vector() {
    let known: Vec<_> = vectors().iter().map(|vector| vector.0.name()).collect();
    assert!(
        Dialect::all()
            .iter()
            .all(|dialect| known.contains(&dialect.name()))
    );
    assert_eq!(known.len(), Dialect::all().len());
}

#[test]
fn what_is_for_ever_never_passes() {
    let late = WallTime::from_epoch(Duration::from_secs(9_999_999_999));
    for (dialect, value) in [
        (Dialect::redis_py_24(), &b"2147483649.0"[..]),
        (Dialect::redis_py_28(), b"2147483649.0"),
        (Dialect::redis_objects(), b"1"),
        (Dialect::resque_lock_timeout(), b"true"),
    ] {
        assert_eq!(dialect.read(value), Stamp::Forever, "{}", dialect.name());
        assert!(!dialect.has_passed(value, late), "{}", dialect.name());
        assert_eq!(dialect.holder(value.to_vec(), late).remaining(), None);
    }
    assert_eq!(Dialect::seconds().read(b"true"), Stamp::None);
}

#[test]
fn a_stamp_passes_when_its_clients_say_so() {
    let at = |micros| WallTime::from_epoch(Duration::from_micros(micros));
    for (dialect, _, _, value, end) in vectors() {
        let step = dialect.unit.step();
        let (last, first) = match dialect.passed {
            Passed::Below => (end + step - 1, end + step),
            Passed::AtMost => (end - 1, end),
        };
        assert!(!dialect.has_passed(value, at(last)), "{}", dialect.name());
        assert!(dialect.has_passed(value, at(first)), "{}", dialect.name());
    }
}

#[test]
fn an_owner_is_neither_left_out_nor_in_the_way() {
    for bad in [
        &b"1369146405124"[..],
        b":1369146405124",
        b"uuid:",
        b"uuid:x",
        b"1:2:x",
    ] {
        assert_eq!(Dialect::jedis_lock_2015().read(bad), Stamp::None);
    }
    for bad in [&b"1369146406"[..], b"1369146406-", b"-1-2", b"x-1-2", b""] {
        assert_eq!(Dialect::redis_lock_ruby().read(bad), Stamp::None);
    }
    assert!(Dialect::custom(Unit::Millis).owner_before('.').is_err());
    assert!(Dialect::custom(Unit::Millis).owner_after('x').is_err());
}

proptest! {
    #[test]
    fn a_stamp_lies_at_or_after_the_end_and_is_read_back(
        now in 0_u64..4_000_000_000_000_000,
        lease in 10_u64..1_000_000_000,
    ) {
        let at = WallTime::from_epoch(Duration::from_micros(now));
        let lease = LeaseTime::new(Duration::from_millis(lease)).unwrap();
        for dialect in Dialect::all() {
            let stamp = dialect.stamp(at, lease, "a");
            let end = dialect.parse(&stamp).unwrap();
            let least = at.since_epoch() + lease.as_duration();
            let step = Duration::from_micros(dialect.unit.step());
            prop_assert!(end.since_epoch() + step > least, "{}", dialect.name());
            prop_assert!(end.since_epoch() <= least + Duration::from_secs(3));
            prop_assert!(!dialect.has_passed(&stamp, at));
            let before = WallTime::from_epoch(least.saturating_sub(Duration::from_micros(1)));
            prop_assert!(!dialect.has_passed(&stamp, before), "{}", dialect.name());
            let later = WallTime::from_epoch(end.since_epoch() + Duration::from_secs(1));
            prop_assert!(dialect.has_passed(&stamp, later));
            prop_assert!(!stamp.contains(&b'e') || dialect.unit == Unit::LittleEndianSeconds);
        }
    }

    #[test]
    fn whatever_stands_there_is_read_without_a_panic(bytes: Vec<u8>, now: u64) {
        let now = WallTime::from_epoch(Duration::from_millis(now));
        for dialect in Dialect::all() {
            if dialect.parse(&bytes).is_none() {
                prop_assert!(!dialect.has_passed(&bytes, now));
                prop_assert_eq!(dialect.holder(bytes.clone(), now).remaining(), None);
            }
        }
    }

    #[test]
    fn what_looks_like_a_number_is_none_or_said_as_it_stands(text in "[0-9.e:+-]{1,20}") {
        let bytes = text.as_bytes();
        let plain = bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        for dialect in [Dialect::seconds(), Dialect::java_millis(), Dialect::redis_py_28()] {
            prop_assert!(plain || dialect.read(bytes) == Stamp::None);
        }
    }

    #[test]
    fn eight_bytes_are_seconds_and_nothing_else_is(seconds in 0_u64..(1 << 53), more: Vec<u8>) {
        let dialect = Dialect::servicestack_distributed_lock();
        let said = dialect.parse(&seconds.to_le_bytes()).unwrap();
        prop_assert!(said.since_epoch().as_secs() == seconds || seconds > u64::MAX / 1_000_000);
        prop_assert!(more.len() == 8 || dialect.parse(&more).is_none());
    }
}

#[test]
fn the_two_ways_of_winning() {
    let now = WallTime::from_epoch(Duration::from_secs(100));
    assert!(Dialect::seconds().has_won(Some(b"50"), b"40", now));
    assert!(!Dialect::seconds().has_won(Some(b"150"), b"40", now));
    assert!(Dialect::seconds().has_won(None, b"40", now));
    assert!(Dialect::java_millis().has_won(Some(b"40"), b"40", now));
    assert!(!Dialect::java_millis().has_won(Some(b"50"), b"40", now));
    assert!(!Dialect::java_millis().has_won(None, b"40", now));
}

#[test]
fn each_releases_by_its_own_rule() {
    let now = WallTime::from_epoch(Duration::from_secs(100));
    let (mine, passed, later) = (&b"150"[..], &b"50"[..], &b"200"[..]);
    let by = |release| Dialect::seconds().release(release);
    use super::Release::{Always, AtLeastMine, BeforeItsEnd, Same, Unexpired};
    for (release, of_mine, of_passed, of_later, after_overrun) in [
        (Always, true, true, true, true),
        (BeforeItsEnd, true, true, true, false),
        (Unexpired, true, false, true, true),
        (Same, true, false, false, false),
        (AtLeastMine, true, false, true, true),
    ] {
        let dialect = by(release);
        assert_eq!(dialect.deletes(mine, mine, now), of_mine, "{release:?}");
        assert_eq!(dialect.deletes(passed, mine, now), of_passed, "{release:?}");
        assert_eq!(dialect.deletes(later, mine, now), of_later, "{release:?}");
        assert_eq!(
            dialect.deletes(later, passed, now),
            after_overrun,
            "{release:?}"
        );
    }
}
