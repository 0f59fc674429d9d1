//! What this client holds at a server: one hold of a name by an owner, however many leases
//! share it.

pub(crate) mod asking;
mod belief;
mod holdings;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::clock::{self, Moment};
use crate::config::{LeaseTime, Terms};
use crate::error::Error;
use crate::fence::Fence;
use crate::keeper::validity::{Due, Pace};
use crate::link::Seats;
use crate::loss::{Loss, OnLost};
use crate::name::{Name, Owner, Ticket};
use crate::observe::{self, Watched};
use crate::strategy::{Claim, Grant, Hold, Kept, LockStrategy};
use belief::Belief;
pub(crate) use holdings::Holdings;

/// A hold.
///
/// What is believed of it lies under a mutex that is never held over I/O. Whoever asks the
/// server to change it takes its [turn](Held::turn) first.
pub(crate) struct Held {
    /// A number of its own, by which the keeper knows it.
    pub(crate) id: u64,
    pub(crate) strategy: Arc<dyn LockStrategy>,
    pub(crate) name: Name,
    /// Who has it, as the caller says.
    pub(crate) owner: Owner,
    /// Who has it, as the server is told: nobody else has ever been that owner.
    pub(crate) alias: Owner,
    pub(crate) pace: Pace,
    ticket: Ticket,
    /// Whether a question of the acquisition may still be on its way.
    doubtful: bool,
    belief: Mutex<Belief>,
    turned: Condvar,
    on_lost: Mutex<OnLost>,
    watched: Watched,
}

/// Numbers of holds and of leases; none is given twice.
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// A number of its own.
pub(crate) fn number() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// The turn of one who asks the server to change a hold.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Held>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.belief.lock().busy = false;
        self.0.turned.notify_one();
    }
}

impl Held {
    /// The hold that `grant`, asked for at `sent`, made of `claim`.
    pub(crate) fn new(
        terms: &Terms,
        owner: Owner,
        claim: &Claim,
        grant: &Grant,
        sent: Moment,
        doubtful: bool,
        watched: Watched,
    ) -> Self {
        Self {
            id: number(),
            strategy: Arc::clone(&terms.strategy),
            name: claim.name.clone(),
            owner,
            alias: claim.owner,
            pace: Pace::new(terms.renewal, terms.lease, terms.max_hold),
            ticket: claim.ticket,
            doubtful,
            belief: Mutex::new(Belief::new(grant, claim.lease, sent)),
            turned: Condvar::new(),
            on_lost: Mutex::default(),
            watched,
        }
    }

    /// Takes the turn, waiting for it until `until` at the latest.
    pub(crate) fn turn(self: &Arc<Self>, until: Moment) -> Option<Turn> {
        let mut belief = self.belief.lock();
        while belief.busy {
            let left = until.remaining();
            if left.is_zero() {
                return None;
            }
            self.turned.wait_for(&mut belief, left);
        }
        belief.busy = true;
        Some(Turn(Arc::clone(self)))
    }

