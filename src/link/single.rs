//! Exchanges on one server.

use std::sync::Arc;

use super::pool::{Place, Pool};
use super::{Conn, Failure, Lane, Wire};
use crate::clock::{self, Moment};
use crate::exchange::{Exchange, Talk};

/// One server.
#[derive(Debug)]
pub(crate) struct Single {
    pub(crate) wire: Arc<Wire>,
    pool: Pool,
}

impl Single {
    pub(crate) fn new(wire: Wire, pool_size: u32) -> Self {
        let wire = Arc::new(wire);
        Self {
            pool: Pool::new(&wire, pool_size),
            wire,
        }
    }

    /// Takes a place from which to ask, by `until` at the latest.
    pub(crate) fn place(&self, lane: Lane, until: Moment) -> Result<Place, Failure> {
        self.pool.take(lane, until)
    }

    /// Runs `exchange` on a fresh connection, its scripts by source: an undo.
    pub(crate) fn ask_afresh<T>(&self, exchange: Exchange<T>, until: Moment) -> Result<T, Failure> {
        self.connection()
            .run(Talk::by_source(exchange), until)
            .map_err(|miss| miss.failure)
    }

    /// A place outside the pool.
    pub(crate) fn connection(&self) -> Conn {
        Conn::new(Arc::clone(&self.wire))
    }

    /// How long the server may take for an answer.
    pub(crate) fn io_timeout(&self) -> std::time::Duration {
        self.wire.timeouts.io
    }

    /// When a question that is asked now must have its answer.
    pub(crate) fn patience(&self) -> Moment {
        clock::now() + self.wire.timeouts.io
    }
}
