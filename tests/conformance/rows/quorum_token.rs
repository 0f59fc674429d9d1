//! `SET NX PX`, released by script, on several servers of which a majority decides.
//!
//! `foreign_type`, `resend` and `undo` ask one server by hand: `tests/redlock` shows what they
//! come to on several.

use leasehold::strategy::Token;

use super::start;
use crate::ground::Wire;

const WIRE: Wire = Wire::Text;

fn strategy() -> Token {
    Token::default()
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
#[path = "../script_flush.rs"]
mod script_flush;
#[path = "../waiting.rs"]
mod waiting;
