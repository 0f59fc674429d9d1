//! The one error: what the caller learned, and the source.

use std::fmt;
use std::time::Duration;

use crate::link::Failure;
use crate::loss::{Loss, shown};
use crate::name::Name;
use crate::strategy::Holder;

/// Why something could not be done.
///
/// [`kind`](Error::kind) says what the caller learned, the text says it to a person, and
/// [`source`](std::error::Error::source) holds what lies beneath. That somebody else holds
/// a lock is an error only where a wait for it ran out.
///
/// # Examples
///
/// ```no_run
/// # fn main() -> Result<(), leasehold::Error> {
/// # let lock = leasehold::Client::connect("redis://127.0.0.1/")?.lock("orders:42")?;
/// match lock.acquire() {
///     Ok(lease) => drop(lease),
///     Err(error) if error.is_timeout() => println!("later: {error}"),
///     Err(error) => return Err(error),
/// }
/// # Ok(()) }
/// ```
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Repr>);

/// What the caller of a failed operation learned.
///
/// # Examples
///
/// ```
/// use leasehold::{ErrorKind, Name};
///
/// assert_eq!(Name::new("").unwrap_err().kind(), ErrorKind::InvalidName);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The name cannot be that of a lock; nothing was sent.
    InvalidName,
    /// A setting cannot be; nothing was sent.
    InvalidConfig,
    /// The wait ran out while somebody else held the lock.
    TimedOut,
    /// The lease was no longer the caller's.
    Lost,
    /// The grant came after the end of its own lease, and was undone.
    TooLate,
    /// Another thread was at work on the same hold for all the time.
    Busy,
    /// The server could not be reached; nothing was done.
    Unreachable,
    /// Of several servers, too few agreed; the text says what each of them answered.
    NoQuorum,
    /// No pooled connection came free in time; nothing was done.
    PoolExhausted,
    /// Wrong password, or a permission is missing.
    Denied,
    /// The server cannot do it now, and says why: out of memory, too few replicas, a
    /// replica itself, loading, busy.
    Refused,
    /// What was asked may or may not have been done: the answer never came.
    Unknown,
    /// Something that is no lock of this strategy stands under the name.
    ForeignLock,
    /// The server answered what cannot be understood.
    Malformed,
    /// The thread that renews leases could not be started; nothing is held.
    NoThread,
    /// The client was shut down.
    ShutDown,
    /// The server lacks what the strategy needs, or the strategy lacks what was asked.
    Unsupported,
}

/// What an error is made of.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Repr {
    #[error("invalid name: {why}")]
    InvalidName { why: String },
    #[error("invalid `{field}` = {value}: {why}")]
    InvalidConfig {
        field: &'static str,
        value: String,
        why: String,
    },
    #[error("{}", held(.name, .holder, *.by_caller, *.waited, *.tries))]
    TimedOut {
        name: Name,
        holder: Box<Holder>,
        by_caller: bool,
        waited: Duration,
        tries: u32,
    },
    #[error("the lease of \"{name}\" is lost: {loss}")]
    Lost { name: Name, loss: Loss },
    #[error("cannot {action} \"{name}\": {failure}")]
    Failed {
        action: &'static str,
        name: Name,
        #[source]
        failure: Failure,
    },
}

fn held(name: &Name, holder: &Holder, by_caller: bool, waited: Duration, tries: u32) -> String {
    let whose = if by_caller {
        ", the caller itself,"
    } else {
        ""
    };
    let left = holder.remaining().map_or_else(
        || "without an end".to_owned(),
        |left| format!("for another {}", shown(left)),
    );
    let waited = shown(waited);
    let tried = match tries {
        1 => "once".to_owned(),
        tries => format!("{tries} times"),
    };
    format!("\"{name}\" is held by {holder}{whose} {left}; waited {waited}, tried {tried}")
}

impl Error {
    pub(crate) fn config(
        field: &'static str,
        value: impl fmt::Display,
        why: impl Into<String>,
    ) -> Self {
        Self::from(Repr::InvalidConfig {
            field,
            value: value.to_string(),
            why: why.into(),
        })
    }

    pub(crate) fn failed(action: &'static str, name: &Name, failure: Failure) -> Self {
        Self::from(Repr::Failed {
            action,
            name: name.clone(),
            failure,
        })
    }

    pub(crate) fn lost(name: &Name, loss: Loss) -> Self {
        Self::from(Repr::Lost {
            name: name.clone(),
            loss,
        })
    }

    /// What the caller learned.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Client, ErrorKind};
    ///
    /// let error = Client::connect("ftp://127.0.0.1/").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match &*self.0 {
            Repr::InvalidName { .. } => ErrorKind::InvalidName,
            Repr::InvalidConfig { .. } => ErrorKind::InvalidConfig,
            Repr::TimedOut { .. } => ErrorKind::TimedOut,
            Repr::Lost { .. } => ErrorKind::Lost,
            Repr::Failed { failure, .. } => failure.kind(),
        }
    }

    /// Whether a wait ran out while somebody else held the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!leasehold::Name::new("").unwrap_err().is_timeout());
    /// ```
    pub fn is_timeout(&self) -> bool {
        self.kind() == ErrorKind::TimedOut
    }

    /// Whether the lease was no longer the caller's.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!leasehold::Name::new("").unwrap_err().is_lost());
    /// ```
    pub fn is_lost(&self) -> bool {
        self.kind() == ErrorKind::Lost
    }

    /// Whether it is not known what the server did.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!leasehold::Name::new("").unwrap_err().is_unknown());
    /// ```
    pub fn is_unknown(&self) -> bool {
        self.kind() == ErrorKind::Unknown
    }

    /// Whether the server could not be reached.
    ///
    /// # Examples
    ///
    /// ```
    /// let client = leasehold::Client::connect("redis://127.0.0.1:1/")?;
    /// assert!(client.lock("orders:42")?.try_acquire().unwrap_err().is_unreachable());
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn is_unreachable(&self) -> bool {
        self.kind() == ErrorKind::Unreachable
    }

    /// Whether a name was refused.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(leasehold::Name::new("").unwrap_err().is_invalid_name());
    /// ```
    pub fn is_invalid_name(&self) -> bool {
        self.kind() == ErrorKind::InvalidName
    }

    /// Whether the same call may succeed a little later: a timeout, an unreachable server,
    /// an exhausted pool, a server that cannot just now.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!leasehold::Name::new("").unwrap_err().is_passing());
    /// ```
    pub fn is_passing(&self) -> bool {
        match &*self.0 {
            Repr::TimedOut { .. } => true,
            Repr::Failed { failure, .. } => failure.is_passing(),
            _ => false,
        }
    }

    /// Who held the lock when a wait for it ran out.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(leasehold::Name::new("").unwrap_err().holder().is_none());
    /// ```
    pub fn holder(&self) -> Option<&Holder> {
        match &*self.0 {
            Repr::TimedOut { holder, .. } => Some(holder),
            _ => None,
        }
    }

    /// How the lease was lost.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(leasehold::Name::new("").unwrap_err().loss().is_none());
    /// ```
    pub fn loss(&self) -> Option<Loss> {
        match &*self.0 {
            Repr::Lost { loss, .. } => Some(*loss),
            _ => None,
        }
    }
}

impl From<Repr> for Error {
    fn from(repr: Repr) -> Self {
        Self(Box::new(repr))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Error").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
