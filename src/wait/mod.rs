//! Waiting for a lock: ask, pause, ask again, until the deadline.

mod doubt;

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{self, Moment};
use crate::config::Terms;
use crate::core::Core;
use crate::error::{Error, Repr};
use crate::hold::Held;
use crate::keeper::validity::valid_until;
use crate::lease::Lease;
use crate::link::{Failure, Lane};
use crate::loss::Loss;
use crate::name::{Name, Owner, Ticket};
use crate::observe::{Contended, Granted, Waited};
use crate::strategy::{Attempt, Claim, Grant, Holder};
use doubt::Doubt;

/// One acquisition, from its first question to its lease or its error.
#[derive(Debug)]
pub(crate) struct Acquisition<'a> {
    core: &'a Arc<Core>,
    terms: &'a Terms,
    claim: Claim,
    began: Moment,
    tries: u32,
    doubt: Doubt,
}

/// What one try came to, where it did not come to a lease.
enum Vain {
    /// Somebody else has it.
    Held(Holder),
    /// The server could not be asked, or could not do it.
    Failed(Failure),
}

impl<'a> Acquisition<'a> {
    pub(crate) fn new(core: &'a Arc<Core>, terms: &'a Terms, name: &Name, owner: Owner) -> Self {
        Self {
            core,
            terms,
            claim: Claim {
                owner,
                fences: u32::from(terms.fence),
                ..Claim::new(name.clone(), terms.lease)
            },
            began: clock::now(),
            tries: 0,
            doubt: Doubt::default(),
        }
    }

    /// Tries until `deadline`, the last time at it.
    pub(crate) fn run(mut self, deadline: Moment) -> Result<Lease, Error> {
        let mut delays = self.terms.retry.delays();
        self.claim.waits = deadline > self.began;
        if self.core.is_closed() {
            return Err(self.give_up(Vain::Failed(Failure::ShutDown)));
        }
        loop {
            let until = deadline.max(clock::now()) + self.core.link.io_timeout();
            let vain = match self.attempt(until) {
                Ok(lease) => return Ok(lease),
                Err(vain) => vain,
            };
            let delay = match &vain {
                Vain::Failed(failure) if !failure.is_passing() => None,
                _ => delays.next_within(deadline.remaining()),
            };
            let Some(delay) = delay else {
                return Err(self.give_up(vain));
            };
            if self.core.pause(vain.pause(delay)) {
                return Err(self.give_up(Vain::Failed(Failure::ShutDown)));
            }
        }
    }

    /// Asks once.
    fn attempt(&mut self, until: Moment) -> Result<Lease, Vain> {
        self.tries = self.tries.saturating_add(1);
        let busy = || Vain::Failed(Failure::Busy);
        let reenters = self.terms.strategy.reenters();
        let _entry = reenters
            .then(|| {
                self.core
                    .holdings
                    .enter(&self.claim, until)
                    .ok_or_else(busy)
            })
            .transpose()?;
        let (outer, _turn) = match self.outer() {
            Some(outer) => {
                let turn = outer.turn(until).ok_or_else(busy)?;
                // Its last lease may have left while we waited for the turn.
                if outer.is_over() {
                    (None, None)
                } else {
                    (Some(outer), Some(turn))
                }
            }
            None => (None, None),
        };
        self.claim.count = outer.as_ref().map_or(1, |outer| outer.count() + 1);
        self.claim.lease = match &outer {
            Some(outer) => outer.at_least(self.terms.lease),
            None => self.terms.lease,
        };
        self.claim.now = clock::wall();
        let sent = clock::now();
        let exchange = self.terms.strategy.acquire(&self.claim);
        let asked = self
            .core
            .ask(&self.claim.name, exchange, Lane::Common, until);
        match asked {
            Ok(Attempt::Granted(grant)) => self.granted(&grant, sent, outer.as_ref()),
            Ok(Attempt::Held(holder)) => Err(self.held(holder, outer.as_deref())),
            Ok(Attempt::Withdrawn) => {
                self.claim.ticket = Ticket::fresh();
                Err(Vain::Failed(Failure::TooLate))
            }
            Err(miss) => {
                self.doubt.note(&miss.failure, miss.owing);
                Err(Vain::Failed(miss.failure))
            }
        }
    }

