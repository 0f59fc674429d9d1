//! One connection: it runs exchanges, several in step, and is lost to any error that is
//! not a server's reply.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::converse::{State, converse};
use super::{Failure, Wire};
use crate::clock::{self, Moment};
use crate::exchange::{Exchange, Fault, Reply, Talk};
use crate::observe::Reconnected;

/// Idle for longer than this, and a connection is asked whether it still lives.
const STALE: Duration = Duration::from_secs(1);

/// The shortest time-out that a socket can keep.
pub(super) const SHORTEST: Duration = Duration::from_millis(10);

/// A place for a connection: dialled when it is first used, and again after it broke.
///
/// Whoever needs the connection dials it, in its own thread and its own time, and gets the
/// reason when that fails. The pool hands out places.
pub(crate) struct Conn {
    wire: Arc<Wire>,
    open: Option<Open>,
    /// The last one broke.
    broke: bool,
}

/// A connection that stands.
pub(super) struct Open {
    redis: redis::Connection,
    used: Moment,
    limit: Duration,
    /// Since when its server has been up, at the latest, where that was asked.
    pub(super) born: Option<Moment>,
}

/// Why an answer stays out.
pub(super) type Silence = Arc<dyn std::error::Error + Send + Sync>;

/// A connection on which an answer is still owed: good for nothing but an undo.
#[derive(Debug)]
pub(crate) struct Poisoned(Box<Open>, Arc<Wire>);

/// A question without a result, and the connection where its answer is still owed.
#[derive(Debug)]
pub(crate) struct Miss {
    pub(crate) failure: Failure,
    pub(crate) owing: Option<Poisoned>,
}

impl From<Failure> for Miss {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            owing: None,
        }
    }
}

impl Conn {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self {
            wire,
            open: None,
            broke: false,
        }
    }

    /// Runs one exchange; gives the connection away where the answer stayed out.
    pub(crate) fn run<T>(&mut self, talk: Talk<T>, until: Moment) -> Result<T, Miss> {
        let mut outcome = None;
        let poisoned = self.run_all(vec![talk], until, |_, result| outcome = Some(result))?;
        match outcome {
            Some(Ok(result)) => Ok(result),
            Some(Err(failure)) => Err(Miss {
                failure,
                owing: poisoned,
            }),
            None => unreachable!("every talk has an outcome"),
        }
    }

    /// Runs exchanges in step: sends a question of each, reads all answers, and goes on
    /// with those that have more to ask. `done` gets the outcome of each by its position.
    ///
    /// Fails as a whole only where there is no connection. An answer that stays out is the
    /// outcome of everything that was still open, and the connection is given away.
    pub(crate) fn run_all<T>(
        &mut self,
        talks: Vec<Talk<T>>,
        until: Moment,
        mut done: impl FnMut(usize, Result<T, Failure>),
    ) -> Result<Option<Poisoned>, Failure> {
        let mut open = self.ready(until)?;
        let state = converse(&mut open, talks, until, &mut done, &self.wire);
        Ok(self.put(open, state))
    }

    /// Puts a connection back, if it is of use; gives it away where an answer is owed.
    pub(super) fn put(&mut self, mut open: Open, state: State) -> Option<Poisoned> {
        self.broke = state != State::Sound;
        match state {
            State::Sound => {
                open.used = clock::now();
                self.open = Some(open);
                None
            }
            State::Suspect => None,
            State::Broken => {
                self.wire.note_trouble();
                None
            }
            State::Owing => {
                self.wire.note_trouble();
                Some(Poisoned(Box::new(open), Arc::clone(&self.wire)))
            }
        }
    }

    /// Takes out the open connection, and whether it was in use just now. Whoever finds that
    /// it does not live any more says so.
    pub(super) fn lift(&mut self) -> Option<(Open, bool)> {
        let mut open = self.open.take()?;
        let is_fresh = clock::now().since(open.used) < STALE;
        if open.set_limit(self.wire.timeouts.io).is_err() {
            self.broke = true;
            return None;
        }
        Some((open, is_fresh))
    }

    /// Dials, with all time-outs set.
    pub(super) fn open(&mut self, until: Moment) -> Result<Open, Failure> {
        let mut open = self.dial(until)?;
        open.set_limit(self.limit(until))
            .map_err(|error| Failure::Unreachable {
                address: self.wire.endpoint.address().to_owned(),
                source: Arc::new(error),
            })?;
        Ok(open)
    }

    /// Takes out the open connection, dialled where there is none, with its time-outs set.
    fn ready(&mut self, until: Moment) -> Result<Open, Failure> {
        if let Some(mut open) = self.open.take() {
            let is_fresh = clock::now().since(open.used) < STALE;
            let limit = self.limit(until);
            if open.set_limit(limit).is_ok() && (is_fresh || open.ping()) {
                return Ok(open);
            }
            self.broke = true;
        }
        self.open(until)
    }

    fn dial(&mut self, until: Moment) -> Result<Open, Failure> {
        let connect = self.wire.timeouts.connect.min(until.remaining());
        let dialled = self.wire.endpoint.dial(connect.max(SHORTEST));
        let redis = dialled.inspect_err(|_| {
            self.broke = true;
            self.wire.note_trouble();
        })?;
        if std::mem::take(&mut self.broke) {
            self.wire.note_trouble();
            let address = self.wire.endpoint.address();
            self.wire
                .watched
                .tell(|observer| observer.reconnected(&Reconnected { address }));
        }
        Ok(Open {
            redis,
            used: clock::now(),
            limit: Duration::ZERO,
            born: None,
        })
    }

    /// The time-out for one answer: what is left, but where that is nearly the usual
    /// time-out, the usual one, which the socket has already.
    fn limit(&self, until: Moment) -> Duration {
        let left = until.remaining();
        if left >= self.wire.timeouts.io * 9 / 10 {
            self.wire.timeouts.io
        } else {
            left.max(SHORTEST)
        }
    }
}

