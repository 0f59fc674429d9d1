//! The lock: the verbs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock::{self, Moment};
use crate::config::{Renewal, Terms, check_wait};
use crate::core::Core;
use crate::error::Error;
use crate::lease::{Lease, ThreadLease};
use crate::link::Lane;
use crate::name::{Name, Owner, Ticket};
use crate::retry::Retry;
use crate::strategy::{Hold, Holder, Left, sure};
use crate::wait::Acquisition;

/// A lock: a name, and the terms on which it is taken.
///
/// It holds nothing, and so it is cheap to make, to clone and to share. What it gives is a
/// [`Lease`]. Each acquisition is an owner of its own: a second one waits, in the same
/// thread too. See [`thread`](Lock::thread) and [`owned_by`](Lock::owned_by) for owners that
/// may re-enter.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let client = leasehold::Client::connect(server())?;
/// let lock = client.lock("orders:42")?;
/// let lease = lock.acquire()?;
/// assert!(lock.try_acquire()?.is_none());
/// lease.release()?;
/// assert!(lock.try_acquire()?.is_some());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Lock {
    core: Arc<Core>,
    terms: Arc<Terms>,
    name: Name,
    owner: Option<Owner>,
}

impl Lock {
    pub(crate) fn new(core: Arc<Core>, terms: Arc<Terms>, name: Name) -> Self {
        Self {
            core,
            terms,
            name,
            owner: None,
        }
    }

    /// Acquires the lock, waiting at most [`wait`](crate::Builder::wait).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut), saying who holds it, where the
    /// wait ran out; or why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// lease.check()?;
    /// lease.release()?;
    /// # Ok(()) }
    /// ```
    pub fn acquire(&self) -> Result<Lease, Error> {
        self.acquire_within(self.terms.wait)
    }

