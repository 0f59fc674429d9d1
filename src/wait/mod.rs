//! Waiting for a lock: ask, pause, ask again, until the deadline.

mod doubt;
mod nested;

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{self, Moment};
use crate::config::Terms;
use crate::core::Core;
use crate::error::{Error, Repr};
use crate::fence::Fence;
use crate::hold::Held;
use crate::keeper::validity::valid_until;
use crate::lease::Lease;
use crate::link::{Failure, Lane, Place};
use crate::name::{Name, Owner, Ticket};
use crate::observe::{Contended, Granted, Waited};
use crate::strategy::{Attempt, Claim, Grant, Holder};
use doubt::Doubt;

/// One acquisition, from its first question to its lease or its error.
#[derive(Debug)]
pub(crate) struct Acquisition<'a> {
    core: &'a Arc<Core>,
    terms: &'a Terms,
    owner: Owner,
    /// The claim to an outermost hold.
    claim: Claim,
    /// Whether an unheard question may have changed the count of the owner's hold.
    count_in_doubt: bool,
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
    /// An acquisition by `owner`, or by an owner of its own.
    pub(crate) fn new(
        core: &'a Arc<Core>,
        terms: &'a Terms,
        name: &Name,
        owner: Option<Owner>,
    ) -> Self {
        let shared = owner.is_some() && terms.strategy.reenters();
        let owner = owner.unwrap_or_else(|| Owner::fresh(core.id));
        // Every outermost hold of an owner that may have several is another's to the server, so
        // that a late question about one does not meet the next.
        let alias = if shared { Owner::fresh(core.id) } else { owner };
        Self {
            core,
            terms,
            owner,
            claim: Claim {
                fences: u32::from(terms.fence),
                ..Claim::of(alias, name.clone(), terms.lease)
            },
            count_in_doubt: false,
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

    /// Asks once; twice where the owner turns out not to hold what it would have re-entered.
    fn attempt(&mut self, until: Moment) -> Result<Lease, Vain> {
        self.tries = self.tries.saturating_add(1);
        let core = self.core;
        let mut place = core.link.place(Lane::Common, until)?;
        if !self.terms.strategy.reenters() {
            return self.ask(&mut place, until);
        }
        let entry = core.holdings.enter(&self.claim.name, &self.owner, until);
        let _entry = entry.ok_or(Failure::Busy)?;
        if let Some(outer) = core.holdings.find(&self.claim.name, &self.owner) {
            let _turn = outer.turn(until).ok_or(Failure::Busy)?;
            if let Some(asked) = self.ask_within(&mut place, &outer, until) {
                return asked;
            }
        }
        self.ask(&mut place, until)
    }

    /// Asks for an outermost hold.
    fn ask(&mut self, place: &mut Place, until: Moment) -> Result<Lease, Vain> {
        self.claim.now = clock::wall();
        let sent = clock::now();
        let strategy = &self.terms.strategy;
        let claim = &mut self.claim;
        match self.core.acquire_from(place, strategy, claim, until) {
            Ok(Attempt::Granted(grant)) => self.granted(&grant, sent),
            Ok(Attempt::Held(holder)) => Err(self.held(holder)),
            Ok(Attempt::Withdrawn | Attempt::OuterGone) => {
                self.claim.ticket = Ticket::fresh();
                Err(Vain::Failed(Failure::TooLate))
            }
            Err(miss) => {
                self.doubt.note(&miss.failure, miss.owing);
                Err(Vain::Failed(miss.failure))
            }
        }
    }

    fn held(&self, holder: Holder) -> Vain {
        self.core.watched().tell(|observer| {
            observer.contended(&Contended {
                name: &self.claim.name,
                holder: &holder,
            });
        });
        Vain::Held(holder)
    }

    /// Makes a lease of a grant, if it came before its own end.
    fn granted(&mut self, grant: &Grant, sent: Moment) -> Result<Lease, Vain> {
        if clock::now() >= valid_until(sent, self.claim.lease) {
            return Err(self.refuse(Failure::TooLate));
        }
        let core = self.core;
        let held = Arc::new(Held::new(
            self.terms,
            self.owner,
            &self.claim,
            grant,
            sent,
            self.doubt.exists(),
            core.watched().clone(),
        ));
        if held.pace.renews()
            && let Err(error) = core.keeper.keep(&held)
        {
            return Err(self.refuse(if core.is_closed() {
                Failure::ShutDown
            } else {
                Failure::NoThread(Arc::new(error))
            }));
        }
        core.holdings.add(&held);
        if core.is_closed() {
            core.holdings.remove(&held);
            return Err(self.refuse(Failure::ShutDown));
        }
        Ok(self.lease(held, grant.fence()))
    }

    fn lease(&self, held: Arc<Held>, fence: Option<Fence>) -> Lease {
        self.core.watched().tell(|observer| {
            observer.granted(&Granted {
                name: &held.name,
                owner: &held.owner,
                waited: clock::now().since(self.began),
                tries: self.tries,
                fence,
            });
        });
        Lease::new(Arc::clone(self.core), held, self.terms.wait)
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
                by_caller: self.core.is_of(name, &self.owner, &holder),
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
        let until = clock::now() + self.core.drop_timeout;
        self.mend_count(until);
        let doubt = std::mem::take(&mut self.doubt);
        doubt.undo(self.core, &self.terms.strategy, self.claim.undo(), until);
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
