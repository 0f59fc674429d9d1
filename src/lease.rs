//! The lease: the hold, with its end.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::client::Core;
use crate::clock::{self, Moment};
use crate::config::LeaseTime;
use crate::error::Error;
use crate::fence::Fence;
use crate::hold::Held;
use crate::link::{Failure, Lane};
use crate::loss::Loss;
use crate::name::{Name, Owner};
use crate::retry::Retry;
use crate::strategy::Left;

/// A lock that is held, until it is released, dropped or ended.
///
/// Every lock at Redis ends by itself, whether or not its holder is done. A lease knows when:
/// [`check`](Lease::check) before every step that must not be taken without the lock.
///
/// Dropping it releases, for at most [`drop_timeout`](crate::Builder::drop_timeout), and
/// cannot say what came of it; [`release`](Lease::release) can.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let client = leasehold::Client::connect(server())?;
/// let lease = client.lock("orders:42")?.acquire()?;
/// lease.check()?; // still ours: go on
/// assert!(lease.remaining().as_secs() > 20);
/// lease.release()?;
/// # Ok(()) }
/// ```
#[must_use = "a lease that is not kept is released at once"]
#[clippy::has_significant_drop]
pub struct Lease {
    core: Arc<Core>,
    held: Arc<Held>,
    patience: Duration,
    left: bool,
}

/// What a release came to.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let client = leasehold::Client::connect(server())?;
/// use leasehold::Released;
///
/// let lease = client.lock("orders:42")?.acquire()?;
/// assert_eq!(lease.release()?, Released::Freed);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The lock is free.
    Freed,
    /// The owner still holds it, once less often.
    StillHeld,
}

impl Lease {
    pub(crate) fn new(core: Arc<Core>, held: Arc<Held>, patience: Duration) -> Self {
        Self {
            core,
            held,
            patience,
            left: false,
        }
    }

    /// What is locked.
    pub fn name(&self) -> &Name {
        &self.held.name
    }

    /// Who holds it.
    pub fn owner(&self) -> &Owner {
        &self.held.owner
    }

    /// The number that lets a store refuse an older holder; `None` where none was asked for.
    pub fn fence(&self) -> Option<Fence> {
        self.held.fence()
    }

    /// How long the lock is still the holder's, counted here and on the safe side; zero once
    /// it is lost. Asks nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// assert!(lease.remaining() <= std::time::Duration::from_secs(30));
    /// # Ok(()) }
    /// ```
    pub fn remaining(&self) -> Duration {
        self.held.remaining()
    }

    /// Whether the lock is still the holder's, now. Asks nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// assert!(lease.is_held());
    /// # Ok(()) }
    /// ```
    pub fn is_held(&self) -> bool {
        self.check().is_ok()
    }

    /// Fails once the lock is no longer the holder's. Asks nobody: it costs a look at the
    /// clock.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Lost`](crate::ErrorKind::Lost), from then on for good.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// for order in 0..3 {
    ///     lease.check()?;
    ///     // the step that needs the lock
    /// #   let _ = order;
    /// }
    /// # Ok(()) }
    /// ```
    pub fn check(&self) -> Result<(), Error> {
        self.held.check()
    }

