//! How everything else comes to the servers: by a place of the pool, or by a line of its own.

use std::time::Duration;

use super::pool::{Place, Pool};
use super::{Ask, Failure, Lane, Line, Servers};
use crate::clock::{self, Moment};
use crate::exchange::Exchange;
use crate::link::quorum::Tally;

/// The servers of a client, and the pool of lines to them.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) servers: Servers,
    pool: Pool,
}

impl Link {
    pub(crate) fn new(servers: Servers, pool_size: u32) -> Self {
        Self {
            pool: Pool::new(&servers, pool_size),
            servers,
        }
    }

    /// Takes a place from which to ask, by `until` at the latest.
    pub(crate) fn place(&self, lane: Lane, until: Moment) -> Result<Place, Failure> {
        self.pool.take(lane, until)
    }

    /// Asks on a fresh line, with the scripts by source: an undo.
    pub(crate) fn ask_afresh<T: Tally>(
        &self,
        exchange: impl Fn() -> Exchange<T>,
        until: Moment,
    ) -> Result<T, Failure> {
        self.line()
            .ask(&Ask::of(exchange).by_source(), until)
            .map_err(|miss| miss.failure)
    }

    /// A line outside the pool.
    pub(crate) fn line(&self) -> Line {
        self.servers.line()
    }

    /// How long a server may take for an answer.
    pub(crate) fn io_timeout(&self) -> Duration {
        self.servers.io_timeout()
    }

    /// When a question that is asked now must have its answer.
    pub(crate) fn patience(&self) -> Moment {
        clock::now() + self.io_timeout()
    }
}
