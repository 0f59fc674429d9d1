//! Ours as the victim: this binary run again. `scripts/interop` leaves these out.

use leasehold::{
    Client,
    strategy::{Dialect, Reentrant, Timestamp, Token},
};

use crate::{common::worker, ground::ms};

/// How long a hold of the victim lasts; it is renewed.
pub(crate) const LEASE_MS: u64 = 1_500;

/// Holds the lock until it is killed. Does nothing when it is run as a test among others.
#[test]
fn victim() {
    let Some(role) = worker::role("roles::victim") else {
        return;
    };
    let builder = Client::builder(role.get("URL")).lease(ms(LEASE_MS));
    let builder = match role.get("STRATEGY").as_str() {
        "reentrant" => builder.strategy(Reentrant::default()),
        "token" => builder.strategy(Token::default()),
        "guarded" => builder.strategy(Timestamp::guarded(Dialect::java_millis(), ms(LEASE_MS))),
        other => panic!("{other}"),
    };
    let client = builder.build().unwrap();
    let lease = client.lock(role.get("NAME")).unwrap().acquire().unwrap();
    role.say("held");
    role.hear();
    drop(lease);
}
