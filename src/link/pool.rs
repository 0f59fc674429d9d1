//! The pool: r2d2 counts and hands out places for connections; who takes one dials it.

use std::convert::Infallible;
use std::ops::DerefMut;
use std::sync::Arc;

use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};

use super::{Conn, Failure, Wire};
use crate::clock::Moment;

/// What a connection is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Acquiring, extending, asking.
    Common,
    /// Releasing: never behind a crowd that acquires.
    Release,
}

/// Places for connections to one server, and one that is kept back for releases.
#[derive(Debug)]
pub(crate) struct Pool {
    common: r2d2::Pool<Places>,
    reserve: r2d2::Pool<Places>,
}

impl Pool {
    pub(crate) fn new(wire: &Arc<Wire>, size: u32) -> Self {
        // r2d2 adds its places on a thread; one is enough, since none of them does I/O there.
        let threads = Arc::new(
            ScheduledThreadPool::builder()
                .num_threads(1)
                .thread_name_pattern("leasehold-pool")
                .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
                .build(),
        );
        let pool = |size, idle| {
            r2d2::Pool::builder()
                .max_size(size)
                .min_idle(Some(idle))
                .test_on_check_out(false)
                .error_handler(Box::new(r2d2::NopErrorHandler))
                .thread_pool(Arc::clone(&threads))
                .build_unchecked(Places(Arc::clone(wire)))
        };
        Self {
            common: pool(size, 1),
            reserve: pool(1, 0),
        }
    }

    /// Takes a place, waiting for one until `until` at the latest.
    pub(crate) fn take(
        &self,
        lane: Lane,
        until: Moment,
    ) -> Result<impl DerefMut<Target = Conn> + use<>, Failure> {
        let taken = match lane {
            Lane::Common => self.common.get_timeout(until.remaining()),
            Lane::Release => match self.common.try_get() {
                Some(conn) => Ok(conn),
                None => self.reserve.get_timeout(until.remaining()),
            },
        };
        taken.map_err(|_| Failure::PoolExhausted {
            size: self.common.max_size(),
        })
    }
}

/// Makes places. A place that broke is empty again, and so never broken as a place.
#[derive(Debug)]
struct Places(Arc<Wire>);

impl r2d2::ManageConnection for Places {
    type Connection = Conn;
    type Error = Infallible;

    fn connect(&self) -> Result<Conn, Infallible> {
        Ok(Conn::new(Arc::clone(&self.0)))
    }

    fn is_valid(&self, _: &mut Conn) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Conn) -> bool {
        false
    }
}
