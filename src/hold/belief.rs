//! What is believed of a hold: a value, changed by what is learned, told the time.

use std::time::Duration;

use crate::clock::Moment;
use crate::config::LeaseTime;
use crate::fence::Fence;
use crate::keeper::validity::{valid_until, whole_lease};
use crate::link::Seats;
use crate::loss::Loss;
use crate::strategy::{Grant, Kept};

/// What is believed of a hold.
#[derive(Debug)]
pub(super) struct Belief {
    pub(super) began: Moment,
    pub(super) lease: LeaseTime,
    pub(super) valid_until: Moment,
    pub(super) mark: Option<Vec<u8>>,
    pub(super) fence: Option<Fence>,
    /// Where it stands, of several servers.
    pub(super) seats: Seats,
    /// How many leases share the hold.
    pub(super) count: u32,
    /// Why it is lost, once it is; the first reason stays.
    pub(super) lost: Option<Loss>,
    /// The last lease is leaving, or has left.
    pub(super) over: bool,
    /// Somebody has the turn to ask the server.
    pub(super) busy: bool,
    /// The last renewal did not come through.
    pub(super) failing: bool,
    /// It was held for as long as it may be.
    pub(super) overstayed: bool,
}

impl Belief {
    pub(super) fn new(grant: &Grant, lease: LeaseTime, sent: Moment) -> Self {
        Self {
            began: sent,
            lease,
            valid_until: valid_until(sent, lease),
            mark: grant.mark().map(<[u8]>::to_vec),
            fence: grant.fence(),
            seats: grant.seats,
            count: 1,
            lost: None,
            over: false,
            busy: false,
            failing: false,
            overstayed: false,
        }
    }

    /// Fails once the hold is lost; notices that it has ended.
    pub(super) fn check(&mut self, now: Moment) -> Result<(), Loss> {
        if self.lost.is_none() && now >= self.valid_until {
            self.lost = Some(if self.overstayed {
                Loss::Overstayed
            } else if self.failing {
                Loss::Unreachable
            } else {
                Loss::Expired {
                    ago: now.since(self.valid_until),
                }
            });
        }
        self.lost.map_or(Ok(()), Err)
    }

    pub(super) fn remaining(&mut self, now: Moment) -> Duration {
        match self.check(now) {
            Ok(()) => self.valid_until.since(now),
            Err(_) => Duration::ZERO,
        }
    }

    /// The lease to ask for now: `lease`, or more where less would shorten what is believed.
    pub(super) fn at_least(&self, lease: LeaseTime, now: Moment) -> LeaseTime {
        let left = whole_lease(self.valid_until.since(now));
        lease.max(LeaseTime::at_least(left.min(self.lease.as_duration())))
    }

    /// Takes in what came of an extension to `lease` that was asked for at `sent`.
    pub(super) fn keep(
        &mut self,
        kept: Kept,
        lease: LeaseTime,
        sent: Moment,
        now: Moment,
    ) -> Result<(), Loss> {
        if self.over {
            return Ok(()); // it came late, and was refused for that
        }
        self.check(now)?;
        if let Some(loss) = kept.loss() {
            return Err(*self.lost.insert(loss));
        }
        if let Kept::Kept { mark: Some(mark) } = kept {
            self.mark = Some(mark);
        }
        self.lasts(lease, sent);
        Ok(())
    }

    /// Takes in that the owner acquired once more, by a question that was asked at `sent`;
    /// refuses that where the hold has come to its end meanwhile.
    pub(super) fn reenter(
        &mut self,
        grant: &Grant,
        lease: LeaseTime,
        sent: Moment,
        now: Moment,
    ) -> bool {
        if self.over || self.check(now).is_err() {
            return false;
        }
        self.count += 1;
        self.fence = grant.fence().or(self.fence);
        self.seats = self.seats.and(grant.seats);
        self.lasts(lease, sent);
        true
    }

