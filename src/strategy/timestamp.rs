//! SETNX and GETSET, as in 2012: what stands under the key is the lock's end.

mod classic;
mod dialect;
mod guarded;

use std::time::Duration;

pub use dialect::Dialect;

use super::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy};
use crate::config::LeaseTime;
use crate::exchange::Exchange;
use crate::name::Name;

/// The lock whose value is its end: `SETNX key <now + lease + 1>`, and `GETSET` to take over
/// one that has passed.
///
/// There are two ways of running it over the same data. [`guarded`](Timestamp::guarded) is
/// for living beside such locks until they are gone. [`classic`](Timestamp::classic) is the
/// algorithm as it was, hazards and all, for comparison and for proof.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::Client;
/// use leasehold::strategy::{Dialect, Timestamp};
///
/// let beside_java = Timestamp::guarded(Dialect::java_millis(), Duration::from_secs(60));
/// let client = Client::builder("redis://127.0.0.1/")
///     .strategy(beside_java)
///     .lease(Duration::from_secs(30))
///     .build()?;
/// # drop(client);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timestamp {
    dialect: Dialect,
    way: Way,
}

#[derive(Clone, Debug)]
enum Way {
    Classic,
    Guarded {
        shortest: Duration,
        margin: Option<Duration>,
    },
}

impl Timestamp {
    /// The three commands, one after the other, with the clock of this machine.
    ///
    /// Two holders at once are possible: where clocks differ, where a holder overruns its
    /// lease and then deletes its successor's lock, where a loser's GETSET has replaced the
    /// winner's stamp. `docs/strategies.md` says which promises it does not make.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::{Dialect, Timestamp};
    ///
    /// let strategy = Timestamp::classic(Dialect::seconds());
    /// # drop(strategy);
    /// ```
    pub fn classic(dialect: Dialect) -> Self {
        Self {
            dialect,
            way: Way::Classic,
        }
    }

    /// The same stamps, but take-over, release and renewal are one script each, by the
    /// server's clock; clients of this kind know each other by a side key.
    ///
    /// `shortest` is the shortest lease of the legacy clients on the same keys. A loser's
    /// GETSET leaves *its* stamp under our hold, which then protects us only until that
    /// stamp: a longer lease of ours is refused by `build`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::strategy::{Dialect, Timestamp};
    ///
    /// let strategy = Timestamp::guarded(Dialect::seconds(), Duration::from_secs(10));
    /// # drop(strategy);
    /// ```
    pub fn guarded(dialect: Dialect, shortest: Duration) -> Self {
        Self {
            dialect,
            way: Way::Guarded {
                shortest,
                margin: None,
            },
        }
    }

    /// How far the clocks of legacy clients may be off.
    ///
    /// Our stamps lie that much later than our belief, so that a clock that is ahead cannot
    /// steal from us; and a foreign stamp is taken over only that much after its end, so
    /// that we do not steal from a clock that is behind. It costs that much idle time after
    /// the crash of a legacy client; between clients of ours it costs nothing.
    ///
    /// Defaults to a tenth of the lease, at least a second where the unit is seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::strategy::{Dialect, Timestamp};
    /// let strategy = Timestamp::guarded(Dialect::java_millis(), Duration::from_secs(60))
    ///     .margin(Duration::from_millis(200));
    /// # drop(strategy);
    /// ```
    pub fn margin(mut self, clocks: Duration) -> Self {
        if let Way::Guarded { margin, .. } = &mut self.way {
            *margin = Some(clocks);
        }
        self
    }

    fn margin_for(&self, lease: LeaseTime) -> u64 {
        let Way::Guarded {
            margin: Some(margin),
            ..
        } = self.way
        else {
            let tenth = lease.as_millis() / 10;
            return tenth.max(self.dialect.least_margin());
        };
        u64::try_from(margin.as_millis()).unwrap_or(u64::MAX)
    }
}

impl LockStrategy for Timestamp {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        match self.way {
            Way::Classic => classic::acquire(&self.dialect, claim),
            Way::Guarded { .. } => {
                guarded::acquire(&self.dialect, claim, self.margin_for(claim.lease()))
            }
        }
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        match self.way {
            Way::Classic => classic::extend(&self.dialect, hold, lease),
            Way::Guarded { .. } => {
                guarded::extend(&self.dialect, hold, lease, self.margin_for(lease))
            }
        }
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        match self.way {
            Way::Classic => classic::leave(&self.dialect, hold),
            Way::Guarded { .. } => guarded::leave(hold),
        }
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        match self.way {
            Way::Classic => classic::inspect(&self.dialect, name),
            Way::Guarded { .. } => guarded::inspect(&self.dialect, name),
        }
    }

    fn fences(&self) -> bool {
        matches!(self.way, Way::Guarded { .. })
    }

    fn admit_many(&self) -> Result<(), String> {
        let why = "a stamp does not say whose it is: what a minority granted could not be undone, \
                   and would lock everybody out until it has passed";
        match self.way {
            Way::Classic => Err(why.to_owned()),
            Way::Guarded { .. } => Ok(()),
        }
    }

    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        match self.way {
            Way::Guarded { shortest, .. } if lease.as_duration() > shortest => Err(format!(
                "it must not be longer than the shortest lease of the legacy clients, {shortest:?}"
            )),
            _ => Ok(()),
        }
    }
}
