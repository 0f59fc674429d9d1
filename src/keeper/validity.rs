//! Until when a hold may be believed in: pure arithmetic.
//!
//! Counted from the clock *before* the question was sent, since the server began to count
//! later than that, and less what two clocks may drift apart.

use std::time::Duration;

use crate::clock::Moment;
use crate::config::LeaseTime;

/// The end of what may be believed of a lease that was asked for at `sent` and granted.
pub(crate) fn valid_until(sent: Moment, lease: LeaseTime) -> Moment {
    sent + lease
        .as_duration()
        .saturating_sub(drift(lease.as_duration()))
}

/// What the server's clock and ours may differ by in the course of a lease: a hundredth,
/// and 2 ms for the server's own granularity.
fn drift(lease: Duration) -> Duration {
    lease / 100 + Duration::from_millis(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock;

    proptest! {
        #[test]
        fn belief_ends_before_the_lease_does(lease in 10_u64..1_000_000_000) {
            let lease = LeaseTime::new(Duration::from_millis(lease)).unwrap();
            let sent = clock::now();
            let believed = valid_until(sent, lease).since(sent);
            prop_assert!(believed < lease.as_duration());
            prop_assert!(believed >= lease.as_duration() * 7 / 10);
        }

        #[test]
        fn an_answer_that_took_longer_than_its_lease_grants_nothing(
            lease in 10_u64..100_000,
            late in 0_u64..100_000,
        ) {
            let lease = LeaseTime::new(Duration::from_millis(lease)).unwrap();
            let sent = clock::now();
            let came = sent + lease.as_duration() + Duration::from_millis(late);
            prop_assert!(valid_until(sent, lease) < came);
        }
    }
}
