//! What servers reply when they cannot, or will not: every such reply brought about on a real one,
//! for every strategy, in every question of a lock.
//!
//! UNBLOCKED is not among them: nothing here waits in a blocking command.

#[path = "common/mod.rs"]
mod common;
#[path = "replies/connecting.rs"]
mod connecting;
#[path = "ground/mod.rs"]
mod ground;
#[path = "replies/passing.rs"]
mod passing;
#[path = "replies/replica.rs"]
mod replica;
#[path = "replies/slots.rs"]
mod slots;
#[path = "replies/trouble.rs"]
mod trouble;
