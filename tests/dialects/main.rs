//! Every dialect beside clients that speak it: what a script reads and writes is what the dialect
//! says, and legacy clients and ours keep each other out.

#[path = "../common/mod.rs"]
mod common;
#[path = "../ground/mod.rs"]
mod ground;

mod beside;
mod legacy;
mod scripts;
mod sight;
