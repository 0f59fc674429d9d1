//! A strategy that notes what it is asked.

use std::sync::Arc;

use leasehold::{
    Exchange, LeaseTime, Name,
    strategy::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy},
};
use parking_lot::Mutex;

/// Does as `S` does, and remembers every claim and every hold it was asked about.
#[derive(Debug)]
pub struct Recorder<S> {
    inner: Arc<S>,
    seen: Arc<Mutex<Seen>>,
}

impl<S> Clone for Recorder<S> {
    fn clone(&self) -> Self {
        Recorder {
            inner: Arc::clone(&self.inner),
            seen: Arc::clone(&self.seen),
        }
    }
}

#[derive(Debug, Default)]
struct Seen {
    claims: Vec<Claim>,
    kept: Vec<(Hold, LeaseTime)>,
    left: Vec<Hold>,
}

impl<S: LockStrategy> Recorder<S> {
    pub fn of(inner: S) -> Recorder<S> {
        Recorder {
            inner: Arc::new(inner),
            seen: Arc::default(),
        }
    }

    /// How often a lock was asked for: a retry counts, a script sent again by its source does not.
    pub fn tries(&self) -> usize {
        let seen = self.seen.lock();
        let mut tries: Vec<_> = seen.claims.iter().map(Claim::now).collect();
        tries.dedup(); // several servers are asked the same
        tries.len()
    }

    pub fn last_claim(&self) -> Claim {
        let seen = self.seen.lock();
        seen.claims.last().expect("a lock was asked for").clone()
    }

    /// The question that was asked last for a lock, once more.
    pub fn acquire_again(&self) -> Exchange<Attempt> {
        self.inner.acquire(&self.last_claim())
    }

    /// The question that was asked last for a longer lease, once more.
    pub fn extend_again(&self) -> Exchange<Kept> {
        let seen = self.seen.lock();
        let (hold, lease) = seen.kept.last().expect("a lease was extended");
        self.inner.extend(hold, *lease)
    }

    /// The question with which a hold was left last, once more.
    pub fn leave_again(&self) -> Exchange<Left> {
        let seen = self.seen.lock();
        self.inner.leave(seen.left.last().expect("a hold was left"))
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: LockStrategy> LockStrategy for Recorder<S> {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        self.seen.lock().claims.push(claim.clone());
        self.inner.acquire(claim)
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        self.seen.lock().kept.push((hold.clone(), lease));
        self.inner.extend(hold, lease)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        self.seen.lock().left.push(hold.clone());
        self.inner.leave(hold)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        self.inner.inspect(name)
    }

    fn reenters(&self) -> bool {
        self.inner.reenters()
    }

    fn fences(&self) -> bool {
        self.inner.fences()
    }

    fn admit_many(&self) -> Result<(), String> {
        self.inner.admit_many()
    }

    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        self.inner.admit(lease)
    }
}
