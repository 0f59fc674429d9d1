//! Stamps of a dialect: written, read, and compared with a clock.

use std::time::Duration;

use super::unit::Micros;
use super::{Dialect, Part, Passed, Release, Stamp, Won};
use crate::clock::WallTime;
use crate::config::LeaseTime;
use crate::exchange::Call;
use crate::name::{Owner, Ticket};
use crate::strategy::Holder;

impl Dialect {
    /// The stamp of a lock taken at `now` for `lease`, by `owner` where the dialect's stamps
    /// say whose they are.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::Dialect;
    /// # let now = leasehold::WallTime::from_epoch(Duration::from_secs(100));
    /// # let lease = leasehold::LeaseTime::new(Duration::from_millis(1500))?;
    /// // a part of a second is a whole one: a stamp never lies before the end
    /// assert_eq!(Dialect::seconds().stamp(now, lease, ""), b"103");
    /// assert_eq!(Dialect::jedis_lock_2015().stamp(now, lease, "me"), b"me:101501");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn stamp(&self, now: WallTime, lease: LeaseTime, owner: &str) -> Vec<u8> {
        let step = self.unit.step();
        let lease = micros(lease.as_duration()).div_ceil(step) * step;
        let end = micros(now.since_epoch())
            .saturating_add(lease)
            .saturating_add(micros(self.slack));
        let number = self.unit.print(end);
        match self.part {
            Part::None => number,
            Part::Before(separator) => [format!("{owner}{separator}").as_bytes(), &number].concat(),
            Part::After(separator) => [&number, format!("{separator}{owner}").as_bytes()].concat(),
        }
    }

    /// What `value` says in this dialect.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::{Dialect, Stamp};
    ///
    /// assert_eq!(Dialect::redis_objects().read(b"1"), Stamp::Forever);
    /// assert_eq!(Dialect::redis_objects().read(b"one"), Stamp::None);
    /// ```
    pub fn read(&self, value: &[u8]) -> Stamp {
        if self.forever.iter().any(|word| word.as_bytes() == value) {
            return Stamp::Forever;
        }
        match self.micros_of(value) {
            Some(end) => Stamp::Until(WallTime::from_epoch(Duration::from_micros(end))),
            None => Stamp::None,
        }
    }

    /// The time that `stamp` says; `None` where it is no stamp of this dialect, and where it
    /// says that the lock has no end.
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
        match self.read(stamp) {
            Stamp::Until(end) => Some(end),
            Stamp::Forever | Stamp::None => None,
        }
    }

    /// Whether `stamp` has passed at `now`; one that does not parse never has.
    ///
    /// The clients of a dialect compare whole units, and so does this.
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
        let Some(end) = self.parse(stamp) else {
            return false;
        };
        let now = micros(now.since_epoch());
        let now = now - now % self.unit.step();
        let end = micros(end.since_epoch());
        match self.passed {
            Passed::Below => end < now,
            Passed::AtMost => end <= now,
        }
    }

    fn micros_of(&self, value: &[u8]) -> Option<Micros> {
        let is = |separator: char| move |&byte: &u8| char::from(byte) == separator;
        let number = match self.part {
            Part::None => value,
            Part::Before(separator) => {
                let at = value.iter().rposition(is(separator))?;
                (at > 0).then(|| &value[at + 1..])?
            }
            Part::After(separator) => {
                let at = value.iter().position(is(separator))?;
                (at + 1 < value.len()).then(|| &value[..at])?
            }
        };
        self.unit.parse(number)
    }

    /// Whether a GETSET that replaced `old` has won, after `read` was read.
    pub(in crate::strategy::timestamp) fn has_won(
        &self,
        old: Option<&[u8]>,
        read: &[u8],
        now: WallTime,
    ) -> bool {
        match (self.won, old) {
            (Won::Passed, Some(old)) => self.has_passed(old, now),
            (Won::Same | Won::SameOrMissing | Won::Unchanged, Some(old)) => old == read,
            (Won::Passed | Won::SameOrMissing, None) => true,
            (Won::Same | Won::Unchanged, None) => false,
        }
    }

    /// Whether a client that wrote `mine` deletes `found` when it releases.
    pub(in crate::strategy::timestamp) fn deletes(
        &self,
        found: &[u8],
        mine: &[u8],
        now: WallTime,
    ) -> bool {
        let ahead = |stamp| self.parse(stamp).is_some() && !self.has_passed(stamp, now);
        match self.release {
            Release::Always => true,
            Release::BeforeItsEnd => ahead(mine),
            Release::Unexpired => ahead(found),
            Release::Same => found == mine,
            Release::AtLeastMine => self.parse(found) >= self.parse(mine),
        }
    }

    /// Whether a take-over is a transaction rather than a GETSET.
    pub(in crate::strategy::timestamp) fn swaps(&self) -> bool {
        self.won == Won::Unchanged
    }

    /// Whether the clock is the server's.
    pub(in crate::strategy::timestamp) fn asks_time(&self) -> bool {
        self.server_clock
    }

    /// Who wrote `stamp`, which this dialect does not tell, and until when.
    pub(in crate::strategy::timestamp) fn holder(&self, stamp: Vec<u8>, now: WallTime) -> Holder {
        // One that must lie below a clock passes with the next whole unit.
        let last = match self.passed {
            Passed::Below => Duration::from_micros(self.unit.step()),
            Passed::AtMost => Duration::ZERO,
        };
        let remaining = self
            .parse(&stamp)
            .map(|end| (end.since_epoch() + last).saturating_sub(now.since_epoch()));
        self.holder_lasting(stamp, remaining)
    }

    /// Who wrote `stamp`; where it is none, the holder shows what stands there instead.
    pub(in crate::strategy::timestamp) fn holder_lasting(
        &self,
        stamp: Vec<u8>,
        remaining: Option<Duration>,
    ) -> Holder {
        let label = match self.read(&stamp) {
            Stamp::Until(_) => "a time stamp".to_owned(),
            Stamp::Forever => "a time stamp without an end".to_owned(),
            Stamp::None => {
                let head = &stamp[..stamp.len().min(64)];
                format!("\"{}\", which is no stamp,", head.escape_ascii())
            }
        };
        Holder::of(stamp).labelled(label).lasting(remaining)
    }

    /// What stands for the owner in our own stamps.
    pub(in crate::strategy::timestamp) fn owner_part(
        &self,
        ticket: &Ticket,
        owner: &Owner,
    ) -> String {
        match self.part {
            Part::None => String::new(),
            Part::Before(_) => ticket.to_string(),
            Part::After(separator) => {
                let owner = owner.to_string();
                let number = owner.rsplit(':').next().unwrap_or("0");
                format!("{}{separator}{number}", std::process::id())
            }
        }
    }

    /// The least margin for clocks that makes sense in this unit, in ms.
    pub(in crate::strategy::timestamp) fn least_margin(&self) -> u64 {
        if self.unit.step() < 1_000_000 {
            0
        } else {
            1_000
        }
    }

    /// Says to a script how stamps are written and read, in its last arguments: see stamp.lua.
    pub(in crate::strategy::timestamp) fn tell(&self, call: Call, owner: &str) -> Call {
        let (before, after) = match self.part {
            Part::None => (String::new(), String::new()),
            Part::Before(separator) => (format!("{owner}{separator}"), String::new()),
            Part::After(separator) => (String::new(), format!("{separator}{owner}")),
        };
        let call = call
            .arg(self.unit.letter())
            .number((self.unit.step() / 1_000).max(1))
            .number(micros(self.slack) / 1_000)
            .arg(before)
            .arg(after);
        self.forever.iter().fold(call, |call, word| call.arg(*word))
    }
}

fn micros(time: Duration) -> Micros {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
