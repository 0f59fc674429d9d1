//! Blocking distributed locks over Redis and Valkey, for programs made of threads.
//!
//! Every Redis lock is a lease: it ends whether or not its holder has finished. What you get
//! here is called a [`Lease`]; it knows when it ends and says when it was lost.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
//! # fn main() -> Result<(), leasehold::Error> {
//! # let url = server();
//! use std::time::Duration;
//!
//! let client = leasehold::Client::builder(url)
//!     .lease(Duration::from_secs(30))
//!     .wait(Duration::from_secs(10)) // the bound of `acquire`
//!     .build()?;
//!
//! let lock = client.lock("orders:42")?;
//! let lease = lock.acquire()?; // blocks, at most `wait`
//! lease.check()?; // local and cheap: is it still mine, now?
//! lease.release()?; // says what happened; dropping is best effort
//! # Ok(()) }
//! ```
//!
//! Which wire protocol is spoken is a matter of [`strategy`].

#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod clock;
mod config;
mod core;
mod doctor;
mod environment;
mod error;
mod exchange;
mod fence;
mod hold;
mod keeper;
mod lease;
mod link;
mod lock;
mod loss;
pub mod migrate;
mod name;

pub mod observe;
mod retry;
mod shutdown;
pub mod strategy;
mod wait;

pub use client::Client;
pub use clock::WallTime;
pub use config::{Builder, LeaseTime, Renewal};
pub use doctor::{Concern, Finding, Report, Role};
pub use error::{Error, ErrorKind};
pub use exchange::{Answer, Call, Exchange, Fault, Reply, Script, ServerError, Step};
pub use fence::Fence;
pub use lease::{Lease, Released, ThreadLease};
pub use lock::{Lock, ThreadLock};
pub use loss::Loss;
pub use name::{Name, Owner, Ticket};
pub use retry::{Delays, Jitter, Retry};
pub use shutdown::Shutdown;