    /// Fails once the lease is no longer the holder's. Asks nobody.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.look(|belief| belief.check(clock::now()))
            .map_err(|loss| Error::lost(&self.name, loss))
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.look(|belief| belief.remaining(clock::now()))
    }

    pub(crate) fn valid_until(&self) -> Moment {
        self.look(|belief| belief.valid_until)
    }

    pub(crate) fn began(&self) -> Moment {
        self.look(|belief| belief.began)
    }

    pub(crate) fn lease(&self) -> LeaseTime {
        self.look(|belief| belief.lease)
    }

    pub(crate) fn fence(&self) -> Option<Fence> {
        self.look(|belief| belief.fence)
    }

    /// Where it stands, of several servers.
    pub(crate) fn seats(&self) -> Seats {
        self.look(|belief| belief.seats)
    }

    pub(crate) fn count(&self) -> u32 {
        self.look(|belief| belief.count)
    }

    /// Why it is lost, once it is.
    pub(crate) fn lost(&self) -> Option<Loss> {
        self.look(|belief| belief.lost)
    }

    /// Whether its last lease has left, or is leaving.
    pub(crate) fn is_over(&self) -> bool {
        self.look(|belief| belief.over)
    }

    pub(crate) fn has_mark(&self, mark: &[u8]) -> bool {
        self.look(|belief| belief.mark.as_deref() == Some(mark))
    }

    /// The lease that a question must ask for, so that it never shortens what is believed.
    pub(crate) fn at_least(&self, lease: LeaseTime) -> LeaseTime {
        self.look(|belief| belief.at_least(lease, clock::now()))
    }

    /// What is to be done about it at `now`.
    pub(crate) fn due(&self, now: Moment) -> Due {
        self.look(|belief| {
            if belief.overstayed {
                return Due::Watch;
            }
            self.pace.due(belief.began, now)
        })
    }

    /// The hold as a strategy is told of it, of which `holds_left` would remain.
    pub(crate) fn describe(&self, holds_left: u32) -> Hold {
        self.look(|belief| Hold {
            name: self.name.clone(),
            owner: self.alias,
            ticket: self.ticket,
            lease: belief.lease,
            mark: belief.mark.clone(),
            fence: belief.fence,
            holds_left,
            undo: self.doubtful.then_some(belief.lease),
            forced: false,
            repeated: false,
            seats: belief.seats,
        })
    }

    /// Takes in what came of an extension that was asked for at `sent`.
    pub(crate) fn keep(&self, kept: Kept, lease: LeaseTime, sent: Moment) -> Result<(), Loss> {
        self.look(|belief| belief.keep(kept, lease, sent, clock::now()))
    }

    /// Takes in that a renewal did not come through.
    pub(crate) fn fail(&self) {
        self.look(|belief| belief.failing = true);
    }

    /// Takes in that it was held for as long as it may be.
    pub(crate) fn overstay(&self) {
        self.look(|belief| belief.overstayed = true);
    }

    /// Takes in that the owner acquired once more, by a question that was asked at `sent`;
    /// refuses that where the hold has come to its end meanwhile.
    pub(crate) fn reenter(&self, grant: &Grant, lease: LeaseTime, sent: Moment) -> bool {
        self.look(|belief| belief.reenter(grant, lease, sent, clock::now()))
    }

    /// Takes in that one lease less shares the hold; how many are left.
    pub(crate) fn leave(&self) -> u32 {
        self.look(Belief::leave)
    }

    /// Takes in that it is left, however many leases share it.
    pub(crate) fn end(&self) {
        self.look(|belief| {
            belief.count = 0;
            belief.over = true;
        });
    }

    /// Takes in that the hold is lost; the first reason stays.
    pub(crate) fn lose(&self, loss: Loss) {
        self.look(|belief| {
            belief.lost.get_or_insert(loss);
        });
    }

    /// Has `call` run once the hold is lost, at once where it is.
    pub(crate) fn on_lost(&self, lease: u64, call: impl FnOnce(Loss) + Send + 'static) {
        let mut on_lost = self.on_lost.lock();
        on_lost.add(lease, Box::new(call));
        let lost = self.belief.lock().lost;
        if let Some(loss) = lost {
            on_lost.run(loss);
        }
    }

    /// Has nothing run any more that the lease of that number asked for.
    pub(crate) fn hush(&self, lease: u64) {
        self.on_lost.lock().forget(lease);
    }

    /// Looks at what is believed, and tells whoever wants to know where it came to an end.
    fn look<T>(&self, look: impl FnOnce(&mut Belief) -> T) -> T {
        let mut belief = self.belief.lock();
        let before = belief.lost;
        let result = look(&mut belief);
        let after = belief.lost;
        let over = belief.over;
        drop(belief);
        if let (None, Some(loss), false) = (before, after, over) {
            self.watched.tell(|observer| {
                observer.lost(&observe::Lost {
                    name: &self.name,
                    owner: &self.owner,
                    loss,
                });
            });
            self.on_lost.lock().run(loss);
        }
        result
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held")
            .field("name", &self.name)
            .field("owner", &self.owner.short())
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}
