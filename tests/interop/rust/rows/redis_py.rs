//! redis-py's `Lock` beside `Token`.

use std::{process::Command, sync::LazyLock};

use leasehold::{Client, strategy::Token};

use crate::{
    neighbour::built,
    stage::{Contest, Shared, Stage},
};

const ROLE: &str = "token";
const MORTAL_LEASE_MS: u64 = 1_500;
const CONTEST: Contest = Contest::ORDERLY;

static SHARED: LazyLock<Shared> = LazyLock::new(|| Shared::start(redis_py));

fn redis_py(port: &str) -> Command {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/interop/python/neighbour.py"
    );
    let mut command = Command::new(built("venv/bin/python"));
    command.args([script, "127.0.0.1", port]);
    command
}

fn start() -> Stage {
    Stage::shared(|| &SHARED)
}

/// A process of its own; how long its holds last is said with each of them.
fn mortal(_: u64) -> Stage {
    Stage::own(|| &SHARED, redis_py)
}

fn client(stage: &Stage) -> Client {
    let builder = stage.builder().strategy(Token::default());
    builder.build().unwrap()
}

fn contest() -> (Stage, Client) {
    let stage = start();
    let client = client(&stage);
    (stage, client)
}

#[path = "../promises/exclusion.rs"]
mod exclusion;
#[path = "../promises/killed.rs"]
mod killed;
#[path = "../promises/ownership.rs"]
mod ownership;
#[path = "../promises/turns.rs"]
mod turns;
