//! Redisson's `RLock` beside `Reentrant`.

use std::process::Command;
use std::sync::LazyLock;

use leasehold::{Client, strategy::Reentrant};

use super::VERSION;
use crate::{
    neighbour::java,
    stage::{Contest, Shared, Stage},
};

const ROLE: &str = "reentrant";

/// Redisson's name for it: the time for which a hold without a lease is kept by each renewal.
const WATCHDOG_MS: u64 = 30_000;

/// A lease that says so is renewed by the watchdog.
const MORTAL_LEASE_MS: u64 = 0;

const CONTEST: Contest = Contest::ORDERLY;

static SHARED: LazyLock<Shared> =
    LazyLock::new(|| Shared::start(|port| redisson(port, WATCHDOG_MS)));

fn redisson(port: &str, watchdog_ms: u64) -> Command {
    java(
        VERSION,
        &["redisson", "127.0.0.1", port, &watchdog_ms.to_string()],
    )
}

fn start() -> Stage {
    let stage = Stage::shared(|| &SHARED);
    assert_eq!(stage.neighbour().version(), format!("Redisson {VERSION}"));
    stage
}

/// A neighbour whose holds end so soon after it does.
fn mortal(lease_ms: u64) -> Stage {
    Stage::own(|| &SHARED, |port| redisson(port, lease_ms))
}

fn client(stage: &Stage) -> Client {
    let builder = stage.builder().strategy(Reentrant::default());
    builder.build().unwrap()
}

fn contest() -> (Stage, Client) {
    let stage = start();
    let client = client(&stage);
    (stage, client)
}

#[path = "../promises/exclusion.rs"]
mod exclusion;
#[path = "../promises/force.rs"]
mod force;
#[path = "../promises/killed.rs"]
mod killed;
#[path = "../promises/ownership.rs"]
mod ownership;
#[path = "../promises/reentry.rs"]
mod reentry;
#[path = "../promises/turns.rs"]
mod turns;
#[path = "../promises/wakeup.rs"]
mod wakeup;
#[path = "../promises/watchdog.rs"]
mod watchdog;
