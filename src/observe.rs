//! What happens inside, told to whoever wants to know. The library itself prints nothing.

#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "tracing")]
mod tracing;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "metrics")]
pub use self::metrics::Metrics;
#[cfg(feature = "tracing")]
pub use self::tracing::Tracing;
use crate::error::Error;
use crate::fence::Fence;
use crate::loss::Loss;
use crate::name::{Name, Owner};
use crate::strategy::Holder;

/// Is told what happens to locks.
///
/// Every method does nothing unless it is written. They are called by the thread to which
/// the thing happens, the keeper among them: they should not block. None of them is told a
/// password or what proves a hold.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use leasehold::observe::{Granted, Observer};
///
/// #[derive(Default)]
/// struct Count(AtomicU32);
///
/// impl Observer for Count {
///     fn granted(&self, _: &Granted<'_>) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let count = Arc::new(Count::default());
/// let client = leasehold::Client::builder(server()).observer(Arc::clone(&count)).build()?;
/// client.lock("orders:42")?.with(|_| ())?;
/// assert_eq!(count.0.load(Ordering::Relaxed), 1);
/// # Ok(()) }
/// ```
pub trait Observer: Send + Sync {
    /// A lock was acquired.
    fn granted(&self, event: &Granted<'_>) {
        let _ = event;
    }
    /// A try found the lock held by somebody else.
    fn contended(&self, event: &Contended<'_>) {
        let _ = event;
    }
    /// A wait ended without the lock.
    fn waited(&self, event: &Waited<'_>) {
        let _ = event;
    }
    /// A lease was renewed.
    fn renewed(&self, event: &Renewed<'_>) {
        let _ = event;
    }
    /// A renewal did not come through; it is tried again until the lease ends.
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        let _ = event;
    }
    /// A lease was lost.
    fn lost(&self, event: &Lost<'_>) {
        let _ = event;
    }
    /// A lease was released, or could not be.
    fn released(&self, event: &Released<'_>) {
        let _ = event;
    }
    /// What may have been granted unheard was undone, or could not be yet.
    fn undone(&self, event: &Undone<'_>) {
        let _ = event;
    }
    /// A connection was made in the place of one that broke.
    fn reconnected(&self, event: &Reconnected<'_>) {
        let _ = event;
    }
    /// The server took long for an answer.
    fn slow(&self, event: &Slow<'_>) {
        let _ = event;
    }
    /// The server is set up so that locks may vanish.
    fn warned(&self, event: &Warned<'_>) {
        let _ = event;
    }
}

/// A lock was acquired.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Granted, Observer};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn granted(&self, event: &Granted<'_>) {
///         println!("{} after {:?}", event.name, event.waited);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Granted<'a> {
    /// What was locked.
    pub name: &'a Name,
    /// Who holds it.
    pub owner: &'a Owner,
    /// How long it was waited for.
    pub waited: Duration,
    /// How often it was tried, this time included.
    pub tries: u32,
    /// The fence, where one was asked for.
    pub fence: Option<Fence>,
}

/// A try found the lock held by somebody else.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Contended, Observer};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn contended(&self, event: &Contended<'_>) {
///         println!("{} is with {}", event.name, event.holder);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Contended<'a> {
    /// What was to be locked.
    pub name: &'a Name,
    /// Who has it.
    pub holder: &'a Holder,
}

/// A wait ended without the lock.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Waited};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn waited(&self, event: &Waited<'_>) {
///         println!("no {}: {}", event.name, event.error);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Waited<'a> {
    /// What was to be locked.
    pub name: &'a Name,
    /// How long it was waited for.
    pub waited: Duration,
    /// How often it was tried.
    pub tries: u32,
    /// What the caller is told.
    pub error: &'a Error,
}

/// A lease was renewed.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Renewed};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn renewed(&self, event: &Renewed<'_>) {
///         println!("{} goes on", event.name);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Renewed<'a> {
    /// What is locked.
    pub name: &'a Name,
    /// Who holds it.
    pub owner: &'a Owner,
}

