//! What a strategy is asked with: the claim of who wants a lock, the hold of who has it.

use std::fmt;

use crate::clock::WallTime;
use crate::config::LeaseTime;
use crate::fence::Fence;
use crate::name::{Name, Owner, Ticket, short_hash};

/// Who wants which lock, and for how long.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::strategy::{Claim, LockStrategy, Token};
/// use leasehold::{LeaseTime, Name};
///
/// let claim = Claim::new(Name::new("orders:42")?, LeaseTime::new(Duration::from_secs(30))?);
/// let exchange = Token::default().acquire(&claim);
/// # drop(exchange);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Claim {
    pub(crate) name: Name,
    pub(crate) owner: Owner,
    pub(crate) ticket: Ticket,
    pub(crate) lease: LeaseTime,
    pub(crate) now: WallTime,
    pub(crate) waits: bool,
    pub(crate) count: u32,
    pub(crate) fences: u32,
}

impl Claim {
    /// Makes the claim of a new owner with a new ticket, who will not wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert_eq!(claim.lease(), lease);
    /// assert_eq!(claim.count(), 1);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn new(name: Name, lease: LeaseTime) -> Self {
        Self::of(Owner::fresh(uuid::Uuid::new_v4()), name, lease)
    }

    pub(crate) fn of(owner: Owner, name: Name, lease: LeaseTime) -> Self {
        Self {
            name,
            owner,
            ticket: Ticket::fresh(),
            lease,
            now: crate::clock::wall(),
            waits: false,
            count: 1,
            fences: 0,
        }
    }

    /// What is to be locked.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert_eq!(claim.name().to_string(), "orders:42");
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Who will hold it: an owner of its own for every outermost hold, so that a question
    /// about an earlier hold which comes in late does not meet this one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// let field = claim.owner().to_string(); // as Redisson writes it
    /// assert_eq!(field.split(':').count(), 2);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The acquisition, the same in every try of it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert_eq!(claim.ticket(), claim.clone().ticket());
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// How long the hold shall last.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert_eq!(claim.lease().as_millis(), 30_000);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn lease(&self) -> LeaseTime {
        self.lease
    }

    /// The wall clock when the claim was made, for a protocol that must send a time.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert!(claim.now().as_millis() > 1_700_000_000_000);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn now(&self) -> WallTime {
        self.now
    }

    /// Whether the claimant will wait if it does not get the lock now.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert!(!claim.waits());
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn waits(&self) -> bool {
        self.waits
    }

    /// How often the owner will hold the lock once this claim is granted.
    ///
    /// More than 1 only where the strategy [re-enters](super::LockStrategy::reenters).
    /// It is to be written, never added to what is stored: a resent question must change
    /// nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert_eq!(claim.count(), 1);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many fences the grant shall reserve: none where nobody asked for one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{strategy::Claim, LeaseTime, Name};
    /// # let lease = LeaseTime::new(Duration::from_secs(30))?;
    /// let claim = Claim::new(Name::new("orders:42")?, lease);
    /// assert_eq!(claim.fences(), 0);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn fences(&self) -> u32 {
        self.fences
    }

    /// The hold that this claim may have become, for undoing it.
    pub(crate) fn undo(&self) -> Hold {
        Hold {
            name: self.name.clone(),
            owner: self.owner,
            ticket: self.ticket,
            lease: self.lease,
            mark: None,
            fence: None,
            holds_left: self.count - 1,
            undo: Some(self.lease),
            forced: false,
            repeated: false,
        }
    }
}

/// What somebody holds, or may hold.
///
/// # Examples
///
/// ```no_run
/// # use leasehold::strategy::{Hold, Kept, LockStrategy, Token};
/// # use leasehold::{Exchange, LeaseTime};
/// fn keep(strategy: &Token, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
///     assert!(!hold.name().as_bytes().is_empty());
///     strategy.extend(hold, lease)
/// }
/// ```
#[derive(Clone)]
pub struct Hold {
    pub(crate) name: Name,
    pub(crate) owner: Owner,
    pub(crate) ticket: Ticket,
    pub(crate) lease: LeaseTime,
    pub(crate) mark: Option<Vec<u8>>,
    pub(crate) fence: Option<Fence>,
    pub(crate) holds_left: u32,
    pub(crate) undo: Option<LeaseTime>,
    pub(crate) forced: bool,
    pub(crate) repeated: bool,
}

impl Hold {
    /// The same hold, when it is left again.
    pub(crate) fn again(mut self) -> Self {
        self.repeated = true;
        self
    }

    /// What is locked.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn key(hold: &Hold) -> &[u8] {
    ///     hold.name().as_bytes()
    /// }
    /// ```
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Who holds it: what [`Claim::owner`] was when it was granted.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn field(hold: &Hold) -> String {
    ///     hold.owner().to_string()
    /// }
    /// ```
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The acquisition that led to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn value(hold: &Hold) -> String {
    ///     format!("mine:{}", hold.ticket())
    /// }
    /// ```
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// The lease it was last given.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn millis(hold: &Hold) -> u64 {
    ///     hold.lease().as_millis()
    /// }
    /// ```
    pub fn lease(&self) -> LeaseTime {
        self.lease
    }

    /// What [`Grant::mark`](super::Grant::mark) or [`Kept::Kept`](super::Kept::Kept) said
    /// last, or what [`Holder::mark`](super::Holder::mark) saw where a hold is
    /// [forced](Hold::is_forced) to end; `None` where it is not known, as in an undo.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn value(hold: &Hold, usual: Vec<u8>) -> Vec<u8> {
    ///     hold.mark().map_or(usual, <[u8]>::to_vec)
    /// }
    /// ```
    pub fn mark(&self) -> Option<&[u8]> {
        self.mark.as_deref()
    }

    /// The fence that was granted.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn number(hold: &Hold) -> u64 {
    ///     hold.fence().map_or(0, |fence| fence.number())
    /// }
    /// ```
    pub fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// How often the owner still holds the lock once it has left: 0 for the outermost hold.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn is_outermost(hold: &Hold) -> bool {
    ///     hold.holds_left() == 0
    /// }
    /// ```
    pub fn holds_left(&self) -> u32 {
        self.holds_left
    }

    /// Whether an operator ends somebody's hold: the one, and only the one, whose
    /// [mark](Hold::mark) this is, whatever the ticket.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn sign(hold: &Hold) -> Option<&[u8]> {
    ///     hold.mark().filter(|_| hold.is_forced())
    /// }
    /// ```
    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// Whether it is left again, since the answer stayed out: it may be over already, and
    /// what stands there another's.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn deletes_only_its_own(hold: &Hold) -> bool {
    ///     hold.is_forced() || hold.is_repeated()
    /// }
    /// ```
    pub fn is_repeated(&self) -> bool {
        self.repeated
    }

    /// For how long a late question of this ticket must be answered with
    /// [`Attempt::Withdrawn`](super::Attempt::Withdrawn); `None` where all of them were
    /// answered.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::Hold;
    ///
    /// fn tombstone_ms(hold: &Hold) -> u64 {
    ///     hold.undo().map_or(0, |lease| lease.as_millis())
    /// }
    /// ```
    pub fn undo(&self) -> Option<LeaseTime> {
        self.undo
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("name", &self.name)
            .field("owner", &self.owner.short())
            .field("ticket", &self.ticket)
            .field("mark", &self.mark.as_deref().map(short_hash))
            .field("lease", &self.lease)
            .field("fence", &self.fence)
            .field("holds_left", &self.holds_left)
            .finish_non_exhaustive()
    }
}
