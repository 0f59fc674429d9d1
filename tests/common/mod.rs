//! What the tests share: real servers and ways to watch and to trouble them.
//!
//! - [`server`]: a private Redis or Valkey for one test, gone with it.
//! - [`monitor`]: what a server was asked, command by command.
//! - [`proxy`]: a network between clients and a server that loses, delays, holds and cuts as told;
//!   [`faults`] says what may befall a message, [`frames`] what a message is.
//! - [`worker`]: the test binary run again as another process, to be frozen and killed.
//! - [`process`]: child processes and directories that do not outlive this process.
//! - [`eventually`]: waits for a condition instead of for a time.
//!
//! None of it needs more than a server's program; `scripts/ensure-redis` gets one.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]
#![allow(
    unreachable_pub,
    reason = "each test binary includes this as a private module"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "the harness waits for other processes by the clock of this one"
)]
#![allow(
    clippy::unused_self,
    clippy::zombie_processes,
    reason = "a role is a proof that one plays it; the reaper outlives who started it"
)]

mod control;
pub mod faults;
pub mod frames;
mod link;
pub mod monitor;
pub mod process;
pub mod proxy;
pub mod server;
pub mod worker;

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

pub use frames::Message;
pub use monitor::{Monitor, Seen};
pub use proxy::Proxy;
pub use server::{Make, Options, Server};
pub use worker::Worker;

/// Waits until `condition` holds.
///
/// # Panics
///
/// If it does not within `bound`, naming `what` was waited for.
#[track_caller]
pub fn eventually(bound: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < bound, "not within {bound:?}: {what}");
        sleep(Duration::from_millis(1));
    }
}
