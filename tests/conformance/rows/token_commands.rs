//! The lock of one key without scripts.
//!
//! It does not promise
//!
//! - `undo`: without a script there is no tombstone, so a question that comes in after the lock was
//!   given up takes the lock for a lease.

use leasehold::strategy::Token;

use super::start;
use crate::ground::Wire;

const WIRE: Wire = Wire::Text;

fn strategy() -> Token {
    Token::commands()
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
#[path = "../waiting.rs"]
mod waiting;
