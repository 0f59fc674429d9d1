//! The hash of owner and count, as Redisson keeps it, on several servers of which a majority
//! decides.
//!
//! `foreign_type`, `resend` and `undo` ask one server by hand: `tests/redlock` shows what they
//! come to on several.
//!
//! It does not promise `no_reentry`, but the opposite.

use leasehold::strategy::Reentrant;

use super::start;
use crate::ground::Wire;

const WIRE: Wire = Wire::Hash;

fn strategy() -> Reentrant {
    Reentrant::default()
}

#[path = "../exclusion.rs"]
mod exclusion;
#[path = "../expiry.rs"]
mod expiry;
#[path = "../extend.rs"]
mod extend;
#[path = "../full_memory.rs"]
mod full_memory;
#[path = "../full_memory_extend.rs"]
mod full_memory_extend;
#[path = "../full_memory_nested.rs"]
mod full_memory_nested;
#[path = "../holder.rs"]
mod holder;
#[path = "../lifetimes.rs"]
mod lifetimes;
#[path = "../names.rs"]
mod names;
#[path = "../no_residue.rs"]
mod no_residue;
#[path = "../ownership.rs"]
mod ownership;
#[path = "../reentry.rs"]
mod reentry;
#[path = "../release.rs"]
mod release;
#[path = "../script_flush.rs"]
mod script_flush;
#[path = "../waiting.rs"]
mod waiting;