    /// Acquires the lock if it is free now: one try, `None` where somebody else has it.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// match client.lock("orders:42")?.try_acquire()? {
    ///     Some(lease) => drop(lease),
    ///     None => println!("somebody else is at it"),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn try_acquire(&self) -> Result<Option<Lease>, Error> {
        match self.acquire_by(clock::now()) {
            Ok(lease) => Ok(Some(lease)),
            Err(error) if error.is_timeout() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Acquires the lock, waiting at most `wait`; a wait of zero is one try.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Lock::acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::Duration;
    ///
    /// let lock = client.lock("orders:42")?;
    /// let lease = lock.acquire()?;
    /// let error = lock.acquire_within(Duration::from_millis(20)).unwrap_err();
    /// assert!(error.is_timeout());
    /// # Ok(()) }
    /// ```
    pub fn acquire_within(&self, wait: Duration) -> Result<Lease, Error> {
        check_wait(wait)?;
        self.acquire_by(clock::now() + wait)
    }

    /// Acquires the lock, waiting until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Lock::acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::{Duration, Instant};
    ///
    /// let deadline = Instant::now() + Duration::from_secs(1);
    /// let first = client.lock("orders:42")?.acquire_until(deadline)?;
    /// let second = client.lock("orders:43")?.acquire_until(deadline)?; // what is left of it
    /// # Ok(()) }
    /// ```
    pub fn acquire_until(&self, deadline: Instant) -> Result<Lease, Error> {
        self.acquire_by(clock::moment(deadline))
    }

    fn acquire_by(&self, deadline: Moment) -> Result<Lease, Error> {
        Acquisition::new(&self.core, &self.terms, &self.name, self.owner).run(deadline)
    }

    /// Acquires the lock, runs `work` and releases it.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Lock::acquire), in which case `work` did not run; or
    /// [`ErrorKind::Lost`](crate::ErrorKind::Lost) where the lease did not last until `work`
    /// was done, and as [`Lease::release`]. What `work` gave is then lost too: have it check
    /// the lease before every step that cannot be taken back.
    ///
    /// # Panics
    ///
    /// Where `work` does; the lock is released.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let sum = client.lock("orders:42")?.with(|lease| {
    ///     assert!(lease.is_held());
    ///     20 + 22
    /// })?;
    /// assert_eq!(sum, 42);
    /// # Ok(()) }
    /// ```
    pub fn with<T>(&self, work: impl FnOnce(&Lease) -> T) -> Result<T, Error> {
        let lease = self.acquire()?;
        let result = work(&lease);
        lease.release()?;
        Ok(result)
    }

    /// The same lock, owned by the calling thread: it may acquire again what it holds.
    ///
    /// This is how Redisson's locks are owned. It belongs to
    /// [`Reentrant`](crate::strategy::Reentrant); under another strategy a second acquire
    /// waits like anyone's. The outermost hold decides when the lease is renewed and for how
    /// long; an inner one can only make it longer.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use leasehold::{strategy::Reentrant, Released};
    ///
    /// let lock = client.with_strategy(Reentrant::default())?.lock("orders:42")?;
    /// let outer = lock.thread().acquire()?;
    /// let inner = lock.thread().acquire()?;
    /// assert_eq!(inner.release()?, Released::StillHeld);
    /// assert_eq!(outer.release()?, Released::Freed);
    /// # Ok(()) }
    /// ```
    pub fn thread(&self) -> ThreadLock {
        ThreadLock(self.clone())
    }

    /// The same lock, owned by `owner`: whoever has it may acquire again what it holds, from
    /// any thread.
    ///
    /// It belongs to [`Reentrant`](crate::strategy::Reentrant); under another strategy a
    /// second acquire waits like anyone's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) for an owner of another
    /// client: the count of an owner's holds is kept where it was made.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use leasehold::strategy::Reentrant;
    ///
    /// let client = client.with_strategy(Reentrant::default())?;
    /// let job = client.owner();
    /// let lock = client.lock("orders:42")?.owned_by(&job)?;
    /// let first = lock.acquire()?;
    /// let second = std::thread::scope(|scope| scope.spawn(|| lock.acquire()).join().unwrap())?;
    /// # drop((first, second));
    /// # Ok(()) }
    /// ```
    pub fn owned_by(&self, owner: &Owner) -> Result<Self, Error> {
        if !owner.belongs_to(self.core.id) {
            return Err(Error::config(
                "owner",
                owner.short(),
                "it was made by another client",
            ));
        }
        Ok(Self {
            owner: Some(*owner),
            ..self.clone()
        })
    }

    /// Who holds the lock, as far as the server can say; `None` where nobody does.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lock = client.lock("orders:42")?;
    /// assert!(lock.holder()?.is_none());
    /// let lease = lock.acquire()?;
    /// let holder = lock.holder()?.unwrap();
    /// println!("{holder} for another {:?}", holder.remaining());
    /// # Ok(()) }
    /// ```
    pub fn holder(&self) -> Result<Option<Holder>, Error> {
        let exchange = self.terms.strategy.inspect(&self.name);
        self.core
            .ask(
                &self.name,
                exchange,
                Lane::Common,
                self.core.link.patience(),
            )
            .map_err(|miss| self.core.explain("look at", &self.name, miss.failure))
    }

    /// Whether anybody holds the lock.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// assert!(!client.lock("orders:42")?.is_locked()?);
    /// # Ok(()) }
    /// ```
    pub fn is_locked(&self) -> Result<bool, Error> {
        Ok(self.holder()?.is_some())
    }

    /// Whether `owner` holds the lock.
    ///
    /// Where the protocol does not tell owners, only those of this client are known.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
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
    /// assert!(!lock.is_held_by(&client.owner())?);
    /// # Ok(()) }
    /// ```
    pub fn is_held_by(&self, owner: &Owner) -> Result<bool, Error> {
        let Some(holder) = self.holder()? else {
            return Ok(false);
        };
        Ok(self.core.is_of(&self.name, owner, &holder))
    }

    /// Takes the lock from `holder`, who is not asked: an operator's tool.
    ///
    /// It frees the lock only if that very holder still has it; `false` where it has not.
    /// The holder learns of it by its next renewal or check at the server, and may be at
    /// work until then.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lock = client.lock("orders:42")?;
    /// let lease = lock.acquire()?;
    /// let stuck = lock.holder()?.unwrap();
    /// assert!(lock.force_release(&stuck)?);
    /// assert!(!lock.force_release(&stuck)?);
    /// assert!(lease.release().unwrap_err().is_lost());
    /// # Ok(()) }
    /// ```
    pub fn force_release(&self, holder: &Holder) -> Result<bool, Error> {
        let hold = Hold {
            name: self.name.clone(),
            owner: Owner::fresh(self.core.id),
            ticket: Ticket::fresh(),
            lease: self.terms.lease,
            mark: Some(holder.mark().to_vec()),
            fence: None,
            holds_left: 0,
            undo: None,
            forced: true,
            repeated: false,
        };
        let exchange = sure(self.terms.strategy.leave(&hold), |left| {
            *left != Left::Freed
        });
        let until = self.core.link.patience();
        match self.core.ask(&self.name, exchange, Lane::Release, until) {
            Ok(left) => Ok(left == Left::Freed),
            Err(miss) => Err(self
                .core
                .explain("force the release of", &self.name, miss.failure)),
        }
    }

    /// What is locked.
    ///
    /// # Examples
    ///
    /// ```
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// assert_eq!(client.lock("orders:42")?.name().to_string(), "orders:42");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The same lock with another lease.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig): see
    /// [`LeaseTime`](crate::LeaseTime).
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let lock = client.lock("orders:42")?.lease(Duration::from_secs(5))?;
    /// # drop(lock);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn lease(self, lease: Duration) -> Result<Self, Error> {
        let terms = Arc::new(self.terms.with_lease(lease)?);
        Ok(Self { terms, ..self })
    }

