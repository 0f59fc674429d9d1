//! What could not be left at once: an acquisition to be undone, a release to be repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{self, Moment};
use crate::exchange::Exchange;
use crate::link::{Failure, Seats};
use crate::name::Name;
use crate::observe::{Undone, Watched};
use crate::strategy::{Hold, Left, LockStrategy};

/// The first pause; each later one is twice as long.
const FIRST: Duration = Duration::from_millis(50);

/// Errands have numbers of their own, from the upper half.
static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 63);

/// Something that is to be left, as long as that makes sense.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    id: u64,
    strategy: Arc<dyn LockStrategy>,
    hold: Hold,
    /// Something was held, so that any answer will do.
    release: bool,
    until: Moment,
    due: Moment,
    pause: Duration,
}

impl Errand {
    /// The release of a hold, to be said again.
    pub(crate) fn release(strategy: &Arc<dyn LockStrategy>, hold: Hold) -> Self {
        Self::new(strategy, hold, true)
    }

    /// The undo of what may have been granted, to be said again.
    pub(crate) fn undo(strategy: &Arc<dyn LockStrategy>, hold: Hold) -> Self {
        Self::new(strategy, hold, false)
    }

    fn new(strategy: &Arc<dyn LockStrategy>, hold: Hold, release: bool) -> Self {
        let now = clock::now();
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            strategy: Arc::clone(strategy),
            until: now + hold.lease().as_duration(),
            hold,
            release,
            due: now + FIRST,
            pause: FIRST,
        }
    }

    /// The same, at those servers alone.
    pub(crate) fn at(&self, seats: Seats) -> Self {
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            hold: self.hold.clone().at(seats),
            ..self.clone()
        }
    }

    pub(crate) fn hold(&self) -> &Hold {
        &self.hold
    }

    pub(crate) fn name(&self) -> &Name {
        self.hold.name()
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn due(&self) -> Moment {
        self.due
    }

    pub(crate) fn ask(&self) -> Exchange<Left> {
        self.strategy.leave(&self.hold)
    }

    /// Takes in what came of it; gives itself back where it is to be tried again.
    ///
    /// A release is done with any answer. An undo is done when it has freed something, and
    /// else only with the end of the lease: "nothing was there" may be said before the
    /// question that is to be undone comes in.
    pub(super) fn heard(
        mut self,
        result: &Result<Left, Failure>,
        watched: &Watched,
    ) -> Option<Self> {
        let done = match result {
            Ok(Left::Freed | Left::StillHeld) => true,
            Ok(_) => self.release,
            Err(_) => false,
        };
        if done {
            if !self.release {
                let name = self.hold.name();
                watched.tell(|observer| {
                    observer.undone(&Undone {
                        name,
                        confirmed: true,
                    });
                });
            }
            return None;
        }
        self.pause = (self.pause * 2)
            .min(self.hold.lease().as_duration() / 4)
            .max(FIRST);
        self.due = clock::now() + self.pause.mul_f64(0.75 + fastrand::f64() / 2.0);
        (self.due < self.until).then_some(self)
    }
}
