//! What a strategy makes of the server's answers.

use std::fmt;
use std::time::Duration;

use crate::fence::Fence;
use crate::loss::Loss;
use crate::name::{Owner, short_hash};

/// What came of asking for a lock.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::{Attempt, Grant};
///
/// let attempt = Attempt::Granted(Grant::default());
/// assert!(matches!(attempt, Attempt::Granted(_)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Attempt {
    /// The lock is the claimant's.
    Granted(Grant),
    /// Somebody has it.
    Held(Holder),
    /// The acquisition was left before this question of it came in.
    Withdrawn,
    /// The owner does not hold the lock, although it thought to hold it already.
    OuterGone,
}

/// A grant: what is to be known of it later.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::Grant;
///
/// let grant = Grant::default().with_mark("1369146406");
/// assert_eq!(grant.mark(), Some(&b"1369146406"[..]));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Grant {
    mark: Option<Vec<u8>>,
    fence: Option<Fence>,
}

impl Grant {
    /// Adds what now stands at the server as the sign of this hold.
    ///
    /// # Examples
    ///
    /// ```
    /// let grant = leasehold::strategy::Grant::default().with_mark("1369146406");
    /// assert!(grant.mark().is_some());
    /// ```
    pub fn with_mark(mut self, mark: impl Into<Vec<u8>>) -> Self {
        self.mark = Some(mark.into());
        self
    }

    /// Adds the first of the fences that were reserved.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::{strategy::Grant, Fence};
    /// let grant = Grant::default().with_fence(Some(Fence::new(7)));
    /// assert_eq!(grant.fence(), Some(Fence::new(7)));
    /// ```
    pub fn with_fence(mut self, fence: Option<Fence>) -> Self {
        self.fence = fence;
        self
    }

    /// What stands at the server as the sign of this hold.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::{strategy::Grant, Fence};
    /// let grant = Grant::default().with_mark("7").with_fence(Some(Fence::new(9)));
    /// assert_eq!(grant.mark(), Some(&b"7"[..]));
    /// ```
    pub fn mark(&self) -> Option<&[u8]> {
        self.mark.as_deref()
    }

    /// The first of the fences that were reserved.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::{strategy::Grant, Fence};
    /// let grant = Grant::default().with_mark("7").with_fence(Some(Fence::new(9)));
    /// assert_eq!(grant.fence(), Some(Fence::new(9)));
    /// ```
    pub fn fence(&self) -> Option<Fence> {
        self.fence
    }
}

/// What came of extending a hold.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::Kept;
///
/// assert_ne!(Kept::Kept { mark: None }, Kept::Gone);
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// The hold lasts on, under a new sign where the protocol has one.
    Kept {
        /// What stands at the server now, where it changed.
        mark: Option<Vec<u8>>,
    },
    /// Nobody holds the lock.
    Gone,
    /// Somebody else holds it.
    Taken,
    /// A foreign stamp stands where the hold's own was.
    Contested,
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("mark", &self.mark.as_deref().map(short_hash))
            .field("fence", &self.fence)
            .finish()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept { mark } => f
                .debug_struct("Kept")
                .field("mark", &mark.as_deref().map(short_hash))
                .finish(),
            Self::Gone => f.write_str("Gone"),
            Self::Taken => f.write_str("Taken"),
            Self::Contested => f.write_str("Contested"),
        }
    }
}

impl Kept {
    /// The loss that this answer tells of, for a hold that had not ended.
    pub(crate) fn loss(&self) -> Option<Loss> {
        match self {
            Self::Kept { .. } => None,
            Self::Gone => Some(Loss::Deleted),
            Self::Taken => Some(Loss::Taken),
            Self::Contested => Some(Loss::Contested),
        }
    }
}

/// What came of leaving.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::Left;
///
/// assert_ne!(Left::Freed, Left::StillHeld);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Left {
    /// The lock was the hold's, and is free now.
    Freed,
    /// The owner still holds it, once less often.
    StillHeld,
    /// Nobody held the lock.
    Gone,
    /// Somebody else holds it; nothing was changed.
    Taken,
    /// A foreign stamp stands where the hold's own was; it was left alone.
    Contested,
}