    /// The same lock with another bound of [`acquire`](Lock::acquire).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where no clock can say
    /// its end.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let lock = client.lock("orders:42")?.wait(Duration::from_secs(60))?;
    /// # drop(lock);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn wait(self, wait: Duration) -> Result<Self, Error> {
        let terms = Arc::new(self.terms.with_wait(wait)?);
        Ok(Self { terms, ..self })
    }

    /// The same lock with another renewal: see [`Builder::renewal`](crate::Builder::renewal).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where it comes too late
    /// for the lease.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Renewal;
    ///
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let lock = client.lock("orders:42")?.renewal(Renewal::Off)?;
    /// # drop(lock);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn renewal(self, renewal: Renewal) -> Result<Self, Error> {
        let terms = Arc::new(self.terms.with_renewal(renewal)?);
        Ok(Self { terms, ..self })
    }

    /// The same lock with another bound of its renewals: see
    /// [`Builder::max_hold`](crate::Builder::max_hold).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where it is shorter than
    /// the lease.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let lock = client.lock("orders:42")?.max_hold(Duration::from_secs(300))?;
    /// # drop(lock);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn max_hold(self, max_hold: Duration) -> Result<Self, Error> {
        let terms = Arc::new(self.terms.with_max_hold(max_hold)?);
        Ok(Self { terms, ..self })
    }

    /// The same lock, whose leases bring a fence: see
    /// [`Builder::fence`](crate::Builder::fence).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where the strategy has
    /// none.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let lease = client.lock("orders:42")?.fence(true)?.acquire()?;
    /// assert!(lease.fence().is_some());
    /// # Ok(()) }
    /// ```
    pub fn fence(self, fence: bool) -> Result<Self, Error> {
        let terms = Arc::new(self.terms.with_fence(fence)?);
        Ok(Self { terms, ..self })
    }

    /// The same lock with other pauses between tries.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::Retry;
    ///
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let lock = client.lock("orders:42")?.retry(Retry::uniform(Duration::from_millis(5)));
    /// # drop(lock);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn retry(self, retry: Retry) -> Self {
        let terms = Terms {
            retry,
            ..(*self.terms).clone()
        };
        Self {
            terms: Arc::new(terms),
            ..self
        }
    }
}

/// A [`Lock`] that is owned by whichever thread calls: see [`Lock::thread`].
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
/// let outer = lock.acquire()?;
/// assert!(lock.try_acquire()?.is_some()); // the same thread again
/// # drop(outer);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ThreadLock(Lock);

impl ThreadLock {
    /// As [`Lock::acquire`], for the calling thread.
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
    /// let (outer, inner) = (lock.acquire()?, lock.acquire()?);
    /// assert!(outer.is_held() && inner.is_held());
    /// # Ok(()) }
    /// ```
    pub fn acquire(&self) -> Result<ThreadLease, Error> {
        self.mine().acquire().map(ThreadLease::new)
    }

    /// As [`Lock::try_acquire`], for the calling thread.
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
    /// let outer = lock.acquire()?;
    /// assert!(lock.try_acquire()?.is_some());
    /// # drop(outer);
    /// # Ok(()) }
    /// ```
    pub fn try_acquire(&self) -> Result<Option<ThreadLease>, Error> {
        Ok(self.mine().try_acquire()?.map(ThreadLease::new))
    }

    /// As [`Lock::acquire_within`], for the calling thread.
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
    /// let lease = lock.acquire_within(std::time::Duration::from_secs(1))?;
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn acquire_within(&self, wait: Duration) -> Result<ThreadLease, Error> {
        self.mine().acquire_within(wait).map(ThreadLease::new)
    }

    /// As [`Lock::acquire_until`], for the calling thread.
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
    /// use std::time::{Duration, Instant};
    ///
    /// let lease = lock.acquire_until(Instant::now() + Duration::from_secs(1))?;
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn acquire_until(&self, deadline: Instant) -> Result<ThreadLease, Error> {
        self.mine().acquire_until(deadline).map(ThreadLease::new)
    }

    /// As [`Lock::with`], for the calling thread.
    ///
    /// # Errors
    ///
    /// As there.
    ///
    /// # Panics
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
    /// let nested = lock.with(|_| lock.with(|_| 42))??;
    /// assert_eq!(nested, 42);
    /// # Ok(()) }
    /// ```
    pub fn with<T>(&self, work: impl FnOnce(&Lease) -> T) -> Result<T, Error> {
        self.mine().with(work)
    }

    /// Whether the calling thread holds the lock.
    ///
    /// # Errors
    ///
    /// Why the server could not be asked.
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
    /// assert!(!lock.is_held()?);
    /// let lease = lock.acquire()?;
    /// assert!(lock.is_held()?);
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn is_held(&self) -> Result<bool, Error> {
        self.0.is_held_by(&Owner::of_thread(self.0.core.id))
    }

    fn mine(&self) -> Lock {
        Lock {
            owner: Some(Owner::of_thread(self.0.core.id)),
            ..self.0.clone()
        }
    }
}
