//! What the benches share: the strategies as rows, and the baselines beside them.
//!
//! - [`rows`]: every strategy that is measured. A new one is a line there.
//! - [`bare`]: the same commands without the crate, through `redis::Connection` and by hand.
//! - [`harness`]: the private servers of the tests.

#![allow(dead_code, reason = "each bench uses a part")]
#![allow(
    unreachable_pub,
    reason = "each bench includes this as a private module"
)]

pub mod bare;
#[path = "../../tests/common/mod.rs"]
pub mod harness;
pub mod rows;

use std::time::Duration;

use leasehold::{Client, Renewal, Retry};

use rows::Row;

/// Long enough that nothing ends by itself while it is measured.
pub const LEASE: Duration = Duration::from_secs(30);

/// A client as the documentation recommends it, and what a bench changes of it.
pub fn client(url: impl Into<String>, row: &Row, retry: Retry) -> Client {
    let builder = Client::builder(url)
        .lease(LEASE)
        .wait(Duration::from_secs(60))
        .retry(retry)
        .fence(row.fenced);
    let client = builder.build().expect("the settings are valid");
    let client = client.with_strategy((row.strategy)());
    client.expect("the strategy admits the lease")
}

/// The same without a keeper, for what the renewal costs.
pub fn unrenewed(url: impl Into<String>, row: &Row) -> Client {
    let builder = Client::builder(url).lease(LEASE).renewal(Renewal::Off);
    let builder = builder.strategy((row.strategy)()).fence(row.fenced);
    builder.build().expect("the settings are valid")
}
