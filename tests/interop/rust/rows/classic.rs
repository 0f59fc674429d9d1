//! The SETNX and GETSET class of Java services, over Jedis, beside `Timestamp::guarded`. Both read the
//! clock of one machine: there is no skew.
//!
//! It does not promise `ownership`: that class deletes whatever stands there.

use std::{process::Command, sync::LazyLock, time::Duration};

use leasehold::{
    Client, Renewal,
    strategy::{Dialect, Timestamp},
};

use crate::{
    ground::ms,
    neighbour::java,
    stage::{Contest, Shared, Stage},
};

const ROLE: &str = "guarded";

/// Any version of Redisson is as good as another beside it.
const BUILD: &str = "4.7.0";

/// How long a holder of the class may hold.
const EXPIRE_MS: u64 = 60_000;

/// It is not asked for: each of its holds lasts as long.
const MORTAL_LEASE_MS: u64 = 0;

/// How long holds last in the contest.
const CONTEST_MS: u64 = 1_000;

/// Holders die, so that stamps pass and are taken over; a hold is long enough for somebody to come
/// into it, and a pause for those who try every 100 ms to find the lock free.
const CONTEST: Contest = Contest {
    seconds: 8,
    we_abandon: Some(60),
    they_abandon: Some(10),
    hold: Duration::from_millis(2),
    pause: Duration::from_millis(5),
};

/// How far the clocks may be apart: here, not at all.
const MARGIN_MS: u64 = 50;

static SHARED: LazyLock<Shared> = LazyLock::new(|| Shared::start(|port| classic(port, EXPIRE_MS)));

fn classic(port: &str, expire_ms: u64) -> Command {
    java(
        BUILD,
        &["classic", "127.0.0.1", port, &expire_ms.to_string()],
    )
}

fn strategy(shortest: Duration) -> Timestamp {
    Timestamp::guarded(Dialect::java_millis(), shortest).margin(ms(MARGIN_MS))
}

fn start() -> Stage {
    Stage::shared(|| &SHARED)
}

fn mortal(expire_ms: u64) -> Stage {
    Stage::own(|| &SHARED, |port| classic(port, expire_ms))
}

fn client(stage: &Stage) -> Client {
    let builder = stage.builder().strategy(strategy(ms(EXPIRE_MS)));
    builder.build().unwrap()
}

fn contest() -> (Stage, Client) {
    let stage = mortal(CONTEST_MS);
    let lease = ms(CONTEST_MS);
    let builder = stage.builder().strategy(strategy(lease)).lease(lease);
    let client = builder.renewal(Renewal::Off).build().unwrap();
    (stage, client)
}

#[path = "../promises/exclusion.rs"]
mod exclusion;
#[path = "../promises/killed.rs"]
mod killed;
#[path = "../promises/turns.rs"]
mod turns;
