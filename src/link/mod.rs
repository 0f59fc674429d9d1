//! From exchanges to servers: connections, their pool, and who runs an exchange on what, on
//! one server or on several.

mod access;
mod conn;
mod converse;
mod endpoint;
mod failure;
mod fan;
mod line;
mod muster;
mod node;
mod pool;
mod question;
pub(crate) mod quorum;
mod redlock;
mod scatter;
mod seats;
mod shortfall;

pub(crate) use access::Link;
pub(crate) use conn::{Conn, Miss, Poisoned};
pub(crate) use endpoint::Endpoint;
pub(crate) use failure::Failure;
pub(crate) use fan::Nodes;
pub(crate) use line::{Line, Servers};
pub(crate) use pool::{Lane, Place};
pub(crate) use question::{Ask, Question};
pub(crate) use seats::{MOST, Seats};
pub(crate) use shortfall::Shortfall;

use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::{self, Moment};
use crate::observe::Watched;

/// How long the layers below may take for one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// To have a connection.
    pub(crate) connect: Duration,
    /// To have an answer to what was sent.
    pub(crate) io: Duration,
}

/// What all connections to one server share.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) endpoint: Endpoint,
    pub(crate) timeouts: Timeouts,
    pub(crate) watched: Watched,
    broke: Mutex<Option<Moment>>,
}

impl Wire {
    pub(crate) fn new(endpoint: Endpoint, timeouts: Timeouts, watched: Watched) -> Self {
        Self {
            endpoint,
            timeouts,
            watched,
            broke: Mutex::default(),
        }
    }

    /// Notes that a connection broke, or could not be had.
    fn note_trouble(&self) {
        *self.broke.lock() = Some(clock::now());
    }

    /// Whether a connection broke after `since`.
    pub(crate) fn was_in_trouble(&self, since: Moment) -> bool {
        self.broke.lock().is_some_and(|broke| broke >= since)
    }
}