    /// The hold of the same owner that this acquisition would re-enter.
    fn outer(&self) -> Option<Arc<Held>> {
        if !self.terms.strategy.reenters() {
            return None;
        }
        let outer = self
            .core
            .holdings
            .find(&self.claim.name, &self.claim.owner)?;
        outer.check().is_ok().then_some(outer)
    }

    fn held(&self, holder: Holder, outer: Option<&Held>) -> Vain {
        if let Some(outer) = outer {
            outer.lose(Loss::Taken);
        }
        self.core.watched().tell(|observer| {
            observer.contended(&Contended {
                name: &self.claim.name,
                holder: &holder,
            });
        });
        Vain::Held(holder)
    }

    /// Makes a lease of a grant, if it came before its own end.
    fn granted(
        &mut self,
        grant: &Grant,
        sent: Moment,
        outer: Option<&Arc<Held>>,
    ) -> Result<Lease, Vain> {
        if clock::now() >= valid_until(sent, self.claim.lease) {
            return Err(self.refuse(Failure::TooLate));
        }
        let held = match outer {
            Some(outer) if grant.count() == self.claim.count => {
                outer.reenter(grant, self.claim.lease, sent);
                Arc::clone(outer)
            }
            _ => {
                let watched = self.core.watched().clone();
                let doubtful = self.doubt.exists();
                let held = Held::new(self.terms, &self.claim, grant, sent, doubtful, watched);
                let held = Arc::new(held);
                if held.pace.renews()
                    && let Err(error) = self.core.keeper.keep(&held)
                {
                    return Err(self.refuse(Failure::NoThread(Arc::new(error))));
                }
                self.core.holdings.add(&held);
                if self.core.is_closed() {
                    self.core.holdings.remove(&held);
                    return Err(self.refuse(Failure::ShutDown));
                }
                held
            }
        };
        self.core.watched().tell(|observer| {
            observer.granted(&Granted {
                name: &held.name,
                owner: &held.owner,
                waited: clock::now().since(self.began),
                tries: self.tries,
                fence: grant.fence(),
            });
        });
        Ok(Lease::new(Arc::clone(self.core), held, self.terms.wait))
    }

    /// Makes no use of a grant.
    fn refuse(&mut self, failure: Failure) -> Vain {
        self.doubt.note_grant();
        Vain::Failed(failure)
    }

    /// Undoes what may have been granted, and says why there is no lease.
    fn give_up(mut self, vain: Vain) -> Error {
        self.undo();
        let name = &self.claim.name;
        let waited = clock::now().since(self.began);
        let error = match vain {
            Vain::Failed(failure) => self.core.explain("acquire", name, failure),
            Vain::Held(holder) => Error::from(Repr::TimedOut {
                by_caller: self.core.is_of(name, &self.claim.owner, &holder),
                name: name.clone(),
                holder: Box::new(holder),
                waited,
                tries: self.tries,
            }),
        };
        self.core.watched().tell(|observer| {
            observer.waited(&Waited {
                name,
                waited,
                tries: self.tries,
                error: &error,
            });
        });
        error
    }

    fn undo(&mut self) {
        let doubt = std::mem::take(&mut self.doubt);
        let until = clock::now() + self.core.drop_timeout;
        let outer = self.outer();
        let _turn = outer.as_ref().and_then(|outer| outer.turn(until));
        let mut hold = self.claim.undo();
        hold.holds_left = outer.as_ref().map_or(0, |outer| outer.count());
        doubt.undo(self.core, &self.terms.strategy, hold, until);
    }
}

impl Vain {
    /// The pause before the next try: `delay`, or less where the hold ends before.
    fn pause(&self, delay: Duration) -> Duration {
        match self {
            Self::Held(holder) => holder
                .remaining()
                .map_or(delay, |left| delay.min(left + Duration::from_millis(1))),
            Self::Failed(_) => delay,
        }
    }
}
