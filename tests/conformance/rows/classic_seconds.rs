//! Time stamps in whole seconds: SETNX, GET and GETSET as in 2012.
//!
//! It does not promise
//!
//! - `ownership`: a release reads and then deletes, whoever wrote what stands there. Who releases
//!   late deletes the lock of the next holder;
//! - `lifetimes`: a stamp is no TTL. The key of a holder that died stays until somebody takes over;
//! - `resend`: a SETNX that is sent again finds its own stamp and takes it for another's;
//! - `undo`: an undo does not know the stamp that it may have written, and deletes nothing;
//! - `full_memory_extend`: GETSET is a write that a full server refuses.

use leasehold::strategy::{Dialect, Timestamp};

use super::start;
use crate::ground::Wire;

const WIRE: Wire = Wire::Seconds;

fn strategy() -> Timestamp {
    Timestamp::classic(Dialect::seconds())
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
#[path = "../holder.rs"]
mod holder;
#[path = "../names.rs"]
mod names;
#[path = "../no_reentry.rs"]
mod no_reentry;
#[path = "../no_residue.rs"]
mod no_residue;
#[path = "../release.rs"]
mod release;
#[path = "../script_flush.rs"]
mod script_flush;
#[path = "../waiting.rs"]
mod waiting;
