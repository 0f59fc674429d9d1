//! What was sent and not answered may have been done: what the client makes of that.

#[path = "ambiguity/acquire.rs"]
mod acquire;
#[path = "common/mod.rs"]
mod common;
#[path = "ambiguity/connection.rs"]
mod connection;
#[path = "ambiguity/extend.rs"]
mod extend;
#[path = "ground/mod.rs"]
mod ground;
#[path = "ambiguity/halfway.rs"]
mod halfway;
#[path = "ambiguity/late.rs"]
mod late;
#[path = "ambiguity/noscript.rs"]
mod noscript;
#[path = "ambiguity/release.rs"]
mod release;
#[path = "ambiguity/stage.rs"]
mod stage;
