//! From exchanges to servers: connections, their pool, and who runs an exchange on what.

mod conn;
mod endpoint;
mod failure;
mod pool;
mod single;

pub(crate) use conn::{Conn, Miss, Poisoned};
pub(crate) use endpoint::Endpoint;
pub(crate) use failure::Failure;
pub(crate) use pool::Lane;
pub(crate) use single::Single;

use std::time::Duration;

/// How long the layers below may take for one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// To have a connection.
    pub(crate) connect: Duration,
    /// To have an answer to what was sent.
    pub(crate) io: Duration,
}