    /// Asks the server to make the lease last for at least `lease` from now. It never makes
    /// it shorter.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Lost`](crate::ErrorKind::Lost) where the lock is no longer the holder's;
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) for what cannot be a
    /// lease; or why the server could not be asked: the lease then ends when it would have.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::Duration;
    ///
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// lease.extend(Duration::from_secs(120))?;
    /// assert!(lease.remaining() > Duration::from_secs(100));
    /// # Ok(()) }
    /// ```
    pub fn extend(&self, lease: Duration) -> Result<(), Error> {
        let lease = LeaseTime::new(lease)?;
        let strategy = &self.held.strategy;
        strategy.admit(lease).map_err(|why| {
            let lease = format!("{:?}", lease.as_duration());
            Error::config("lease", lease, why)
        })?;
        let until = self.give_up_at();
        let Some(_turn) = self.held.turn(until) else {
            self.check()?;
            return Err(Error::failed("extend", self.name(), Failure::Busy));
        };
        let mut delays = PAUSES.delays();
        loop {
            self.check()?;
            let lease = self.held.at_least(lease);
            let hold = self.held.describe(0);
            let sent = clock::now();
            let link = &self.core.link;
            let failure = match link.ask(strategy.extend(&hold, lease), Lane::Common, until) {
                Ok(kept) => {
                    return self
                        .held
                        .keep(kept, lease, sent)
                        .map_err(|loss| Error::lost(self.name(), loss));
                }
                Err(miss) => miss.failure,
            };
            match delays.next_within(until.remaining()) {
                Some(delay) if failure.is_passing() => clock::sleep(delay),
                _ => {
                    self.check()?;
                    return Err(self.core.explain("extend", self.name(), failure));
                }
            }
        }
    }

    /// Releases the lock and says what came of it.
    ///
    /// Where the server does not answer, it is asked again for as long as the lease lasts,
    /// at most for [`wait`](crate::Builder::wait).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Lost`](crate::ErrorKind::Lost) where the lease had ended before, or
    /// somebody else holds the lock: what was done under it may have been done beside
    /// another. [`ErrorKind::Unknown`](crate::ErrorKind::Unknown) where no answer came.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// lease.release()?;
    /// # Ok(()) }
    /// ```
    ///
    /// A lease cannot be released twice:
    ///
    /// ```compile_fail
    /// # fn twice(lease: leasehold::Lease) -> Result<(), leasehold::Error> {
    /// lease.release()?;
    /// lease.release()?;
    /// # Ok(()) }
    /// ```
    pub fn release(mut self) -> Result<Released, Error> {
        self.left = true;
        self.leave(self.give_up_at())
    }

    /// Until when the server is asked again for something about this lease.
    fn give_up_at(&self) -> Moment {
        let soon = clock::now() + self.patience;
        soon.min(self.held.valid_until())
            .max(self.core.link.patience())
    }

    fn leave(&self, until: Moment) -> Result<Released, Error> {
        // Whoever has the turn for longer than this is late, and refused for being so.
        let _turn = self.held.turn(until);
        let before = self.held.check();
        if before.is_err() && !self.core.holdings.contains(&self.held) {
            return before.map(|()| Released::Freed); // a later hold of the owner's is not ours
        }
        let holds_left = self.held.left();
        if holds_left == 0 {
            self.core.holdings.remove(&self.held);
        }
        let hold = self.held.describe(holds_left);
        let mut unanswered = false;
        let mut delays = PAUSES.delays();
        loop {
            let link = &self.core.link;
            match link.ask(self.held.strategy.leave(&hold), Lane::Release, until) {
                Ok(left) => return before.and(self.judge(left, unanswered)),
                Err(miss) => {
                    unanswered |= miss.failure.may_have_run();
                    let delay = delays
                        .next_within(until.remaining())
                        .filter(|_| miss.failure.is_passing());
                    let Some(delay) = delay else {
                        let error = self.core.explain("release", self.name(), miss.failure);
                        return before.and(Err(error));
                    };
                    clock::sleep(delay);
                }
            }
        }
    }

    /// What the server's answer to a release means. Where an earlier one stayed out, "not
    /// held" means that it was carried out, as long as the lease had not ended.
    fn judge(&self, left: Left, unanswered: bool) -> Result<Released, Error> {
        let ended = clock::now() >= self.held.valid_until();
        match left {
            Left::Freed => Ok(Released::Freed),
            Left::StillHeld => Ok(Released::StillHeld),
            Left::Gone | Left::Taken if unanswered && !ended => Ok(Released::Freed),
            Left::Gone | Left::Taken | Left::Contested => {
                let loss = left.loss().unwrap_or(Loss::Taken);
                self.held.lose(loss);
                Err(Error::lost(self.name(), loss))
            }
        }
    }
}

/// The pauses before a release or an extension is sent again.
const PAUSES: Retry = Retry::exponential(Duration::from_millis(20), Duration::from_millis(500));

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.left {
            let _ = self.leave(clock::now() + self.core.drop_timeout);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("name", self.name())
            .field("owner", &self.owner().short())
            .field("fence", &self.fence())
            .field("remaining", &self.remaining())
            .finish()
    }
}

/// A [`Lease`] of the calling thread: it stays in it.
///
/// While a thread holds a lock it may acquire it again. A lease that could be taken to
/// another thread would leave the first one inside.
///
/// # Examples
///
/// ```compile_fail
/// fn send<T: Send>(_: T) {}
/// # fn f(lease: leasehold::ThreadLease) {
/// send(lease);
/// # }
/// ```
#[must_use = "a lease that is not kept is released at once"]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct ThreadLease {
    lease: Lease,
    stays: PhantomData<*const ()>,
}

impl ThreadLease {
    pub(crate) fn new(lease: Lease) -> Self {
        Self {
            lease,
            stays: PhantomData,
        }
    }

    /// As [`Lease::release`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn release(self) -> Result<Released, Error> {
        self.lease.release()
    }
}

impl Deref for ThreadLease {
    type Target = Lease;

    fn deref(&self) -> &Lease {
        &self.lease
    }
}