    fn lasts(&mut self, lease: LeaseTime, sent: Moment) {
        self.failing = false;
        self.lease = lease;
        self.valid_until = self.valid_until.max(valid_until(sent, lease));
    }

    /// Takes in that one lease less shares the hold; how many are left.
    pub(super) fn leave(&mut self) -> u32 {
        self.count = self.count.saturating_sub(1);
        self.over = self.count == 0;
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    const LEASE: Duration = Duration::from_secs(10);

    fn belief(sent: Moment) -> Belief {
        Belief::new(&Grant::default(), LeaseTime::at_least(LEASE), sent)
    }

    fn kept() -> Kept {
        Kept::Kept { mark: None }
    }

    #[test]
    fn a_clock_that_jumped_ahead_ends_the_belief() {
        let start = clock::now();
        let mut belief = belief(start);
        assert!(belief.check(start + LEASE / 2).is_ok());
        let woke = start + LEASE * 360;
        let Err(Loss::Expired { ago }) = belief.check(woke) else {
            panic!("a suspended hour went unnoticed");
        };
        assert!(ago > LEASE * 359 && ago < LEASE * 360);
    }

    #[test]
    fn what_was_lost_stays_lost() {
        let start = clock::now();
        let mut belief = belief(start);
        assert!(belief.check(start + LEASE).is_err());
        let lease = LeaseTime::at_least(LEASE);
        assert!(
            belief
                .keep(kept(), lease, start + LEASE, start + LEASE)
                .is_err()
        );
        assert!(
            belief.check(start).is_err(),
            "also for a clock that went back"
        );
    }

    #[test]
    fn an_extension_counts_from_before_it_was_asked_for_and_never_shortens() {
        let start = clock::now();
        let mut belief = belief(start);
        let before = belief.valid_until;
        let short = LeaseTime::at_least(LEASE / 10);
        belief
            .keep(kept(), short, start, start + LEASE / 2)
            .unwrap();
        assert_eq!(belief.valid_until, before);
        let long = LeaseTime::at_least(LEASE);
        belief
            .keep(kept(), long, start + LEASE / 4, start + LEASE / 2)
            .unwrap();
        assert!(belief.valid_until < start + LEASE / 4 + LEASE);
        assert!(belief.valid_until > before);
    }

    #[test]
    fn a_question_never_asks_for_less_than_is_believed() {
        let start = clock::now();
        let belief = belief(start);
        let short = LeaseTime::at_least(LEASE / 10);
        let asked = belief.at_least(short, start + LEASE / 2);
        assert!(valid_until(start + LEASE / 2, asked) >= belief.valid_until);
        let long = LeaseTime::at_least(LEASE * 2);
        assert_eq!(belief.at_least(long, start), long);
    }

    #[test]
    fn an_end_says_why_it_came() {
        let start = clock::now();
        let mut unreachable = belief(start);
        unreachable.failing = true;
        assert_eq!(unreachable.check(start + LEASE), Err(Loss::Unreachable));
        let mut overstayed = belief(start);
        overstayed.overstayed = true;
        assert_eq!(overstayed.check(start + LEASE), Err(Loss::Overstayed));
    }

    #[test]
    fn nobody_enters_what_is_over_or_lost() {
        let start = clock::now();
        let lease = LeaseTime::at_least(LEASE);
        let enter = |belief: &mut Belief, now| belief.reenter(&Grant::default(), lease, now, now);
        let mut held = belief(start);
        assert!(enter(&mut held, start) && held.count == 2);
        let mut over = belief(start);
        over.leave();
        assert!(!enter(&mut over, start));
        let mut ended = belief(start);
        assert!(!enter(&mut ended, start + LEASE));
    }

    #[test]
    fn a_renewal_that_comes_after_the_release_is_no_loss() {
        let start = clock::now();
        let mut belief = belief(start);
        assert_eq!(belief.leave(), 0);
        let lease = LeaseTime::at_least(LEASE);
        assert!(belief.keep(Kept::Gone, lease, start, start).is_ok());
        assert_eq!(belief.lost, None);
    }
}