/// A renewal did not come through.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, RenewalFailed};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn renewal_failed(&self, event: &RenewalFailed<'_>) {
///         println!("{}: {}, {:?} left", event.name, event.reason, event.remaining);
///     }
/// }
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RenewalFailed<'a> {
    /// What is locked.
    pub name: &'a Name,
    /// Who holds it.
    pub owner: &'a Owner,
    /// Why.
    pub reason: &'a dyn fmt::Display,
    /// How long the lease still lasts.
    pub remaining: Duration,
}

/// A lease was lost.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Lost, Observer};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn lost(&self, event: &Lost<'_>) {
///         println!("{} is lost: {}", event.name, event.loss);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Lost<'a> {
    /// What was locked.
    pub name: &'a Name,
    /// Who held it.
    pub owner: &'a Owner,
    /// How.
    pub loss: Loss,
}

/// A lease was released, or could not be.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Released};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn released(&self, event: &Released<'_>) {
///         println!("{} is free: {}", event.name, event.result.is_ok());
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Released<'a> {
    /// What was locked.
    pub name: &'a Name,
    /// Who held it.
    pub owner: &'a Owner,
    /// What came of it; what failed is tried again until the lease ends.
    pub result: &'a Result<crate::lease::Released, Error>,
    /// Whether the lease was dropped, so that nobody else hears of the result.
    pub dropped: bool,
}

/// What may have been granted unheard was undone, or could not be yet.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Undone};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn undone(&self, event: &Undone<'_>) {
///         println!("{} undone: {}", event.name, event.confirmed);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Undone<'a> {
    /// What was to be locked.
    pub name: &'a Name,
    /// Whether the server has said so; else it is asked again until the lease would have
    /// ended.
    pub confirmed: bool,
}

/// A connection was made in the place of one that broke.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Reconnected};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn reconnected(&self, event: &Reconnected<'_>) {
///         println!("{} is back", event.address);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reconnected<'a> {
    /// The server's address.
    pub address: &'a str,
}

/// The server took long for an answer.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Slow};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn slow(&self, event: &Slow<'_>) {
///         println!("{} took {:?}", event.name, event.took);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Slow<'a> {
    /// What it was asked about.
    pub name: &'a Name,
    /// How long it took.
    pub took: Duration,
}

/// The server is set up so that locks may vanish.
///
/// # Examples
///
/// ```
/// use leasehold::observe::{Observer, Warned};
///
/// struct Told;
///
/// impl Observer for Told {
///     fn warned(&self, event: &Warned<'_>) {
///         println!("{}: {}", event.address, event.warning);
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Warned<'a> {
    /// The server's address.
    pub address: &'a str,
    /// What is the matter.
    pub warning: &'a str,
}

impl fmt::Debug for RenewalFailed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenewalFailed")
            .field("name", self.name)
            .field("owner", self.owner)
            .field("reason", &format_args!("{}", self.reason))
            .field("remaining", &self.remaining)
            .finish()
    }
}

impl<T: Observer + ?Sized> Observer for Arc<T> {
    fn granted(&self, event: &Granted<'_>) {
        (**self).granted(event);
    }
    fn contended(&self, event: &Contended<'_>) {
        (**self).contended(event);
    }
    fn waited(&self, event: &Waited<'_>) {
        (**self).waited(event);
    }
    fn renewed(&self, event: &Renewed<'_>) {
        (**self).renewed(event);
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        (**self).renewal_failed(event);
    }
    fn lost(&self, event: &Lost<'_>) {
        (**self).lost(event);
    }
    fn released(&self, event: &Released<'_>) {
        (**self).released(event);
    }
    fn undone(&self, event: &Undone<'_>) {
        (**self).undone(event);
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        (**self).reconnected(event);
    }
    fn slow(&self, event: &Slow<'_>) {
        (**self).slow(event);
    }
    fn warned(&self, event: &Warned<'_>) {
        (**self).warned(event);
    }
}

/// Whoever watches a client, or nobody.
#[derive(Clone, Default)]
pub(crate) struct Watched(Option<Arc<dyn Observer>>);

impl Watched {
    pub(crate) fn by(observer: impl Observer + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Tells the observer. One that panics harms nobody but itself.
    pub(crate) fn tell(&self, tell: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = &self.0 {
            let tell = std::panic::AssertUnwindSafe(|| tell(&**observer));
            let _ = std::panic::catch_unwind(tell);
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watched").field(&self.0.is_some()).finish()
    }
}
