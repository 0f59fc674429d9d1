//! For whoever leaves an old lock: how far a fleet has come.
//!
//! [`Bridge`](crate::strategy::Bridge) is the strategy that the fleet runs meanwhile, and
//! `docs/migrating.md` the recipe.

mod marker;

pub use marker::Marker;