impl Open {
    /// Sets the time-out for one reply. That for writing is set once: what is sent here is
    /// smaller than any buffer.
    fn set_limit(&mut self, limit: Duration) -> redis::RedisResult<()> {
        if self.limit.is_zero() {
            self.redis.set_write_timeout(Some(limit))?;
        }
        if self.limit != limit {
            self.redis.set_read_timeout(Some(limit))?;
            self.limit = limit;
        }
        Ok(())
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Silence> {
        self.redis
            .send_packed_command(bytes)
            .map_err(|error| Arc::new(error) as _)
    }

    /// What the server said before it hung up, unasked: that it has too many clients.
    pub(super) fn refusal(&mut self) -> Option<Fault> {
        match Reply::from_redis(self.redis.recv_response().ok()?) {
            Ok(Reply::Error(error)) => Some(Fault::Refused(error)),
            _ => None,
        }
    }

    /// Receives one reply. A socket's time-out counts anew for each: where little is left until
    /// `until`, it is made less.
    pub(super) fn receive(&mut self, until: Moment) -> Result<redis::Value, Silence> {
        let left = until.remaining();
        if left < self.limit / 2 {
            if left.is_zero() {
                let late = "the answers took longer than one may";
                return Err(Arc::new(io::Error::new(io::ErrorKind::TimedOut, late)));
            }
            self.set_limit(left.max(SHORTEST))
                .map_err(|error| Arc::new(error) as Silence)?;
        }
        self.redis
            .recv_response()
            .map_err(|error| Arc::new(error) as _)
    }

    fn ping(&mut self) -> bool {
        redis::cmd("PING")
            .query::<String>(&mut self.redis)
            .is_ok_and(|pong| pong == "PONG")
    }
}

impl Poisoned {
    /// Takes the connection back, for an undo that several servers are told at once.
    pub(super) fn into_open(self) -> Open {
        *self.0
    }

    /// Sends `exchange`, its scripts by source, behind what was not answered, and closes
    /// the connection. What was sent before was carried out before.
    pub(crate) fn undo<T>(self, exchange: Exchange<T>, until: Moment) -> Result<T, Failure> {
        let Self(mut open, wire) = self;
        let until = until.max(clock::now() + SHORTEST);
        let _ = open.set_limit(until.remaining());
        let mut outcome = None;
        let talks = vec![Talk::by_source(exchange)];
        converse(
            &mut open,
            talks,
            until,
            &mut |_, result| outcome = Some(result),
            &wire,
        );
        outcome.expect("every talk has an outcome")
    }
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conn")
            .field("wire", &self.wire)
            .field("open", &self.open.is_some())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").finish_non_exhaustive()
    }
}
