//! Until when a hold may be believed in, and when to renew it: pure arithmetic.
//!
//! Counted from the clock *before* the question was sent, since the server began to count
//! later than that, and less what two clocks may drift apart.

use std::time::Duration;

use crate::clock::Moment;
use crate::config::{LeaseTime, Renewal};

/// The shortest pause after a renewal that failed.
const SOONEST: Duration = Duration::from_millis(5);

/// The end of what may be believed of a lease that was asked for at `sent` and granted.
pub(crate) fn valid_until(sent: Moment, lease: LeaseTime) -> Moment {
    sent + lease
        .as_duration()
        .saturating_sub(drift(lease.as_duration()))
}

/// The lease to ask for so that at least `believed` may be believed of it.
pub(crate) fn whole_lease(believed: Duration) -> Duration {
    believed + believed / 50 + Duration::from_millis(5)
}

/// What the server's clock and ours may differ by in the course of a lease: a hundredth,
/// and 2 ms for the server's own granularity.
pub(crate) fn drift(lease: Duration) -> Duration {
    lease / 100 + Duration::from_millis(2)
}

/// How a hold is renewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The lease that a renewal asks for.
    lease: LeaseTime,
    /// How long after it was asked for a lease is renewed; never, where there is none.
    every: Option<Duration>,
    /// For how long a hold may be renewed.
    max_hold: Duration,
}

/// What is to be done about a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Ask the server for that lease.
    Renew(LeaseTime),
    /// Ask the server for that lease, which is all that it may still be held.
    RenewLast(LeaseTime),
    /// Look again at its end: it may not be held for longer.
    Overstayed,
    /// Look again at its end: it is not renewed.
    Watch,
}

impl Pace {
    pub(crate) fn new(renewal: Renewal, lease: LeaseTime, max_hold: Duration) -> Self {
        Self {
            lease,
            every: renewal.every(lease),
            max_hold,
        }
    }

    pub(crate) fn renews(&self) -> bool {
        self.every.is_some()
    }

    /// When a hold that was last granted or renewed to `lease`, to end at `valid_until`, is
    /// due: as long before its end as a fresh lease would be.
    pub(crate) fn due_at(&self, valid_until: Moment) -> Moment {
        let Some(every) = self.every else {
            return valid_until;
        };
        let whole = self.lease.as_duration();
        let before_end = whole.saturating_sub(drift(whole)).saturating_sub(every);
        valid_until.before(before_end)
    }

    /// When to renew again after a failure at `now`: sooner, and not all at once.
    pub(crate) fn again_at(&self, now: Moment, valid_until: Moment) -> Moment {
        let whole = self.lease.as_duration();
        let spread = (whole / 60).max(SOONEST).as_micros();
        let spread = u64::try_from(spread).unwrap_or(u64::MAX / 4);
        let pause = Duration::from_micros(fastrand::u64(spread..=spread * 3));
        valid_until.min(now + pause)
    }

    /// What is to be done about a hold that began at `began`.
    pub(crate) fn due(&self, began: Moment, now: Moment) -> Due {
        if self.every.is_none() {
            return Due::Watch;
        }
        let left = (began + self.max_hold).since(now);
        if left > self.lease.as_duration() {
            return Due::Renew(self.lease);
        }
        LeaseTime::new(left).map_or(Due::Overstayed, Due::RenewLast)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock;

    fn lease(millis: u64) -> LeaseTime {
        LeaseTime::new(Duration::from_millis(millis)).unwrap()
    }

    proptest! {
        #[test]
        fn belief_ends_before_the_lease_does(millis in 10_u64..1_000_000_000) {
            let sent = clock::now();
            let believed = valid_until(sent, lease(millis)).since(sent);
            prop_assert!(believed < Duration::from_millis(millis));
            prop_assert!(believed >= Duration::from_millis(millis) * 7 / 10);
        }

        #[test]
        fn an_answer_that_took_longer_than_its_lease_grants_nothing(
            millis in 10_u64..100_000,
            late in 0_u64..100_000,
        ) {
            let sent = clock::now();
            let came = sent + Duration::from_millis(millis + late);
            prop_assert!(valid_until(sent, lease(millis)) < came);
        }

        #[test]
        fn a_whole_lease_is_enough(millis in 10_u64..1_000_000_000) {
            let believed = Duration::from_millis(millis);
            let sent = clock::now();
            let whole = LeaseTime::at_least(whole_lease(believed));
            prop_assert!(valid_until(sent, whole) >= sent + believed);
        }

        #[test]
        fn a_renewal_comes_at_a_third_and_before_the_end(millis in 10_u64..1_000_000) {
            let pace = Pace::new(Renewal::Third, lease(millis), Duration::MAX);
            let sent = clock::now();
            let end = valid_until(sent, lease(millis));
            let due = pace.due_at(end);
            prop_assert!(due < end);
            let third = Duration::from_millis(millis) / 3;
            let error = due.since(sent).abs_diff(third);
            prop_assert!(error <= Duration::from_millis(1), "{error:?}");
        }

        #[test]
        fn a_renewal_that_failed_is_tried_before_the_end(millis in 10_u64..1_000_000) {
            let pace = Pace::new(Renewal::Third, lease(millis), Duration::MAX);
            let now = clock::now();
            let end = now + Duration::from_millis(millis);
            let again = pace.again_at(now, end);
            prop_assert!(again > now && again <= end);
        }
    }

    #[test]
    fn nothing_is_held_for_longer_than_it_may() {
        let pace = Pace::new(Renewal::Third, lease(30_000), Duration::from_secs(60));
        let began = clock::now();
        let secs = |secs| began + Duration::from_secs(secs);
        assert_eq!(pace.due(began, secs(10)), Due::Renew(lease(30_000)));
        assert_eq!(pace.due(began, secs(50)), Due::RenewLast(lease(10_000)));
        assert_eq!(pace.due(began, secs(60)), Due::Overstayed);
        assert_eq!(pace.due(began, secs(90)), Due::Overstayed);
        let endless = Pace::new(Renewal::Third, lease(30_000), Duration::MAX);
        assert_eq!(endless.due(began, secs(90)), Due::Renew(lease(30_000)));
    }

    #[test]
    fn what_is_not_renewed_is_looked_at_when_it_ends() {
        let pace = Pace::new(Renewal::Off, lease(30_000), Duration::from_secs(60));
        let now = clock::now();
        assert_eq!(pace.due(now, now), Due::Watch);
        assert_eq!(pace.due_at(now), now);
    }
}
