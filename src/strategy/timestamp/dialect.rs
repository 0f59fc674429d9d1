//! How a legacy client writes the end of its lock, and when it holds it for passed.

use std::time::Duration;

use crate::clock::WallTime;
use crate::config::LeaseTime;
use crate::strategy::Holder;

/// The longest stamp: more digits than this are no time that anybody wrote.
const LONGEST: usize = 15;

/// One family of SETNX/GETSET locks: the unit of its stamps, and how it wins a take-over.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::strategy::Dialect;
///
/// let at = leasehold::WallTime::from_epoch(Duration::from_millis(1_369_146_345_123));
/// let lease = leasehold::LeaseTime::new(Duration::from_secs(60))?;
/// assert_eq!(Dialect::seconds().stamp(at, lease), "1369146406");
/// assert_eq!(Dialect::java_millis().stamp(at, lease), "1369146405124");
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    unit: Unit,
    /// Units that are added to every end.
    slack: u64,
    won: Won,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Seconds,
    Millis,
}

/// When a GETSET has won the take-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Won {
    /// What it replaced had passed as well.
    OldHasPassed,
    /// What it replaced is, to the letter, what was read before.
    OldIsWhatWasRead,
}

impl Dialect {
    /// Whole seconds since 1970, `now + lease + 1`; won where the replaced stamp had passed.
    ///
    /// The algorithm as the documentation of SETNX had it.
    ///
    /// # Examples
    ///
    /// ```
    /// let dialect = leasehold::strategy::Dialect::seconds();
    /// # drop(dialect);
    /// ```
    pub fn seconds() -> Self {
        Self {
            unit: Unit::Seconds,
            slack: 1,
            won: Won::OldHasPassed,
        }
    }

    /// Milliseconds since 1970, `now + lease + 1`; won where the replaced stamp is the very
    /// string that was read.
    ///
    /// jedis-lock 1.0.0 and its many copies in Java.
    ///
    /// # Examples
    ///
    /// ```
    /// let dialect = leasehold::strategy::Dialect::java_millis();
    /// # drop(dialect);
    /// ```
    pub fn java_millis() -> Self {
        Self {
            unit: Unit::Millis,
            slack: 1,
            won: Won::OldIsWhatWasRead,
        }
    }

