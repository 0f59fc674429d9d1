//! The wire protocols: what to ask Redis for a lock, and how to read the answer.
//!
//! | strategy | what stands at the server | for whom |
//! |---|---|---|
//! | [`Token`] | a string: `SET NX PX`, released by script | the default |
//! | [`Reentrant`] | a hash, as Redisson keeps it | Java neighbours, nested holds |
//! | [`Timestamp`] | a time stamp: SETNX, GET, GETSET | locks that stand since 2012 |
//!
//! A strategy opens no connection, reads no clock and starts no thread. It gives
//! [exchanges](crate::Exchange), and everything else is written once around it: that is
//! what lets the same strategy run on one connection, on five servers at once or in a
//! simulator, and what makes one of your own a matter of a page.

mod answer;
mod claim;
mod reading;
mod reentrant;
mod scripts;
mod sure;
mod timestamp;
mod token;

use std::fmt;
use std::sync::Arc;

pub use answer::{Attempt, Grant, Holder, Kept, Left};
pub use claim::{Claim, Hold};
pub use reentrant::Reentrant;
pub(crate) use sure::sure;
pub use timestamp::{Dialect, Timestamp};
pub use token::Token;

use crate::config::LeaseTime;
use crate::exchange::Exchange;
use crate::name::Name;

/// A wire protocol for locks.
///
/// An implementation must keep three promises:
///
/// - *a resent question changes nothing*: [`acquire`](LockStrategy::acquire) recognises its
///   own [ticket](Claim::ticket) and answers as it did the first time;
/// - *nothing is taken from anybody else*: [`extend`](LockStrategy::extend) and
///   [`leave`](LockStrategy::leave) change only what is the hold's own;
/// - *an acquisition that was left stays left*: where [`Hold::undo`] says so, a question
///   of that ticket which comes in late is answered with [`Attempt::Withdrawn`].
///
/// # Examples
///
/// `examples/custom_strategy.rs` is a whole one. Here is one that decorates another:
///
/// ```
/// use leasehold::strategy::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy, Token};
/// use leasehold::{Exchange, LeaseTime, Name};
///
/// /// Never waits behind a foreign holder: tells nobody who holds.
/// #[derive(Debug)]
/// struct Discreet(Token);
///
/// impl LockStrategy for Discreet {
///     fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
///         self.0.acquire(claim)
///     }
///     fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
///         self.0.extend(hold, lease)
///     }
///     fn leave(&self, hold: &Hold) -> Exchange<Left> {
///         self.0.leave(hold)
///     }
///     fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
///         self.0.inspect(name).map(|_| None)
///     }
/// }
/// ```
pub trait LockStrategy: fmt::Debug + Send + Sync {
    /// Asks for the lock.
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt>;

    /// Asks that the hold last for `lease` from now; also raises the stored fence to the
    /// hold's own.
    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept>;

    /// Leaves: releases what is held, gives up a place, undoes what may have been granted.
    ///
    /// The three are one question, because who asks often cannot tell them apart.
    fn leave(&self, hold: &Hold) -> Exchange<Left>;

    /// Asks who holds the lock.
    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>>;

    /// Whether an owner that holds the lock may acquire it again.
    ///
    /// Defaults to no. Where it is yes, [`Claim::count`] says how often the owner will hold.
    fn reenters(&self) -> bool {
        false
    }

    /// Whether a grant can bring fences.
    ///
    /// Defaults to no; [`Claim::fences`] is then always 0.
    fn fences(&self) -> bool {
        false
    }

    /// Checks that the strategy can work with a lease of `lease`; says why not.
    ///
    /// Defaults to any.
    ///
    /// # Errors
    ///
    /// The reason, for the text of an
    /// [`InvalidConfig`](crate::ErrorKind::InvalidConfig).
    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        let _ = lease;
        Ok(())
    }

    /// Checks that a majority of [several servers](crate::Client::redlock) may decide by this
    /// strategy; says why not.
    ///
    /// Defaults to yes, which is right for who keeps the three promises: what a minority
    /// granted is left again, and must then be gone for good.
    ///
    /// # Errors
    ///
    /// The reason, for the text of an
    /// [`InvalidConfig`](crate::ErrorKind::InvalidConfig).
    fn admit_many(&self) -> Result<(), String> {
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
impl<S: LockStrategy + ?Sized> LockStrategy for Arc<S> {
    fn admit_many(&self) -> Result<(), String> {
        (**self).admit_many()
    }
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        (**self).acquire(claim)
    }
    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        (**self).extend(hold, lease)
    }
    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        (**self).leave(hold)
    }
    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        (**self).inspect(name)
    }
    fn reenters(&self) -> bool {
        (**self).reenters()
    }
    fn fences(&self) -> bool {
        (**self).fences()
    }
    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        (**self).admit(lease)
    }
}
