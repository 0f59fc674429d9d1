//! The client: where the server is, and everything that its locks share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Builder, Terms};
use crate::core::Core;
use crate::error::Error;
use crate::link::{Servers, Wire};
use crate::lock::Lock;
use crate::name::{Name, Owner};
use crate::strategy::LockStrategy;

/// A client of one server, from which locks are made.
///
/// Cloning it is cheap, and all clones share one pool of connections. Keep one for the
/// whole program. It connects when it is first needed.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let url = server();
/// let client = leasehold::Client::connect(url)?;
/// let lease = client.lock("orders:42")?.acquire()?;
/// assert!(lease.is_held());
/// # lease.release()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    terms: Arc<Terms>,
}

impl Client {
    /// Makes a client of the server at `url` with the default settings.
    ///
    /// `redis://[user[:password]@]host[:port][/database]`, `rediss://` likewise by TLS, or
    /// `redis+unix:///path[?db=..&user=..&pass=..]`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where the URL is none.
    ///
    /// # Examples
    ///
    /// ```
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn connect(url: impl Into<String>) -> Result<Self, Error> {
        Self::builder(url).build()
    }

    /// Starts the settings of a client of the server at `url`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let client = leasehold::Client::builder("redis://127.0.0.1/")
    ///     .lease(Duration::from_secs(15))
    ///     .build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder::new(url.into())
    }

    /// Starts the settings of a client of several independent servers, a majority of which
    /// decides: Redlock.
    ///
    /// A lock is then held as long as a majority holds it, and survives the loss of any
    /// minority: of one server out of 3, two out of 5. The servers must know nothing of each
    /// other: neither replicas of one primary nor nodes of one cluster. They are asked all at
    /// once; one that does not answer within [`io_timeout`](Builder::io_timeout), here 50 ms
    /// unless set, is left out until it answers again. A server that was restarted does not
    /// count for a while: see [`quarantine`](Builder::quarantine).
    ///
    /// An even number tolerates no more losses than the odd number below it, and needs one
    /// more to agree. One server is a majority of itself. The same address twice is refused by
    /// `build`, as are more than 32, and strategies that are not safe there
    /// ([`LockStrategy::admit_many`]). Everything else is as with one server; waiters poll.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let [a, b, c] = [server(), server(), server()];
    /// # use std::time::Duration;
    /// use leasehold::Client;
    ///
    /// let client = Client::redlock([a, b, c]) // "redis://a.example", ..
    ///     .quarantine(Duration::ZERO) // these were started just now
    ///     .build()?;
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// lease.check()?;
    /// lease.release()?;
    /// # Ok(()) }
    /// ```
    pub fn redlock<U: Into<String>>(urls: impl IntoIterator<Item = U>) -> Builder {
        Builder::redlock(urls.into_iter().map(Into::into).collect())
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The same client of one of its servers alone.
    pub(crate) fn at(&self, wire: &Arc<Wire>) -> Self {
        let servers = Servers::One(Arc::clone(wire));
        Self {
            core: Arc::new(Core::new(servers, 1, self.core.drop_timeout)),
            terms: Arc::clone(&self.terms),
        }
    }

    pub(crate) fn new(
        servers: Servers,
        pool_size: u32,
        drop_timeout: Duration,
        terms: Terms,
    ) -> Self {
        Self {
            core: Arc::new(Core::new(servers, pool_size, drop_timeout)),
            terms: Arc::new(terms),
        }
    }

    /// The lock of that name. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidName`](crate::ErrorKind::InvalidName): see [`Name`].
    ///
    /// # Examples
    ///
    /// ```
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// let lock = client.lock("orders:42")?;
    /// assert_eq!(lock.name().as_bytes(), b"orders:42");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn lock(&self, name: impl AsRef<[u8]>) -> Result<Lock, Error> {
        let name = Name::new(name)?;
        Ok(Lock::new(
            Arc::clone(&self.core),
            Arc::clone(&self.terms),
            name,
        ))
    }

    /// The same client with another wire protocol: connections and threads are shared.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) where the strategy does
    /// not admit the client's lease.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{strategy::Reentrant, Client};
    ///
    /// let client = Client::connect("redis://127.0.0.1/")?;
    /// let beside_java = client.with_strategy(Reentrant::default())?;
    /// # drop(beside_java);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn with_strategy(&self, strategy: impl LockStrategy + 'static) -> Result<Self, Error> {
        let terms = self.terms.with_strategy(Arc::new(strategy))?;
        Ok(Self {
            core: Arc::clone(&self.core),
            terms: Arc::new(terms),
        })
    }

    /// A new owner, for [`Lock::owned_by`].
    ///
    /// # Examples
    ///
    /// ```
    /// let client = leasehold::Client::connect("redis://127.0.0.1/")?;
    /// assert_ne!(client.owner(), client.owner());
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn owner(&self) -> Owner {
        Owner::fresh(self.core.id)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("link", &self.core.link)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}
