//! One connection: it runs exchanges, several in step, and is lost to any error that is
//! not a server's reply.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::{Failure, Wire};
use crate::clock::{self, Moment};
use crate::exchange::{Answer, Exchange, Fault, Heard, Reply, Talk};
use crate::observe::Reconnected;

/// Idle for longer than this, and a connection is asked whether it still lives.
const STALE: Duration = Duration::from_secs(1);

/// The shortest time-out that a socket can keep.
const SHORTEST: Duration = Duration::from_millis(10);

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

struct Open {
    redis: redis::Connection,
    used: Moment,
    limit: Duration,
}

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
        self.broke = state != State::Sound;
        match state {
            State::Sound => {
                open.used = clock::now();
                self.open = Some(open);
                Ok(None)
            }
            State::Suspect => Ok(None),
            State::Broken => {
                self.wire.note_trouble();
                Ok(None)
            }
            State::Owing => {
                self.wire.note_trouble();
                Ok(Some(Poisoned(Box::new(open), Arc::clone(&self.wire))))
            }
        }
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
        let mut open = self.dial(until)?;
        open.set_limit(self.limit(until))
            .map_err(|error| Failure::Unreachable {
                address: self.wire.endpoint.address().to_owned(),
                source: Arc::new(error),
            })?;
        Ok(open)
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

    fn send(&mut self, bytes: &[u8]) -> Result<(), Silence> {
        self.redis
            .send_packed_command(bytes)
            .map_err(|error| Arc::new(error) as _)
    }

    /// What the server said before it hung up, unasked: that it has too many clients.
    fn refusal(&mut self) -> Option<Fault> {
        match Reply::from_redis(self.redis.recv_response().ok()?) {
            Ok(Reply::Error(error)) => Some(Fault::Refused(error)),
            _ => None,
        }
    }

    /// Receives one reply. A socket's time-out counts anew for each: where little is left until
    /// `until`, it is made less.
    fn receive(&mut self, until: Moment) -> Result<redis::Value, Silence> {
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

/// What a conversation left of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Everything was answered.
    Sound,
    /// Everything was answered, but it is the wrong server, or the answers make no sense.
    Suspect,
    /// An answer stayed out.
    Owing,
    /// A question did not get through whole.
    Broken,
}

/// Why an answer stays out.
type Silence = Arc<dyn std::error::Error + Send + Sync>;

/// Runs `talks` to their ends, until `until` at the latest.
fn converse<T>(
    open: &mut Open,
    talks: Vec<Talk<T>>,
    until: Moment,
    done: &mut impl FnMut(usize, Result<T, Failure>),
    wire: &Wire,
) -> State {
    let mut state = State::Sound;
    let mut round: Vec<_> = talks.into_iter().enumerate().collect();
    let mut bytes = Vec::with_capacity(256 * round.len());
    while !round.is_empty() {
        bytes.clear();
        for (_, talk) in &round {
            talk.pack(&mut bytes);
        }
        let mut silence = open.send(&bytes).err();
        let unsent = silence.is_some();
        if unsent && let Some(refusal) = open.refusal() {
            for (position, talk) in round {
                done(
                    position,
                    Err(Failure::from_fault(refusal.clone(), talk.command(None))),
                );
            }
            return State::Suspect;
        }
        let mut next = Vec::new();
        for (position, talk) in round {
            if let Some(silence) = &silence {
                done(position, Err(unanswered(wire, silence)));
                continue;
            }
            match open.receive(until) {
                Ok(value) => match hear(talk, value) {
                    Ok(talk) => next.push((position, talk)),
                    Err(result) => {
                        if result.as_ref().is_err_and(Failure::is_suspicious) {
                            state = State::Suspect;
                        }
                        done(position, result);
                    }
                },
                Err(error) => {
                    done(position, Err(unanswered(wire, &error)));
                    silence = Some(error);
                }
            }
        }
        if let Some(silence) = &silence {
            for (position, _) in next {
                done(position, Err(unanswered(wire, silence)));
            }
            // Nothing can be said behind half a question.
            return if unsent { State::Broken } else { State::Owing };
        }
        round = next;
    }
    state
}

/// Gives the answer to the talk: what is left of it, or its result.
fn hear<T>(talk: Talk<T>, value: redis::Value) -> Result<Talk<T>, Result<T, Failure>> {
    let line = match &value {
        redis::Value::ServerError(error) => {
            crate::exchange::ServerError::new(error.code(), error.details().unwrap_or_default())
                .script_line()
        }
        _ => None,
    };
    let command = talk.command(line);
    let failure = |fault: Fault| Failure::from_fault(fault, command);
    let reply = Reply::from_redis(value).map_err(|fault| Err(failure(fault)))?;
    match talk.hear(Answer::new(reply, clock::wall())) {
        Heard::More(talk) => Ok(talk),
        Heard::Done(result) => Err(result.map_err(failure)),
    }
}

fn unanswered(wire: &Wire, silence: &Silence) -> Failure {
    Failure::Unanswered {
        address: wire.endpoint.address().to_owned(),
        source: Arc::clone(silence),
    }
}

impl Poisoned {
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
