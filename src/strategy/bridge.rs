//! Two strategies at once, for a migration from the one to the other.

mod crossing;
pub(crate) mod phase;
mod sides;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use phase::Phase;

use super::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy};
use crate::config::LeaseTime;
use crate::exchange::Exchange;
use crate::name::Name;

/// Where the marker of a migration stands unless it is said otherwise.
pub(crate) const MARKER: &str = "leasehold:phase";

/// Two strategies at once: takes the old lock and then the new one, and holds while it has both.
///
/// Its clients exclude those that know only the old lock, and those that know only the new one.
/// A fleet moves from the one to the other without a pause: first every client becomes one of
/// [`Phase::Both`], then every client one of [`Phase::New`]. `docs/migrating.md` is the
/// recipe.
///
/// A marker at the server says how far the fleet has come, and refuses who would skip a phase.
/// It is moved by [`Marker`](crate::migrate::Marker), and by nothing else. It knows nothing of
/// clients that do not ask it.
///
/// It waits by retrying, stands in no line, and costs the commands of both strategies and one
/// more.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// use std::time::Duration;
/// use leasehold::strategy::{Bridge, Dialect, Timestamp, Token};
///
/// let old = Timestamp::guarded(Dialect::java_millis(), Duration::from_secs(60));
/// let client = leasehold::Client::builder(server())
///     .strategy(Bridge::new(old, Token::default()))
///     .build()?;
/// let lease = client.lock("orders:42")?.acquire()?; // orders:42, and {orders:42}:next
/// lease.release()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Bridge {
    parts: Arc<Parts>,
}

struct Parts {
    old: Arc<dyn LockStrategy>,
    new: Arc<dyn LockStrategy>,
    phase: Phase,
    names: Names,
    marker: String,
    /// The marker has admitted this client before.
    started: AtomicBool,
}

type Names = Arc<dyn Fn(&Name) -> Name + Send + Sync>;

impl Bridge {
    /// A bridge from the strategy `old` to `new`, in [`Phase::Both`].
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::{Bridge, Reentrant, Token};
    ///
    /// let bridge = Bridge::new(Token::default(), Reentrant::default());
    /// # drop(bridge);
    /// ```
    pub fn new(old: impl LockStrategy + 'static, new: impl LockStrategy + 'static) -> Self {
        Self {
            parts: Arc::new(Parts {
                old: Arc::new(old),
                new: Arc::new(new),
                phase: Phase::Both,
                names: Arc::new(|name| name.beside("next")),
                marker: MARKER.to_owned(),
                started: AtomicBool::new(false),
            }),
        }
    }

    /// Sets the phase in which this client runs.
    ///
    /// Defaults to [`Phase::Both`]. It is best read from the configuration: then a step of the
    /// migration, and a step back, are a restart.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Bridge, Phase, Reentrant, Token};
    /// let bridge = Bridge::new(Token::default(), Reentrant::default()).phase(Phase::New);
    /// # drop(bridge);
    /// ```
    pub fn phase(self, phase: Phase) -> Self {
        self.with(|parts| Parts { phase, ..parts })
    }

    /// Sets under which name the new lock stands.
    ///
    /// Defaults to `{name}:next`, and `{tag}rest::next` for a name with a tag of its own, which
    /// is in the same slot of a cluster. It must give two names for two names, and never the
    /// old one: no key holds both locks.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Bridge, Reentrant, Token};
    /// use leasehold::Name;
    ///
    /// let bridge = Bridge::new(Token::default(), Reentrant::default()).names(|old| {
    ///     let new = [b"v2:", old.as_bytes()].concat();
    ///     Name::new(new).unwrap_or_else(|_| old.clone()) // the old name is refused
    /// });
    /// # drop(bridge);
    /// ```
    pub fn names(self, names: impl Fn(&Name) -> Name + Send + Sync + 'static) -> Self {
        self.with(|parts| Parts {
            names: Arc::new(names),
            ..parts
        })
    }

    /// Sets the key of the marker, for a server with several migrations.
    ///
    /// Defaults to `leasehold:phase`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::strategy::{Bridge, Reentrant, Token};
    /// let bridge = Bridge::new(Token::default(), Reentrant::default()).marker("billing:phase");
    /// # drop(bridge);
    /// ```
    pub fn marker(self, key: impl Into<String>) -> Self {
        let marker = key.into();
        self.with(|parts| Parts { marker, ..parts })
    }

    fn with(self, change: impl FnOnce(Parts) -> Parts) -> Self {
        let parts = Parts {
            old: Arc::clone(&self.parts.old),
            new: Arc::clone(&self.parts.new),
            names: Arc::clone(&self.parts.names),
            marker: self.parts.marker.clone(),
            started: AtomicBool::new(false),
            ..*self.parts
        };
        Self {
            parts: Arc::new(change(parts)),
        }
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("phase", &self.parts.phase)
            .field("old", &self.parts.old)
            .field("new", &self.parts.new)
            .field("marker", &self.parts.marker)
            .finish_non_exhaustive()
    }
}

impl LockStrategy for Bridge {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        Arc::clone(&self.parts).acquire(claim.clone())
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        Arc::clone(&self.parts).extend(hold, lease)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        self.parts.leave(hold)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        self.parts.inspect(name)
    }

    fn reenters(&self) -> bool {
        self.parts.reenters()
    }

    fn fences(&self) -> bool {
        match self.parts.phase {
            Phase::Old => self.parts.old.fences(),
            Phase::Both => self.parts.old.fences() || self.parts.new.fences(),
            Phase::New => self.parts.new.fences(),
        }
    }

    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        if self.parts.phase != Phase::New {
            self.parts.old.admit(lease)?;
        }
        if self.parts.phase != Phase::Old {
            self.parts.new.admit(lease)?;
        }
        Ok(())
    }
}
