//! What all clones of a client share, and how they ask the server.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use uuid::Uuid;

use crate::clock::{self, Moment};
use crate::environment;
use crate::error::Error;
use crate::exchange::{Call, Exchange, Reply};
use crate::hold::{Held, Holdings};
use crate::keeper::{Errand, Keeper};
use crate::link::quorum::Tally;
use crate::link::{Ask, Failure, Lane, Link, Miss, Place, Servers};
use crate::name::{Name, Owner, Ticket};
use crate::observe::{Slow, Watched};
use crate::retry::Retry;
use crate::strategy::{Attempt, Claim, Hold, Holder, Left, LockStrategy, sure};

/// The pauses before a release or an extension is sent again.
const PAUSES: Retry = Retry::exponential(Duration::from_millis(20), Duration::from_millis(500));

/// A question is not asked again when there is less time left than this for its answer: it
/// would only hide the last one.
const LEAST: Duration = Duration::from_millis(100);

/// An answer that took longer than this is worth an event.
const SLOW: Duration = Duration::from_millis(100);

/// What all clones of a client share.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) id: Uuid,
    pub(crate) link: Link,
    pub(crate) holdings: Holdings,
    pub(crate) keeper: Keeper,
    pub(crate) drop_timeout: Duration,
    closed: Mutex<bool>,
    closing: Condvar,
}

/// What came of asking until there was an answer.
pub(crate) struct Persisted<T> {
    pub(crate) answer: Result<T, Failure>,
    /// An earlier question may have been carried out unheard.
    pub(crate) doubtful: bool,
}

impl Core {
    pub(crate) fn new(servers: Servers, pool_size: u32, drop_timeout: Duration) -> Self {
        let keeper = Keeper::new(servers.clone());
        Self {
            id: Uuid::new_v4(),
            keeper,
            link: Link::new(servers, pool_size),
            holdings: Holdings::default(),
            drop_timeout,
            closed: Mutex::default(),
            closing: Condvar::new(),
        }
    }

    pub(crate) fn watched(&self) -> &Watched {
        self.link.servers.watched()
    }

    /// Asks once about `name`.
    pub(crate) fn ask<T: Tally>(
        &self,
        name: &Name,
        exchange: impl Fn() -> Exchange<T>,
        lane: Lane,
        until: Moment,
    ) -> Result<T, Miss> {
        let mut place = self.link.place(lane, until)?;
        self.ask_from(&mut place, name, exchange, until)
    }

    /// Asks once about `name`, from a place that was taken before.
    pub(crate) fn ask_from<T: Tally>(
        &self,
        place: &mut Place,
        name: &Name,
        exchange: impl Fn() -> Exchange<T>,
        until: Moment,
    ) -> Result<T, Miss> {
        self.timed(name, || place.ask(&Ask::of(exchange), until))
    }

    /// Asks for a lock once. Where several servers are asked, an attempt that is not granted
    /// has been undone, and its ticket is not used again.
    pub(crate) fn acquire_from(
        &self,
        place: &mut Place,
        strategy: &Arc<dyn LockStrategy>,
        claim: &mut Claim,
        until: Moment,
    ) -> Result<Attempt, Miss> {
        let acquired = self.timed(claim.name(), || place.acquire(&**strategy, claim, until));
        let (attempt, unsettled) = match acquired {
            Ok((attempt, unsettled)) => (Ok(attempt), unsettled),
            Err((miss, unsettled)) => (Err(miss), unsettled),
        };
        if !unsettled.is_empty() {
            let undo = claim.undo().at(unsettled);
            self.leave_later(&Errand::release(strategy, undo));
        }
        if self.link.servers.are_many() && !matches!(attempt, Ok(Attempt::Granted(_))) {
            claim.ticket = Ticket::fresh();
        }
        attempt
    }

    /// Leaves `hold` once; what not every server answered is seen to by the keeper.
    pub(crate) fn leave_from(
        &self,
        place: &mut Place,
        strategy: &Arc<dyn LockStrategy>,
        hold: &Hold,
        until: Moment,
    ) -> Result<Left, Miss> {
        let leave = || sure(strategy.leave(hold), |left| left.loss().is_some());
        let left = self.timed(hold.name(), || place.leave(leave, hold.seats, until));
        let (left, silent) = left?;
        if !silent.is_empty() {
            let rest = hold.clone().again().at(silent);
            self.leave_later(&Errand::release(strategy, rest));
        }
        Ok(left)
    }

