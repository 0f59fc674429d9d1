//! The client: where the server is, and everything that its locks share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Builder, Terms};
use crate::core::Core;
use crate::error::Error;
use crate::link::Wire;
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

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    pub(crate) fn new(wire: Wire, pool_size: u32, drop_timeout: Duration, terms: Terms) -> Self {
        Self {
            core: Arc::new(Core::new(wire, pool_size, drop_timeout)),
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
