//! Acquiring once more what one's owner holds already.

use std::sync::Arc;

use super::{Acquisition, Vain};
use crate::clock::{self, Moment};
use crate::hold::Held;
use crate::lease::Lease;
use crate::link::{Failure, Place};
use crate::loss::Loss;
use crate::name::Ticket;
use crate::strategy::{Attempt, Claim, Hold};

impl Acquisition<'_> {
    /// Asks for a hold within `outer`, whose turn is the caller's; `None` where that has come
    /// to its end.
    ///
    /// A question that is not answered cannot leave a lock that nobody holds: it changes the
    /// count of a hold that is there, and never makes one.
    pub(super) fn ask_within(
        &mut self,
        place: &mut Place,
        outer: &Arc<Held>,
        until: Moment,
    ) -> Option<Result<Lease, Vain>> {
        // Looked at only now: it may have ended while its turn was waited for.
        if outer.is_over() || outer.check().is_err() {
            return None;
        }
        let mut claim = Claim {
            owner: outer.alias,
            ticket: Ticket::fresh(),
            count: outer.count() + 1,
            lease: outer.at_least(self.terms.lease),
            now: clock::wall(),
            ..self.claim.clone()
        };
        let sent = clock::now();
        let strategy = &self.terms.strategy;
        let asked = self.core.acquire_from(place, strategy, &mut claim, until);
        match asked {
            Ok(Attempt::Granted(grant)) => {
                if outer.reenter(&grant, claim.lease, sent) {
                    return Some(Ok(self.lease(Arc::clone(outer), grant.fence())));
                }
                // The outer hold came to its end meanwhile, and this grant has made it longer.
                let hold = outer.describe(0);
                let _ = self.core.leave_from(place, strategy, &hold, until);
                None
            }
            Ok(Attempt::Held(holder)) => {
                outer.lose(Loss::Taken);
                Some(Err(self.held(holder)))
            }
            Ok(Attempt::OuterGone | Attempt::Withdrawn) => {
                let forgotten = self.core.was_forgotten(outer, until);
                outer.lose(if forgotten {
                    Loss::Forgotten
                } else {
                    Loss::Deleted
                });
                None
            }
            Err(miss) => {
                self.count_in_doubt |= miss.failure.may_have_run();
                Some(Err(Vain::Failed(miss.failure)))
            }
        }
    }

    /// Writes the count of the owner's hold again, where an unheard question may have changed
    /// it: other clients of the protocol show it.
    pub(super) fn mend_count(&self, until: Moment) {
        let outer = self.core.holdings.find(&self.claim.name, &self.owner);
        let Some(outer) = outer.filter(|_| self.count_in_doubt) else {
            return;
        };
        let Some(_turn) = outer.turn(until) else {
            return;
        };
        let count = outer.count();
        if count > 0 && !outer.is_over() && outer.check().is_ok() {
            let hold: Hold = outer.describe(count);
            let leave = || self.terms.strategy.leave(&hold);
            let lane = crate::link::Lane::Release;
            let _ = self.core.ask(&self.claim.name, leave, lane, until);
        }
    }
}

impl From<Failure> for Vain {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
