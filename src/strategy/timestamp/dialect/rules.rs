//! What the clients of a dialect do beyond writing stamps: their own rules, which only
//! [`Timestamp::classic`](crate::strategy::Timestamp::classic) follows.

/// When a stamp has passed.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::{Dialect, Passed, Unit};
///
/// let now = leasehold::WallTime::from_epoch(std::time::Duration::from_secs(7));
/// let dialect = Dialect::custom(Unit::Seconds);
/// assert!(!dialect.clone().passed(Passed::Below).has_passed(b"7", now));
/// assert!(dialect.passed(Passed::AtMost).has_passed(b"7", now));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passed {
    /// stamp < now
    Below,
    /// stamp <= now
    AtMost,
}

/// When a client that has found a stamp passed has won the take-over.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::{Dialect, Unit, Won};
///
/// let dialect = Dialect::custom(Unit::Millis).won(Won::Same);
/// # drop(dialect);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Won {
    /// What its GETSET replaced had passed as well, or nothing stood there. Where clocks
    /// differ, two can win.
    Passed,
    /// What its GETSET replaced is, to the letter, what it had read. Where the key vanished in
    /// between, nobody wins, and the stamp stays to its date.
    Same,
    /// Likewise, or nothing stood there.
    SameOrMissing,
    /// It writes only where what it had read still stands: WATCH, MULTI, SET. Nobody's
    /// stamp is replaced by a loser's. Asked of the server as one script, since a
    /// connection carries other conversations too.
    Unchanged,
}

/// What a client deletes when it releases.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::{Dialect, Release, Unit};
///
/// let dialect = Dialect::custom(Unit::Millis).release(Release::Same);
/// # drop(dialect);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Release {
    /// Whatever stands there, at any time. After an overrun that is its successor's lock.
    Always,
    /// Whatever stands there, as long as what it wrote itself has not passed.
    BeforeItsEnd,
    /// GET, and what stands there, whoever wrote it, where that has not passed.
    Unexpired,
    /// GET, and what it wrote itself.
    Same,
    /// GET, and what is not earlier than what it wrote itself. After an overrun, that is always
    /// its successor's lock.
    AtLeastMine,
}
