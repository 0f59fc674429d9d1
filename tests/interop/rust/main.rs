//! Clients of other makers, alive and in processes of their own, and ours: they share locks.
//!
//! `scripts/interop` builds those clients and then runs this; `cargo test --test interop` does
//! once they are built. A promise is a file of plain tests in `promises/`, a row is a client and the
//! promises that hold beside it, by `mod` lines. Tests go one at a time, since they measure
//! times. Each notes what it has shown, and what it has measured, as a line of a table.

#![allow(
    clippy::duplicate_mod,
    reason = "a promise is a module of every row that makes it"
)]
#![allow(dead_code, reason = "a row says what some promise may ask for")]

#[path = "../../common/mod.rs"]
mod common;
mod figures;
#[path = "../../ground/mod.rs"]
mod ground;
mod neighbour;
mod roles;
mod stage;

/// The newest Redisson.
#[path = "rows"]
mod redisson_newest {
    const VERSION: &str = "4.7.0";

    mod redisson;
}

/// A Redisson of 2019: unlock scripts without a latch, a timer for each watchdog.
#[path = "rows"]
mod redisson_2019 {
    const VERSION: &str = "3.12.0";

    mod redisson;
}

#[path = "rows/redis_py.rs"]
mod redis_py;

#[path = "rows/classic.rs"]
mod classic;
