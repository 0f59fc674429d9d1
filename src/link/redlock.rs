//! Acquiring and leaving on several servers: what one majority decides, and what is undone.

use super::Failure;
use super::fan::{Fan, Poll};
use super::quorum::{Tally, Vote, majority, seats, unraised};
use super::{Ask, Question, Seats};
use crate::clock::{self, Moment};
use crate::exchange::{Exchange, Talk};
use crate::fence::Fence;
use crate::keeper::validity::valid_until;
use crate::strategy::{Attempt, Claim, Grant, Hold, Kept, Left, LockStrategy};

/// What came of acquiring.
pub(crate) struct Acquired {
    pub(crate) attempt: Result<Attempt, Failure>,
    /// Where something may still stand that is no part of a grant.
    pub(crate) unsettled: Seats,
}

impl Fan {
    /// Asks all servers for the lock. It is granted by a majority, while something of the lease
    /// is left; otherwise what was granted, or may have been, is undone before this returns. A
    /// server that did not answer in time is no part of a grant, and is undone too.
    pub(super) fn acquire(
        &mut self,
        strategy: &dyn LockStrategy,
        claim: &Claim,
        until: Moment,
    ) -> Acquired {
        let sent = clock::now();
        let ask = Ask::of(|| strategy.acquire(claim));
        let age = claim.lease().as_duration();
        let Poll { mut votes, owing } = self.poll(std::slice::from_ref(&ask), age, until);
        let votes = votes.swap_remove(0);
        let attempt = self.decide(strategy, claim, &votes, until);
        let attempt = attempt.and_then(|attempt| match attempt {
            Attempt::Granted(_) if clock::now() >= valid_until(sent, claim.lease()) => {
                Err(Failure::TooLate)
            }
            attempt => Ok(attempt),
        });
        let granted = seats(&votes, |vote| matches!(vote, Ok(Attempt::Granted(_))));
        let doubtful = seats(&votes, |vote| {
            vote.as_ref().is_err_and(Failure::may_have_run)
        });
        let undone = match attempt {
            Ok(Attempt::Granted(_)) => doubtful,
            _ => granted.and(doubtful),
        };
        let undo = Undo {
            strategy,
            hold: claim.undo(),
            seats: undone,
            doubtful,
        };
        Acquired {
            attempt,
            unsettled: self.undo(undo, owing),
        }
    }

    fn decide(
        &mut self,
        strategy: &dyn LockStrategy,
        claim: &Claim,
        votes: &[Vote<Attempt>],
        until: Moment,
    ) -> Result<Attempt, Failure> {
        let attempt = Attempt::tally(votes).ok_or_else(|| self.nodes.shortfall(votes, true))?;
        if let Attempt::Granted(grant) = &attempt
            && let Some(fence) = grant.fence()
        {
            self.write_back(strategy, claim, grant, unraised(votes, fence), until)?;
        }
        Ok(attempt)
    }

    /// Writes the fence of a grant to those servers that store less: a majority must store it
    /// before anybody learns of it.
    fn write_back(
        &mut self,
        strategy: &dyn LockStrategy,
        claim: &Claim,
        grant: &Grant,
        lower: Seats,
        until: Moment,
    ) -> Result<(), Failure> {
        let mut hold = claim.undo();
        hold.mark = grant.mark().map(<[u8]>::to_vec);
        let further = u64::from(claim.fences().saturating_sub(1));
        hold.fence = grant
            .fence()
            .map(|fence| Fence::new(fence.number() + further));
        let write = Ask::of(|| strategy.extend(&hold, claim.lease())).at(lower);
        let votes = self.votes(&write, until);
        let kept = seats(&votes, |vote| matches!(vote, Ok(Kept::Kept { .. })));
        let count = self.nodes.count();
        let equal = grant.seats.iter(count).filter(|&seat| !lower.has(seat));
        if kept.iter(count).count() + equal.count() >= majority(count) {
            return Ok(());
        }
        Err(self.nodes.shortfall(&votes, true))
    }

    /// Undoes: on the very connections first where an answer is owed, behind the question.
    /// Gives the seats that gave no answer to that either.
    fn undo(&mut self, mut undo: Undo<'_>, owing: Vec<(usize, super::Poisoned)>) -> Seats {
        if undo.seats.is_empty() {
            return Seats::NONE;
        }
        let count = self.nodes.count();
        let settled = if owing.is_empty() {
            Seats::NONE
        } else {
            self.ask_behind(owing, &undo)
        };
        let open = undo.seats.iter(count).filter(|&seat| !settled.has(seat));
        undo.seats = open.collect();
        if undo.seats.is_empty() {
            return Seats::NONE;
        }
        let votes = self.votes(&undo, clock::now() + self.nodes.timeouts.io);
        seats(&votes, Result::is_err)
    }

    /// Leaves. Gives the answer of the majority, and the seats that gave none.
    pub(super) fn leave<'a>(
        &mut self,
        leave: impl Fn() -> Exchange<Left> + 'a,
        at: Seats,
        until: Moment,
    ) -> (Result<Left, Failure>, Seats) {
        let votes = self.votes(&Ask::of(leave).at(at), until);
        let left = Left::tally(&votes).ok_or_else(|| self.nodes.shortfall(&votes, false));
        (left, seats(&votes, Result::is_err))
    }
}

/// Leaves what was granted, or may have been.
struct Undo<'a> {
    strategy: &'a dyn LockStrategy,
    hold: Hold,
    seats: Seats,
    /// Where the question may still come in, and must then be refused.
    doubtful: Seats,
}

impl Question for Undo<'_> {
    type Answer = Left;

    fn talk(&self, seat: usize) -> Result<Talk<Left>, Failure> {
        let mut hold = self.hold.clone();
        if self.doubtful.has(seat) {
            return Ok(Talk::by_source(self.strategy.leave(&hold)));
        }
        hold.undo = None;
        Ok(Talk::new(self.strategy.leave(&hold)))
    }

    fn seats(&self) -> Seats {
        self.seats
    }
}
