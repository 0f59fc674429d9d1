//! How long to pause between two tries: a value, and a fresh iterator for each call.

use std::time::Duration;

/// How long a waiter pauses between two tries, and how often it tries.
///
/// It is a value: every acquisition takes a fresh sequence of delays from it, so that no
/// budget leaks from one into the next. Whatever it says, a delay never outlasts the wait
/// that is left, the last try happens at the deadline, and a wait of zero is one try.
///
/// Defaults to [`Retry::uniform`] over 0 to 100 ms: waiters that began together spread at
/// once, and a freed lock stands idle for 50 ms divided by the number of waiters. Shorter
/// delays take it up sooner and cost the server more commands.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::{Jitter, Retry};
///
/// let ms = Duration::from_millis;
/// let retry = Retry::exponential(ms(10), ms(400)).jitter(Jitter::None).limit(5);
/// let delays: Vec<_> = retry.delays().collect();
/// assert_eq!(delays, [ms(10), ms(20), ms(40), ms(80)]); // between five tries
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    first: Duration,
    cap: Duration,
    jitter: Jitter,
    tries: Option<u32>,
}

/// How a delay is spread, so that waiters do not come all at once.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::{Jitter, Retry};
///
/// let max = Duration::from_millis(50);
/// let retry = Retry::fixed(max).jitter(Jitter::Equal);
/// assert!(retry.delays().take(100).all(|delay| delay >= max / 2 && delay <= max));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// The delay as it is.
    None,
    /// Anything from zero to the delay.
    Full,
    /// Half of the delay, and anything up to the other half.
    Equal,
    /// Anything from the first delay to three times the one before, at most the cap.
    Decorrelated,
}

impl Retry {
    /// Pauses for `delay` each time.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let retry = leasehold::Retry::fixed(Duration::from_millis(100));
    /// assert!(retry.delays().take(3).all(|delay| delay == Duration::from_millis(100)));
    /// ```
    pub fn fixed(delay: Duration) -> Self {
        Self {
            first: delay,
            cap: delay,
            jitter: Jitter::None,
            tries: None,
        }
    }

    /// Pauses for anything from zero to `max`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let max = Duration::from_millis(100);
    /// assert!(leasehold::Retry::uniform(max).delays().take(100).all(|delay| delay <= max));
    /// ```
    pub fn uniform(max: Duration) -> Self {
        Self::fixed(max).jitter(Jitter::Full)
    }

    /// Pauses for `first`, then twice as long each time, at most `cap`; with full jitter
    /// unless told otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::{Jitter, Retry};
    ///
    /// let ms = Duration::from_millis;
    /// let retry = Retry::exponential(ms(1), ms(5)).jitter(Jitter::None);
    /// let delays: Vec<_> = retry.delays().take(5).collect();
    /// assert_eq!(delays, [ms(1), ms(2), ms(4), ms(5), ms(5)]);
    /// ```
    pub const fn exponential(first: Duration, cap: Duration) -> Self {
        Self {
            first,
            cap,
            jitter: Jitter::Full,
            tries: None,
        }
    }

    /// Spreads the delays as `jitter` says.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::{Jitter, Retry};
    ///
    /// let delay = Duration::from_millis(100);
    /// assert_eq!(Retry::fixed(delay).jitter(Jitter::Full), Retry::uniform(delay));
    /// ```
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// Tries at most `tries` times, the first one included, also where time is left.
    ///
    /// Defaults to no limit but the wait itself. Zero counts as one: an acquisition always
    /// tries once.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let retry = leasehold::Retry::fixed(Duration::ZERO).limit(3);
    /// assert_eq!(retry.delays().count(), 2);
    /// ```
    pub fn limit(mut self, tries: u32) -> Self {
        self.tries = Some(tries);
        self
    }

    /// A fresh sequence of delays, one between each two tries.
    ///
    /// # Examples
    ///
    /// ```
    /// let retry = leasehold::Retry::default().limit(3);
    /// assert_eq!(retry.delays().count(), 2);
    /// assert_eq!(retry.delays().count(), 2); // nothing was used up
    /// ```
    pub fn delays(&self) -> Delays {
        Delays {
            retry: *self,
            step: self.first.min(self.cap),
            left: self.tries.map(|tries| tries.saturating_sub(1)),
        }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::uniform(Duration::from_millis(100))
    }
}