    /// The stamp of a lock taken at `now` for `lease`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # let now = leasehold::WallTime::from_epoch(Duration::from_secs(100));
    /// # let lease = leasehold::LeaseTime::new(Duration::from_millis(1500))?;
    /// // a part of a second is a whole one: a stamp never lies before the end
    /// assert_eq!(leasehold::strategy::Dialect::seconds().stamp(now, lease), "103");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn stamp(&self, now: WallTime, lease: LeaseTime) -> String {
        let now = now.since_epoch().as_millis();
        let unit = u128::from(self.unit_ms());
        let lease = u128::from(lease.as_millis()).div_ceil(unit);
        (now / unit + lease + u128::from(self.slack())).to_string()
    }

    /// The time that `stamp` says; `None` where it is no stamp of this dialect.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use leasehold::strategy::Dialect;
    ///
    /// let end = Dialect::seconds().parse(b"1369146406").unwrap();
    /// assert_eq!(end.since_epoch(), Duration::from_secs(1_369_146_406));
    /// for bad in [&b""[..], b"-5", b"1.5", b" 7", b"7e9", b"a-uuid", b"12345678901234567890"] {
    ///     assert!(Dialect::seconds().parse(bad).is_none());
    /// }
    /// ```
    pub fn parse(&self, stamp: &[u8]) -> Option<WallTime> {
        if stamp.len() > LONGEST || !stamp.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number: u64 = std::str::from_utf8(stamp).ok()?.parse().ok()?;
        let millis = number.checked_mul(self.unit_ms())?;
        Some(WallTime::from_epoch(Duration::from_millis(millis)))
    }

    /// Whether `stamp` has passed at `now`; one that does not parse never has.
    ///
    /// The clients of these dialects compare whole units, and so does this.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::Dialect;
    /// let now = leasehold::WallTime::from_epoch(Duration::from_millis(7_900));
    /// assert!(Dialect::seconds().has_passed(b"6", now));
    /// assert!(!Dialect::seconds().has_passed(b"7", now));
    /// assert!(!Dialect::seconds().has_passed(b"x", now));
    /// ```
    pub fn has_passed(&self, stamp: &[u8], now: WallTime) -> bool {
        let whole = |time: WallTime| time.since_epoch().as_millis() / u128::from(self.unit_ms());
        self.parse(stamp).is_some_and(|end| whole(end) < whole(now))
    }

    /// Whether a GETSET that replaced `old` has won, after `read` was read.
    pub(super) fn has_won(&self, old: &[u8], read: &[u8], now: WallTime) -> bool {
        match self.won {
            Won::OldHasPassed => self.has_passed(old, now),
            Won::OldIsWhatWasRead => old == read,
        }
    }

    /// Who wrote `stamp`, which this dialect does not tell, and until when.
    pub(super) fn holder(&self, stamp: Vec<u8>, now: WallTime) -> Holder {
        // It passes with the next whole unit.
        let unit = Duration::from_millis(self.unit_ms());
        let remaining = self
            .parse(&stamp)
            .map(|end| (end.since_epoch() + unit).saturating_sub(now.since_epoch()));
        self.holder_lasting(stamp, remaining)
    }

    /// Who wrote `stamp`; where it is none, the holder shows what stands there instead.
    pub(super) fn holder_lasting(&self, stamp: Vec<u8>, remaining: Option<Duration>) -> Holder {
        let label = if self.parse(&stamp).is_some() {
            "a time stamp".to_owned()
        } else {
            let head = &stamp[..stamp.len().min(64)];
            format!("\"{}\", which is no stamp,", head.escape_ascii())
        };
        Holder::of(stamp).labelled(label).lasting(remaining)
    }

    pub(super) fn unit_ms(&self) -> u64 {
        match self.unit {
            Unit::Seconds => 1_000,
            Unit::Millis => 1,
        }
    }

    pub(super) fn slack(&self) -> u64 {
        self.slack
    }

    /// The least margin for clocks that makes sense in this unit.
    pub(super) fn least_margin(&self) -> u64 {
        match self.unit {
            Unit::Seconds => 1_000,
            Unit::Millis => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stamp_lies_at_or_after_the_end_and_is_read_back(
            now in 0_u64..4_000_000_000_000,
            lease in 10_u64..1_000_000_000,
        ) {
            let (at, lease) = (
                WallTime::from_epoch(Duration::from_millis(now)),
                LeaseTime::new(Duration::from_millis(lease)).unwrap(),
            );
            for dialect in [Dialect::seconds(), Dialect::java_millis()] {
                let stamp = dialect.stamp(at, lease);
                let end = dialect.parse(stamp.as_bytes()).unwrap();
                let least = at.since_epoch() + lease.as_duration();
                prop_assert!(end.since_epoch() >= least);
                prop_assert!(end.since_epoch() <= least + Duration::from_secs(3));
                prop_assert!(!dialect.has_passed(stamp.as_bytes(), at));
                prop_assert!(!dialect.has_passed(stamp.as_bytes(), end));
                let later = WallTime::from_epoch(end.since_epoch() + Duration::from_secs(1));
                prop_assert!(dialect.has_passed(stamp.as_bytes(), later));
            }
        }

        #[test]
        fn whatever_stands_there_is_read_without_a_panic(bytes: Vec<u8>, now: u64) {
            let now = WallTime::from_epoch(Duration::from_millis(now));
            for dialect in [Dialect::seconds(), Dialect::java_millis()] {
                if dialect.parse(&bytes).is_none() {
                    prop_assert!(!dialect.has_passed(&bytes, now));
                    prop_assert_eq!(dialect.holder(bytes.clone(), now).remaining(), None);
                }
            }
        }
    }

    #[test]
    fn the_two_ways_of_winning() {
        let now = WallTime::from_epoch(Duration::from_secs(100));
        assert!(Dialect::seconds().has_won(b"50", b"40", now));
        assert!(!Dialect::seconds().has_won(b"150", b"40", now));
        assert!(Dialect::java_millis().has_won(b"40", b"40", now));
        assert!(!Dialect::java_millis().has_won(b"50", b"40", now));
    }
}
