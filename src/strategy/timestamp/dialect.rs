//! How a legacy client writes the end of its lock, and when it holds it for passed.

mod presets;
mod rules;
mod stamps;
mod unit;
#[cfg(test)]
mod vectors;

use std::time::Duration;

pub use rules::{Passed, Release, Won};
pub use unit::Unit;

use crate::clock::WallTime;
use crate::error::Error;

/// One family of SETNX/GETSET locks: what its stamps look like, and by what rules its clients
/// take over and release.
///
/// There is one for every [known](Dialect::all) family; [`custom`](Dialect::custom) makes
/// others. [`Timestamp::guarded`](crate::strategy::Timestamp::guarded) needs of it only how
/// stamps are written and read. The rules are those that
/// [`Timestamp::classic`](crate::strategy::Timestamp::classic) follows.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::strategy::Dialect;
///
/// let at = leasehold::WallTime::from_epoch(Duration::from_millis(1_369_146_345_123));
/// let lease = leasehold::LeaseTime::new(Duration::from_secs(60))?;
/// assert_eq!(Dialect::seconds().stamp(at, lease, ""), b"1369146406");
/// assert_eq!(Dialect::java_millis().stamp(at, lease, ""), b"1369146405124");
/// assert_eq!(Dialect::redis_py_28().stamp(at, lease, ""), b"1369146405.123");
/// assert_eq!(Dialect::redis_lock_ruby().stamp(at, lease, "7-8"), b"1369146406-7-8");
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    name: &'static str,
    unit: Unit,
    slack: Duration,
    passed: Passed,
    won: Won,
    release: Release,
    part: Part,
    forever: &'static [&'static str],
    server_clock: bool,
}

/// Where a stamp says whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    None,
    Before(char),
    After(char),
}

/// What a value under a lock's key says in a dialect.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::{Dialect, Stamp};
///
/// let dialect = Dialect::resque_lock_timeout();
/// assert!(matches!(dialect.read(b"1369146405"), Stamp::Until(_)));
/// assert_eq!(dialect.read(b"true"), Stamp::Forever);
/// assert_eq!(dialect.read(b"soon"), Stamp::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The lock ends then.
    Until(WallTime),
    /// The lock has no end: the dialect's own word for that.
    Forever,
    /// It is no stamp of the dialect. The lock counts as held.
    None,
}

impl Dialect {
    /// A dialect of one's own: stamps in `unit` without slack, passed where below now, won and
    /// released only where nothing has changed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use leasehold::strategy::{Dialect, Release, Unit, Won};
    ///
    /// let dialect = Dialect::custom(Unit::Millis)
    ///     .slack(Duration::from_millis(1))
    ///     .won(Won::SameOrMissing)
    ///     .release(Release::Always)
    ///     .owner_after('|')?;
    /// let end = dialect.parse(b"1369146405124|web-3|af31").unwrap();
    /// assert_eq!(end.as_millis(), 1_369_146_405_124);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn custom(unit: Unit) -> Self {
        Self {
            name: "custom",
            unit,
            slack: Duration::ZERO,
            passed: Passed::Below,
            won: Won::Same,
            release: Release::Same,
            part: Part::None,
            forever: &[],
            server_clock: false,
        }
    }

    /// Adds that much to every end, cut to whole units: the `+ 1` of most clients.
    ///
    /// Defaults to nothing. More than a day is a day.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Unit};
    /// let dialect = Dialect::custom(Unit::Seconds).slack(std::time::Duration::from_secs(1));
    /// # drop(dialect);
    /// ```
    pub fn slack(mut self, slack: Duration) -> Self {
        self.slack = slack.min(Duration::from_secs(24 * 60 * 60));
        self
    }

    /// Sets when a stamp has passed. Defaults to [`Passed::Below`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Passed, Unit};
    /// let dialect = Dialect::custom(Unit::Seconds).passed(Passed::AtMost);
    /// # drop(dialect);
    /// ```
    pub fn passed(mut self, passed: Passed) -> Self {
        self.passed = passed;
        self
    }

    /// Sets when a take-over is won. Defaults to [`Won::Same`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Unit, Won};
    /// let dialect = Dialect::custom(Unit::Seconds).won(Won::Passed);
    /// # drop(dialect);
    /// ```
    pub fn won(mut self, won: Won) -> Self {
        self.won = won;
        self
    }

    /// Sets what a release deletes. Defaults to [`Release::Same`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Release};
    /// let snippet = Dialect::retools().release(Release::Always);
    /// # drop(snippet);
    /// ```
    pub fn release(mut self, release: Release) -> Self {
        self.release = release;
        self
    }

    /// Has the owner stand before the stamp: `<owner><separator><stamp>`. A stamp without it is
    /// none.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where the separator is not
    /// a punctuation mark of ASCII, or the point, which stands in numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Unit};
    /// assert!(Dialect::custom(Unit::Millis).owner_before(':')?.parse(b"me:17").is_some());
    /// assert!(Dialect::custom(Unit::Millis).owner_before('7').is_err());
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn owner_before(mut self, separator: char) -> Result<Self, Error> {
        self.part = Part::Before(separate(separator)?);
        Ok(self)
    }

    /// Has the owner stand behind the stamp: `<stamp><separator><owner>`. A stamp without it is
    /// none.
    ///
    /// # Errors
    ///
    /// As [`owner_before`](Dialect::owner_before).
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Unit};
    /// assert!(Dialect::java_millis().owner_after('|')?.parse(b"17|host|me").is_some());
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn owner_after(mut self, separator: char) -> Result<Self, Error> {
        self.part = Part::After(separate(separator)?);
        Ok(self)
    }

    /// Sets the values that say that a lock has no end. Defaults to none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Dialect, Stamp, Unit};
    /// let dialect = Dialect::custom(Unit::Seconds).forever(&["true", "locked"]);
    /// assert_eq!(dialect.read(b"locked"), Stamp::Forever);
    /// ```
    pub fn forever(mut self, values: &'static [&'static str]) -> Self {
        self.forever = values;
        self
    }

    /// The name of the preset, or `custom`.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::strategy::Dialect::seconds().name(), "seconds");
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }
}

fn separate(separator: char) -> Result<char, Error> {
    if separator.is_ascii_punctuation() && separator != '.' {
        return Ok(separator);
    }
    let shown = format!("{separator:?}");
    let why = "it is a punctuation mark of ASCII, and not the point";
    Err(Error::config("separator", shown, why))
}
