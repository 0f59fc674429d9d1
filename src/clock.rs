//! The only file that reads time or sleeps.
//!
//! Two clocks: one that never jumps and counts a suspended machine's sleep, for
//! everything that is decided here; and the wall clock, for the one strategy whose
//! data are time stamps.

use std::ops::Add;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point on the clock that never jumps.
///
/// On Linux this is `CLOCK_BOOTTIME`: a lease that ran out while the lid was closed
/// has run out. [`Instant`] stops there (rust-lang/rust#87906).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    /// The time from `earlier` to this moment; zero where `earlier` is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time left until this moment; zero once it has passed.
    pub(crate) fn remaining(self) -> Duration {
        self.since(now())
    }

    /// The moment that lies `earlier` before this one.
    pub(crate) fn before(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(earlier))
    }

    pub(crate) fn checked_add(self, later: Duration) -> Option<Self> {
        self.0.checked_add(later).map(Self)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }
}

/// Reads the clock that never jumps.
#[cfg(unix)]
pub(crate) fn now() -> Moment {
    use rustix::time::{ClockId, clock_gettime};

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;

    let time = clock_gettime(CLOCK);
    Moment(Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    ))
}

/// Reads the clock that never jumps.
#[cfg(not(unix))]
pub(crate) fn now() -> Moment {
    use std::sync::LazyLock;

    #[allow(clippy::disallowed_methods)] // this is the door
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    Moment(START.elapsed())
}

/// The moment that std calls `instant`.
#[allow(clippy::disallowed_methods)] // this is the door
pub(crate) fn moment(instant: Instant) -> Moment {
    now() + instant.saturating_duration_since(Instant::now())
}

/// Blocks the calling thread for `duration`.
#[allow(clippy::disallowed_methods)] // this is the door
pub(crate) fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// The time on the clock that never jumps, counted from a start that means nothing.
pub(crate) fn elapsed() -> Duration {
    now().0
}

/// Reads the wall clock.
#[allow(clippy::disallowed_methods)] // this is the door
pub(crate) fn wall() -> WallTime {
    WallTime(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
    )
}

/// The time that a clock on the wall shows, counted from 1970.
///
/// It may jump, and it differs from machine to machine. Nothing in this crate decides
/// by it, but for the strategy whose data are time stamps: see
/// [`Answer::at`](crate::Answer::at).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::WallTime;
///
/// let then = WallTime::from_epoch(Duration::from_millis(1_369_146_345_123));
/// assert_eq!(then.as_millis(), 1_369_146_345_123);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(Duration);

impl WallTime {
    /// The wall time that lies `elapsed` after the start of 1970.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let start = leasehold::WallTime::from_epoch(Duration::ZERO);
    /// assert_eq!(start.as_millis(), 0);
    /// ```
    pub fn from_epoch(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// The time since the start of 1970.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let time = leasehold::WallTime::from_epoch(Duration::from_secs(5));
    /// assert_eq!(time.since_epoch(), Duration::from_secs(5));
    /// ```
    pub fn since_epoch(self) -> Duration {
        self.0
    }

    /// Whole milliseconds since the start of 1970.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let time = leasehold::WallTime::from_epoch(Duration::from_micros(1_999));
    /// assert_eq!(time.as_millis(), 1);
    /// ```
    pub fn as_millis(self) -> i64 {
        i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_never_goes_back() {
        let mut last = now();
        for _ in 0..10_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }

    #[test]
    fn time_that_has_passed_leaves_nothing() {
        let moment = now();
        assert_eq!(moment.remaining(), Duration::ZERO);
        assert_eq!(
            moment.since(moment + Duration::from_secs(1)),
            Duration::ZERO
        );
    }

    #[test]
    fn an_instant_of_std_becomes_a_moment() {
        #[allow(clippy::disallowed_methods)]
        let later = Instant::now() + Duration::from_secs(60);
        let left = moment(later).remaining();
        assert!(left > Duration::from_secs(50) && left <= Duration::from_secs(60));
    }
}
