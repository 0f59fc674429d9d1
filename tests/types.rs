//! What may go to another thread and what may not, checked when this is compiled.

use std::{
    error::Error as StdError,
    fmt::{Debug, Display},
    hash::Hash,
    str::FromStr,
};

use leasehold::{
    Answer, Builder, Call, Client, Delays, Error, ErrorKind, Exchange, Fault, Fence, Jitter, Lease,
    LeaseTime, Lock, Loss, Name, Owner, Released, Reply, Retry, Script, ServerError, Step,
    ThreadLease, ThreadLock, Ticket, WallTime,
    strategy::{
        Attempt, Claim, Dialect, Grant, Hold, Holder, Kept, Left, LockStrategy, Reentrant,
        Timestamp, Token,
    },
};
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_obj_safe};

// What a program keeps and shares.
assert_impl_all!(Client: Clone, Debug, Send, Sync, Unpin);
assert_impl_all!(Lock: Clone, Debug, Send, Sync, Unpin);
assert_impl_all!(ThreadLock: Clone, Debug, Send, Sync, Unpin);
assert_impl_all!(Builder: Debug, Send, Sync);

// A hold may go to another thread, and is one; that of a thread stays.
assert_impl_all!(Lease: Debug, Send, Sync);
assert_not_impl_any!(Lease: Clone, Copy, Default);
assert_impl_all!(ThreadLease: Debug);
assert_not_impl_any!(ThreadLease: Send, Sync, Clone, Copy, Default);

// Errors go wherever errors go.
assert_impl_all!(Error: StdError, Debug, Display, Send, Sync, Unpin);
assert_impl_all!(Fault: StdError, Clone, Send, Sync, PartialEq);
assert_impl_all!(ServerError: StdError, Clone, Send, Sync, PartialEq);
assert_impl_all!(ErrorKind: Copy, Debug, Eq, Hash, Send, Sync);
assert_impl_all!(Loss: Copy, Debug, Display, Eq, Send, Sync);

// Values.
assert_impl_all!(Name: Clone, Debug, Display, Hash, Ord, Send, Sync);
assert_impl_all!(Owner: Copy, Debug, Display, FromStr, Hash, Ord, Send, Sync);
assert_impl_all!(Ticket: Copy, Debug, Display, Hash, Eq, Send, Sync);
assert_impl_all!(Fence: Copy, Debug, Display, Hash, Ord, Send, Sync);
assert_impl_all!(LeaseTime: Copy, Debug, Ord, Send, Sync);
assert_impl_all!(WallTime: Copy, Debug, Ord, Send, Sync);
assert_impl_all!(Released: Copy, Debug, Eq, Send, Sync);
assert_impl_all!(Retry: Clone, Debug, Send, Sync);
assert_impl_all!(Delays: Debug, Send, Sync, Iterator);
assert_impl_all!(Jitter: Copy, Debug, Send, Sync);

// What strategies are made of goes to whatever thread asks.
assert_obj_safe!(LockStrategy);
assert_impl_all!(dyn LockStrategy: Debug, Send, Sync);
assert_impl_all!(Token: LockStrategy, Clone, Default);
assert_impl_all!(Reentrant: LockStrategy, Clone, Default);
assert_impl_all!(Timestamp: LockStrategy, Clone);
assert_impl_all!(Dialect: Clone, Debug, Eq, Send, Sync);
assert_impl_all!(Exchange<u8>: Debug, Send);
assert_impl_all!(Step<u8>: Debug, Send);
assert_impl_all!(Call: Clone, Debug, Send, Sync);
assert_impl_all!(Script: Debug, Send, Sync);
assert_impl_all!(Answer: Clone, Debug, Send, Sync);
assert_impl_all!(Reply: Clone, Debug, Eq, Send, Sync);
assert_impl_all!(Attempt: Clone, Debug, Send, Sync);
assert_impl_all!(Claim: Clone, Debug, Send, Sync);
assert_impl_all!(Hold: Clone, Debug, Send, Sync);
assert_impl_all!(Grant: Clone, Debug, Default, Eq, Send, Sync);
assert_impl_all!(Holder: Clone, Debug, Display, Eq, Send, Sync);
assert_impl_all!(Kept: Clone, Debug, Eq, Send, Sync);
assert_impl_all!(Left: Copy, Debug, Eq, Send, Sync);

#[test]
fn a_client_and_what_it_gives_outlive_the_place_they_were_made_in() {
    fn is_static<T: 'static>() {}
    is_static::<Client>();
    is_static::<Lock>();
    is_static::<ThreadLock>();
    is_static::<Lease>();
    is_static::<ThreadLease>();
    is_static::<Error>();
    is_static::<Exchange<Attempt>>();
}

#[test]
fn an_error_becomes_whatever_a_caller_boxes() {
    fn boxed(name: &str) -> Result<Name, Box<dyn StdError + Send + Sync>> {
        Ok(Name::new(name)?)
    }
    assert!(boxed("").unwrap_err().is::<Error>());
}
