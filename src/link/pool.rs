//! The pool: r2d2 counts and hands out places for connections; who takes one dials it.

use std::convert::Infallible;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};

use super::{Failure, Line, Servers};
use crate::clock::Moment;

/// What a connection is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Acquiring, extending, asking.
    Common,
    /// Releasing: never behind a crowd that acquires.
    Release,
}

/// Places for lines to the servers, and one that is kept back for releases.
#[derive(Debug)]
pub(crate) struct Pool {
    common: r2d2::Pool<Places>,
    reserve: r2d2::Pool<Places>,
}

impl Pool {
    pub(crate) fn new(servers: &Servers, size: u32) -> Self {
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
                .build_unchecked(Places(servers.clone()))
        };
        Self {
            common: pool(size, 1),
            reserve: pool(1, 0),
        }
    }

    /// Takes a place, waiting for one until `until` at the latest.
    pub(crate) fn take(&self, lane: Lane, until: Moment) -> Result<Place, Failure> {
        let patience = until.remaining().min(LONGEST);
        let taken = match lane {
            Lane::Common => self.common.get_timeout(patience),
            Lane::Release => match self.common.try_get() {
                Some(conn) => Ok(conn),
                None => self.reserve.get_timeout(patience),
            },
        };
        taken.map(Place).map_err(|_| Failure::PoolExhausted {
            size: self.common.max_size(),
        })
    }
}

/// The longest that a place is waited for in one go: r2d2 cannot add what a clock cannot say.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A place that was taken.
#[derive(Debug)]
pub(crate) struct Place(r2d2::PooledConnection<Places>);

impl Deref for Place {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.0
    }
}

impl DerefMut for Place {
    fn deref_mut(&mut self) -> &mut Line {
        &mut self.0
    }
}

/// Makes places. A place that broke is empty again, and so never broken as a place.
#[derive(Debug)]
pub(crate) struct Places(Servers);

impl r2d2::ManageConnection for Places {
    type Connection = Line;
    type Error = Infallible;

    fn connect(&self) -> Result<Line, Infallible> {
        Ok(self.0.line())
    }

    fn is_valid(&self, _: &mut Line) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Line) -> bool {
        false
    }
}
