//! What this client holds at a server: one hold of a name by an owner, however many leases
//! share it, and one place where all of them are known.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::clock::{self, Moment};
use crate::config::{LeaseTime, Terms};
use crate::error::Error;
use crate::fence::Fence;
use crate::keeper::validity::valid_until;
use crate::loss::Loss;
use crate::name::{Name, Owner, Ticket};
use crate::strategy::{Claim, Grant, Hold, Kept, LockStrategy};

/// A hold.
///
/// What is believed of it lies under a mutex that is never held over I/O. Whoever asks the
/// server to change it takes its [turn](Held::turn) first.
pub(crate) struct Held {
    pub(crate) strategy: Arc<dyn LockStrategy>,
    pub(crate) name: Name,
    pub(crate) owner: Owner,
    ticket: Ticket,
    /// Whether a question of the acquisition may still be on its way.
    doubtful: bool,
    belief: Mutex<Belief>,
    turned: Condvar,
}

/// What is believed of a hold.
struct Belief {
    lease: LeaseTime,
    valid_until: Moment,
    mark: Option<Vec<u8>>,
    fence: Option<Fence>,
    /// How many leases share the hold.
    count: u32,
    lost: Option<Loss>,
    busy: bool,
}

impl Belief {
    /// Fails once the hold is lost; notices that it has ended.
    fn check(&mut self) -> Result<(), Loss> {
        if self.lost.is_none() {
            let now = clock::now();
            if now >= self.valid_until {
                let ago = now.since(self.valid_until);
                self.lost = Some(Loss::Expired { ago });
            }
        }
        self.lost.map_or(Ok(()), Err)
    }
}

/// The turn of one who asks the server to change a hold.
pub(crate) struct Turn<'a>(&'a Held);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.belief.lock().busy = false;
        self.0.turned.notify_one();
    }
}

impl Held {
    /// The hold that `grant`, asked for at `sent`, made of `claim`.
    pub(crate) fn new(
        terms: &Terms,
        claim: &Claim,
        grant: &Grant,
        sent: Moment,
        doubtful: bool,
    ) -> Self {
        Self {
            strategy: Arc::clone(&terms.strategy),
            name: claim.name.clone(),
            owner: claim.owner,
            ticket: claim.ticket,
            doubtful,
            belief: Mutex::new(Belief {
                lease: claim.lease,
                valid_until: valid_until(sent, claim.lease),
                mark: grant.mark().map(<[u8]>::to_vec),
                fence: grant.fence(),
                count: 1,
                lost: None,
                busy: false,
            }),
            turned: Condvar::new(),
        }
    }

    /// Takes the turn, waiting for it until `until` at the latest.
    pub(crate) fn turn(&self, until: Moment) -> Option<Turn<'_>> {
        let mut belief = self.belief.lock();
        while belief.busy {
            let left = until.remaining();
            if left.is_zero() {
                return None;
            }
            self.turned.wait_for(&mut belief, left);
        }
        belief.busy = true;
        Some(Turn(self))
    }

    /// Fails once the lease is no longer the holder's. Asks nobody.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.with(Belief::check)
            .map_err(|loss| Error::lost(&self.name, loss))
    }

    pub(crate) fn remaining(&self) -> std::time::Duration {
        self.with(|belief| match belief.check() {
            Ok(()) => belief.valid_until.remaining(),
            Err(_) => std::time::Duration::ZERO,
        })
    }

    pub(crate) fn valid_until(&self) -> Moment {
        self.with(|belief| belief.valid_until)
    }

    pub(crate) fn fence(&self) -> Option<Fence> {
        self.with(|belief| belief.fence)
    }

    pub(crate) fn count(&self) -> u32 {
        self.with(|belief| belief.count)
    }

    pub(crate) fn has_mark(&self, mark: &[u8]) -> bool {
        self.with(|belief| belief.mark.as_deref() == Some(mark))
    }

    /// The lease that a question must ask for, so that it never shortens what is believed.
    pub(crate) fn at_least(&self, lease: LeaseTime) -> LeaseTime {
        self.with(|belief| {
            let left = belief.valid_until.remaining();
            let whole = left + (left / 50) + std::time::Duration::from_millis(5);
            lease.max(LeaseTime::at_least(whole.min(belief.lease.as_duration())))
        })
    }

    /// The hold as a strategy is told of it, of which `holds_left` would remain.
    pub(crate) fn describe(&self, holds_left: u32) -> Hold {
        self.with(|belief| Hold {
            name: self.name.clone(),
            owner: self.owner,
            ticket: self.ticket,
            lease: belief.lease,
            mark: belief.mark.clone(),
            fence: belief.fence,
            holds_left,
            undo: self.doubtful.then_some(belief.lease),
        })
    }

    /// Takes in what came of an extension that was asked for at `sent`.
    pub(crate) fn keep(&self, kept: Kept, lease: LeaseTime, sent: Moment) -> Result<(), Loss> {
        self.with(|belief| {
            belief.check()?;
            if let Some(loss) = kept.loss() {
                belief.lost = Some(loss);
                return Err(loss);
            }
            if let Kept::Kept { mark: Some(mark) } = kept {
                belief.mark = Some(mark);
            }
            belief.lease = lease;
            belief.valid_until = belief.valid_until.max(valid_until(sent, lease));
            Ok(())
        })
    }

    /// Takes in that the owner acquired once more, by a question that was asked at `sent`.
    pub(crate) fn reenter(&self, grant: &Grant, lease: LeaseTime, sent: Moment) {
        self.with(|belief| {
            belief.count += 1;
            belief.lease = lease;
            belief.valid_until = belief.valid_until.max(valid_until(sent, lease));
            belief.fence = grant.fence().or(belief.fence);
        });
    }

    /// Takes in that one lease less shares the hold; how many are left.
    pub(crate) fn left(&self) -> u32 {
        self.with(|belief| {
            belief.count = belief.count.saturating_sub(1);
            belief.count
        })
    }

    /// Takes in that the hold is lost; the first reason stays.
    pub(crate) fn lose(&self, loss: Loss) {
        self.with(|belief| {
            belief.lost.get_or_insert(loss);
        });
    }

    fn with<T>(&self, look: impl FnOnce(&mut Belief) -> T) -> T {
        let mut belief: MutexGuard<'_, Belief> = self.belief.lock();
        look(&mut belief)
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

/// Everything that a client holds.
#[derive(Debug, Default)]
pub(crate) struct Holdings(Mutex<HashMap<(Name, Owner), Arc<Held>>>);

impl Holdings {
    pub(crate) fn find(&self, name: &Name, owner: &Owner) -> Option<Arc<Held>> {
        self.0.lock().get(&(name.clone(), *owner)).cloned()
    }

    /// Adds a hold; one that the same owner had of the same name is lost.
    pub(crate) fn add(&self, held: &Arc<Held>) {
        let key = (held.name.clone(), held.owner);
        let before = self.0.lock().insert(key, Arc::clone(held));
        if let Some(before) = before {
            before.lose(Loss::Deleted);
        }
    }

    /// Whether `held` is what its owner holds, and no later hold took its place.
    pub(crate) fn contains(&self, held: &Arc<Held>) -> bool {
        self.find(&held.name, &held.owner)
            .is_some_and(|current| Arc::ptr_eq(&current, held))
    }

    pub(crate) fn remove(&self, held: &Arc<Held>) {
        let mut holdings = self.0.lock();
        let key = (held.name.clone(), held.owner);
        if holdings
            .get(&key)
            .is_some_and(|current| Arc::ptr_eq(current, held))
        {
            holdings.remove(&key);
        }
    }
}