    /// Has the keeper see to `errand`, at each of several servers for itself. An inner hold
    /// needs no errand: it ends with the outermost.
    pub(crate) fn leave_later(&self, errand: &Errand) {
        if errand.hold().holds_left() > 0 {
            return;
        }
        for seats in self.link.servers.split(errand.hold().seats) {
            let _ = self.keeper.run(errand.at(seats)); // without a thread the lease's end must do
        }
    }

    fn timed<T>(&self, name: &Name, ask: impl FnOnce() -> T) -> T {
        let sent = clock::now();
        let result = ask();
        let took = clock::now().since(sent);
        if took >= SLOW {
            self.watched()
                .tell(|observer| observer.slow(&Slow { name, took }));
        }
        result
    }

    /// Asks until there is an answer, a failure that does not pass, or no time left. `ask` is
    /// told whether an earlier question may have been carried out unheard.
    pub(crate) fn persist<T>(
        &self,
        lane: Lane,
        until: Moment,
        mut ask: impl FnMut(&mut Place, bool) -> Result<T, Miss>,
    ) -> Persisted<T> {
        let mut delays = PAUSES.delays();
        let mut doubtful = false;
        loop {
            let asked = self.link.place(lane, until).map_err(Miss::from);
            let failure = match asked.and_then(|mut place| ask(&mut place, doubtful)) {
                Ok(answer) => {
                    return Persisted {
                        answer: Ok(answer),
                        doubtful,
                    };
                }
                Err(miss) => miss.failure,
            };
            let may_have_run = failure.may_have_run();
            match delays.next_within(until.remaining().saturating_sub(LEAST)) {
                Some(delay) if failure.is_passing() => clock::sleep(delay),
                _ => {
                    let unheard = doubtful && !may_have_run;
                    let answer = Err(if unheard {
                        Failure::Unheard(Box::new(failure))
                    } else {
                        failure
                    });
                    return Persisted { answer, doubtful };
                }
            }
            doubtful |= may_have_run;
        }
    }

    /// Whether `holder` is `owner`: the server says so, or we know it for our own hold.
    pub(crate) fn is_of(&self, name: &Name, owner: &Owner, holder: &Holder) -> bool {
        let known = || self.holdings.find(name, owner);
        holder.owner() == Some(owner) || known().is_some_and(|held| held.has_mark(holder.mark()))
    }

    /// Whether the server was started anew since `held` began, as far as it says so by `until`.
    pub(crate) fn was_forgotten(&self, held: &Held, until: Moment) -> bool {
        environment::was_forgotten(&self.link.servers, held.began(), || {
            let Ok(mut place) = self.link.place(Lane::Common, until) else {
                return Vec::new();
            };
            place.each(environment::uptime, until)
        })
    }

    /// Makes an error of a failure; asks what stands under the name where that is no lock.
    pub(crate) fn explain(&self, action: &'static str, name: &Name, failure: Failure) -> Error {
        if !failure.is_wrong_type() {
            return Error::failed(action, name, failure);
        }
        let ask = || Exchange::one(Call::command("TYPE").key(name.as_bytes()), Reply::text);
        let found = self.ask(name, ask, Lane::Common, self.link.patience());
        let found = found.unwrap_or_else(|_| "key of another type".to_owned());
        Error::failed(action, name, Failure::ForeignLock(found))
    }

    /// Pauses for `delay`, or until the client is shut down; whether it is.
    pub(crate) fn pause(&self, delay: Duration) -> bool {
        let until = clock::now() + delay;
        let mut closed = self.closed.lock();
        loop {
            let left = until.remaining();
            if *closed || left.is_zero() {
                return *closed;
            }
            self.closing.wait_for(&mut closed, left);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.lock()
    }

    /// Lets nobody acquire any more, and wakes who waits.
    pub(crate) fn close(&self) {
        *self.closed.lock() = true;
        self.closing.notify_all();
    }
}
