//! Any strategy, for a test that goes through all of them.

use std::{sync::Arc, time::Duration};

use leasehold::{
    Exchange, LeaseTime, Name,
    strategy::{
        Attempt, Claim, Dialect, Hold, Holder, Kept, Left, LockStrategy, Reentrant, Timestamp,
        Token,
    },
};

use super::Wire;

/// A strategy, which one is not known here.
#[derive(Debug, Clone)]
pub struct Any(Arc<dyn LockStrategy>);

impl Any {
    pub fn of(strategy: impl LockStrategy + 'static) -> Any {
        Any(Arc::new(strategy))
    }

    /// The strategy of that name in [`all`], or one that asks more of a server.
    pub fn named(name: &str) -> Any {
        let named = all().into_iter().find(|(known, _, _)| *known == name);
        named.map_or_else(|| panic!("{name} is no strategy"), |(_, _, any)| any)
    }
}

/// Every strategy that runs on every server, by a name and what it writes.
pub fn all() -> [(&'static str, Wire, Any); 6] {
    let guarded = |dialect| Any::of(Timestamp::guarded(dialect, Duration::from_secs(60)));
    let classic = |dialect| Any::of(Timestamp::classic(dialect));
    [
        ("token", Wire::Text, Any::of(Token::default())),
        ("reentrant", Wire::Hash, Any::of(Reentrant::default())),
        ("guarded-s", Wire::Seconds, guarded(Dialect::seconds())),
        ("guarded-ms", Wire::Millis, guarded(Dialect::java_millis())),
        ("classic-s", Wire::Seconds, classic(Dialect::seconds())),
        ("classic-ms", Wire::Millis, classic(Dialect::java_millis())),
    ]
}

#[deny(clippy::missing_trait_methods)]
impl LockStrategy for Any {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        self.0.acquire(claim)
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        self.0.extend(hold, lease)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        self.0.leave(hold)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        self.0.inspect(name)
    }

    fn reenters(&self) -> bool {
        self.0.reenters()
    }

    fn fences(&self) -> bool {
        self.0.fences()
    }

    fn admit_many(&self) -> Result<(), String> {
        self.0.admit_many()
    }

    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        self.0.admit(lease)
    }
}
