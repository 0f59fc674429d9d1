//! The lease: the hold, with its end.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::clock;
use crate::config::LeaseTime;
use crate::core::Core;
use crate::error::Error;
use crate::fence::Fence;
use crate::hold::{Held, asking, number};
use crate::loss::Loss;
use crate::name::{Name, Owner};

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
    id: u64,
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
            id: number(),
            patience,
            left: false,
        }
    }

    /// What is locked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// assert_eq!(lease.name().to_string(), "orders:42");
    /// # Ok(()) }
    /// ```
    pub fn name(&self) -> &Name {
        &self.held.name
    }

    /// Who holds it.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lock = client.lock("orders:42")?;
    /// let lease = lock.acquire()?;
    /// assert!(lock.is_held_by(lease.owner())?);
    /// # Ok(()) }
    /// ```
    pub fn owner(&self) -> &Owner {
        &self.held.owner
    }

    /// The number that lets a store refuse an older holder; `None` where none was asked for.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.fence(true)?.acquire()?;
    /// let number = lease.fence().map(|fence| fence.number());
    /// assert!(number.is_some());
    /// # Ok(()) }
    /// ```
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
        self.held.strategy.admit(lease).map_err(|why| {
            let lease = format!("{:?}", lease.as_duration());
            Error::config("lease", lease, why)
        })?;
        self.ask_for(lease)
    }

    fn ask_for(&self, lease: LeaseTime) -> Result<(), Error> {
        let until = asking::patience(&self.core, &self.held, self.patience);
        asking::extend(&self.core, &self.held, lease, until)
    }

    /// Asks the server once more whether the lock is still the holder's, makes its lease
    /// whole again, and then runs `step`.
    ///
    /// For the step that cannot be taken back. What can still come in between is what comes
    /// between the server's answer and the step's own effect; a [fence](Lease::fence) closes
    /// that too.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Lost`](crate::ErrorKind::Lost), or why the server could not be asked;
    /// `step` did not run.
    ///
    /// # Panics
    ///
    /// Where `step` does.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// let paid = lease.commit(|| "the order is paid")?;
    /// assert_eq!(paid, "the order is paid");
    /// # Ok(()) }
    /// ```
    pub fn commit<T>(&self, step: impl FnOnce() -> T) -> Result<T, Error> {
        self.ask_for(self.held.lease())?;
        self.check()?;
        Ok(step())
    }

    /// Has `call` run when the lease is lost, once; at once, where it is.
    ///
    /// It runs on a thread of its own. It is not called for a lease that was released or
    /// dropped before.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::sync::mpsc;
    ///
    /// let lock = client.lock("orders:42")?.lease(std::time::Duration::from_millis(300))?;
    /// let lease = lock.acquire()?;
    /// let (tell, told) = mpsc::channel();
    /// lease.on_lost(move |loss| tell.send(loss).unwrap());
    /// lock.force_release(&lock.holder()?.unwrap())?;
    /// assert_eq!(told.recv().unwrap(), leasehold::Loss::Deleted);
    /// # Ok(()) }
    /// ```
    pub fn on_lost(&self, call: impl FnOnce(Loss) + Send + 'static) {
        self.held.on_lost(self.id, call);
        if !self.held.pace.renews() {
            let _ = self.core.keeper.keep(&self.held); // without a thread `check` must do
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
        self.held.hush(self.id);
        let until = asking::patience(&self.core, &self.held, self.patience);
        asking::leave(&self.core, &self.held, until, false)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.left {
            self.held.hush(self.id);
            let until = clock::now() + self.core.drop_timeout;
            let _ = asking::leave(&self.core, &self.held, until, true);
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use leasehold::strategy::Reentrant;
    ///
    /// let lock = client.with_strategy(Reentrant::default())?.lock("orders:42")?.thread();
    /// lock.acquire()?.release()?;
    /// # Ok(()) }
    /// ```
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
