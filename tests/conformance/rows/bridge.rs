//! Time stamps in Java milliseconds and a token at once, as in the middle of a migration.

use std::time::Duration;

use leasehold::strategy::{Bridge, Dialect, Timestamp, Token};

use super::start;
use crate::ground::Wire;

const WIRE: Wire = Wire::Millis;

fn strategy() -> Bridge {
    let old = Timestamp::guarded(Dialect::java_millis(), Duration::from_secs(60));
    Bridge::new(old, Token::default())
}

#[path = "../exclusion.rs"]
mod exclusion;
#[path = "../expiry.rs"]
mod expiry;
#[path = "../extend.rs"]
mod extend;
#[path = "../foreign_type.rs"]
mod foreign_type;
#[path = "../full_memory.rs"]
mod full_memory;
#[path = "../full_memory_extend.rs"]
mod full_memory_extend;
#[path = "../holder.rs"]
mod holder;
#[path = "../lifetimes.rs"]
mod lifetimes;
#[path = "../names.rs"]
mod names;
#[path = "../no_reentry.rs"]
mod no_reentry;
#[path = "../no_residue.rs"]
mod no_residue;
#[path = "../ownership.rs"]
mod ownership;
#[path = "../release.rs"]
mod release;
#[path = "../resend.rs"]
mod resend;
#[path = "../script_flush.rs"]
mod script_flush;
#[path = "../undo.rs"]
mod undo;
#[path = "../waiting.rs"]
mod waiting;