/// The delays of one acquisition: see [`Retry::delays`].
///
/// # Examples
///
/// ```
/// let mut delays = leasehold::Retry::default().limit(2).delays();
/// assert!(delays.next().is_some());
/// assert!(delays.next().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Delays {
    retry: Retry,
    step: Duration,
    left: Option<u32>,
}

impl Delays {
    /// The next delay, cut to what is `left` of the wait: `None` where no try is left or
    /// no time.
    pub(crate) fn next_within(&mut self, left: Duration) -> Option<Duration> {
        if left.is_zero() {
            return None;
        }
        self.next().map(|delay| delay.min(left))
    }
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let Retry {
            first, cap, jitter, ..
        } = self.retry;
        let step = self.step;
        self.step = step.saturating_mul(2).min(cap);
        Some(match jitter {
            Jitter::None => step,
            Jitter::Full => between(Duration::ZERO, step),
            Jitter::Equal => between(step / 2, step),
            Jitter::Decorrelated => {
                self.step = between(first, step.saturating_mul(3)).min(cap);
                self.step
            }
        })
    }
}

fn between(low: Duration, high: Duration) -> Duration {
    let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(fastrand::u64(nanos(low)..=nanos(high).max(nanos(low))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_duration() -> impl Strategy<Value = Duration> {
        prop_oneof![
            (0_u64..5_000).prop_map(Duration::from_millis),
            any::<u64>().prop_map(Duration::from_nanos),
            Just(Duration::MAX),
        ]
    }

    fn any_retry() -> impl Strategy<Value = Retry> {
        let jitter = prop_oneof![
            Just(Jitter::None),
            Just(Jitter::Full),
            Just(Jitter::Equal),
            Just(Jitter::Decorrelated),
        ];
        (any_duration(), any_duration(), jitter)
            .prop_map(|(first, cap, jitter)| Retry::exponential(first, cap).jitter(jitter))
    }

    proptest! {
        #[test]
        fn no_delay_exceeds_the_cap(retry in any_retry()) {
            for delay in retry.delays().take(200) {
                prop_assert!(delay <= retry.cap);
            }
        }

        #[test]
        fn no_delay_outlasts_the_wait(retry in any_retry(), left in any_duration()) {
            match retry.delays().next_within(left) {
                Some(delay) => prop_assert!(delay <= left && !left.is_zero()),
                None => prop_assert!(left.is_zero()),
            }
        }

        #[test]
        fn a_limit_counts_tries(retry in any_retry(), tries in 0_u32..100) {
            let delays = retry.limit(tries).delays().count();
            prop_assert_eq!(delays, tries.max(1) as usize - 1);
        }

        #[test]
        fn equal_jitter_keeps_half(first in any_duration()) {
            let retry = Retry::fixed(first).jitter(Jitter::Equal);
            for delay in retry.delays().take(50) {
                prop_assert!(delay >= (first / 2).min(Duration::from_nanos(u64::MAX)));
            }
        }

        #[test]
        fn decorrelated_jitter_starts_at_the_first(first in 1_u64..1_000, cap in 1_000_u64..9_000) {
            let retry = Retry::exponential(Duration::from_millis(first), Duration::from_millis(cap))
                .jitter(Jitter::Decorrelated);
            let mut before = Duration::from_millis(first);
            for delay in retry.delays().take(50) {
                prop_assert!(delay >= Duration::from_millis(first));
                prop_assert!(delay <= before.saturating_mul(3));
                before = delay;
            }
        }
    }

    #[test]
    fn a_used_sequence_does_not_wear_out_its_value() {
        let retry = Retry::fixed(Duration::from_millis(1)).limit(4);
        assert_eq!(retry.delays().count(), 3);
        assert_eq!(retry.delays().count(), 3);
    }

    #[test]
    fn full_jitter_reaches_the_whole_range() {
        let delays: Vec<_> = Retry::default().delays().take(2_000).collect();
        assert!(delays.iter().any(|delay| *delay < Duration::from_millis(5)));
        assert!(
            delays
                .iter()
                .any(|delay| *delay > Duration::from_millis(95))
        );
    }
}