impl Left {
    /// The loss that this answer tells of, for a hold that had not ended.
    pub(crate) fn loss(self) -> Option<Loss> {
        match self {
            Self::Freed | Self::StillHeld => None,
            Self::Gone => Some(Loss::Deleted),
            Self::Taken => Some(Loss::Taken),
            Self::Contested => Some(Loss::Contested),
        }
    }
}

/// Who holds a lock, as far as the server can say.
///
/// It displays as a person would want to read it, and gives no secret away.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::Holder;
///
/// let holder = Holder::of("lh:6f0f..").labelled("web-3:4711");
/// assert_eq!(holder.label(), Some("web-3:4711"));
/// assert!(holder.to_string().starts_with("web-3:4711"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Holder {
    mark: Vec<u8>,
    owner: Option<Owner>,
    label: Option<String>,
    remaining: Option<Duration>,
}

impl Holder {
    /// The holder whose sign at the server is `mark`.
    ///
    /// # Examples
    ///
    /// ```
    /// let holder = leasehold::strategy::Holder::of("x");
    /// assert_eq!(holder.mark(), b"x");
    /// ```
    pub fn of(mark: impl Into<Vec<u8>>) -> Self {
        Self {
            mark: mark.into(),
            owner: None,
            label: None,
            remaining: None,
        }
    }

    /// Adds the owner.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::{strategy::Holder, Owner};
    /// let owner: Owner = "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:7".parse()?;
    /// assert_eq!(Holder::of("x").owned_by(Some(owner)).owner(), Some(&owner));
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn owned_by(mut self, owner: Option<Owner>) -> Self {
        self.owner = owner;
        self
    }

    /// Adds what the holder says of itself.
    ///
    /// # Examples
    ///
    /// ```
    /// let holder = leasehold::strategy::Holder::of("x").labelled("web-3:4711");
    /// assert_eq!(holder.label(), Some("web-3:4711"));
    /// ```
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds how long the hold still lasts; `None` for one without an end.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let second = Some(Duration::from_secs(1));
    /// assert_eq!(leasehold::strategy::Holder::of("x").lasting(second).remaining(), second);
    /// ```
    pub fn lasting(mut self, remaining: Option<Duration>) -> Self {
        self.remaining = remaining;
        self
    }

    /// The sign of the hold at the server. It proves the hold: do not print it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::Holder;
    /// let holder = Holder::of("x").labelled("web-3:4711").lasting(Some(Duration::from_secs(1)));
    /// assert_eq!(holder.mark(), b"x");
    /// ```
    pub fn mark(&self) -> &[u8] {
        &self.mark
    }

    /// The owner, where the protocol tells it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::Holder;
    /// let holder = Holder::of("x").labelled("web-3:4711").lasting(Some(Duration::from_secs(1)));
    /// assert_eq!(holder.owner(), None);
    /// ```
    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// What the holder says of itself: host and process unless it was given another label.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::Holder;
    /// let holder = Holder::of("x").labelled("web-3:4711").lasting(Some(Duration::from_secs(1)));
    /// assert_eq!(holder.label(), Some("web-3:4711"));
    /// ```
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// How long the hold lasted when the server was asked; `None` for one without an end.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::Holder;
    /// let holder = Holder::of("x").labelled("web-3:4711").lasting(Some(Duration::from_secs(1)));
    /// assert_eq!(holder.remaining(), Some(Duration::from_secs(1)));
    /// ```
    pub fn remaining(&self) -> Option<Duration> {
        self.remaining
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.label, &self.owner) {
            (Some(label), _) => write!(f, "{label} ({})", short_hash(&self.mark)),
            (None, Some(owner)) => f.write_str(&owner.short()),
            (None, None) => write!(f, "another client ({})", short_hash(&self.mark)),
        }
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder")
            .field("mark", &short_hash(&self.mark))
            .field("owner", &self.owner.as_ref().map(Owner::short))
            .field("label", &self.label)
            .field("remaining", &self.remaining)
            .finish()
    }
}
