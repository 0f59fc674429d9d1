//! A conversation on one connection: exchanges in step, a round of questions and then a
//! round of answers. Who has one connection alternates; who has several speaks on all of
//! them before listening to any.

use std::io;
use std::sync::Arc;

use super::conn::{Open, Silence};
use super::{Failure, Wire};
use crate::clock::{self, Moment};
use crate::exchange::{Answer, Fault, Heard, Reply, Talk};

/// What a conversation left of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Everything was answered.
    Sound,
    /// Everything was answered, but it is the wrong server, or the answers make no sense.
    Suspect,
    /// An answer stayed out.
    Owing,
    /// A question did not get through whole.
    Broken,
}

/// Exchanges that are under way on one connection, each with its position.
#[derive(Debug)]
pub(super) struct Conversation<T> {
    round: Vec<(usize, Talk<T>)>,
    bytes: Vec<u8>,
    /// Answers of an earlier conversation that come first, and are nobody's any more.
    owed: usize,
    unsent: Option<Silence>,
    state: State,
}

impl<T> Conversation<T> {
    pub(super) fn new(talks: Vec<(usize, Talk<T>)>) -> Self {
        Self {
            bytes: Vec::with_capacity(256 * talks.len()),
            round: talks,
            owed: 0,
            unsent: None,
            state: State::Sound,
        }
    }

    /// The same, behind so many answers that are still owed.
    pub(super) fn behind(self, owed: usize) -> Self {
        Self { owed, ..self }
    }

    pub(super) fn is_over(&self) -> bool {
        self.round.is_empty()
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// Sends a question of everything that has one.
    pub(super) fn speak(&mut self, open: &mut Open) {
        self.bytes.clear();
        for (_, talk) in &self.round {
            talk.pack(&mut self.bytes);
        }
        self.unsent = open.send(&self.bytes).err();
    }

    /// Reads all answers to what was sent, by `until`; `done` gets the outcomes by their
    /// positions. An answer that stays out is the outcome of everything that was still open.
    pub(super) fn listen(
        &mut self,
        open: &mut Open,
        wire: &Wire,
        until: Moment,
        done: &mut impl FnMut(usize, Result<T, Failure>),
    ) {
        let unsent = self.unsent.take();
        if unsent.is_some()
            && let Some(refusal) = open.refusal()
        {
            self.state = State::Suspect;
            for (position, talk) in std::mem::take(&mut self.round) {
                let failure = Failure::from_fault(refusal.clone(), talk.command(None));
                done(position, Err(failure));
            }
            return;
        }
        // Nothing can be said behind half a question.
        let broken = if unsent.is_some() {
            State::Broken
        } else {
            State::Owing
        };
        let mut silence = unsent;
        while self.owed > 0 && silence.is_none() {
            silence = open.receive(until).err();
            self.owed -= 1;
        }
        let mut next = Vec::new();
        for (position, talk) in std::mem::take(&mut self.round) {
            if let Some(silence) = &silence {
                done(position, Err(unanswered(wire, silence)));
                continue;
            }
            match open.receive(until) {
                Ok(value) => match hear(talk, value) {
                    Ok(talk) => next.push((position, talk)),
                    Err(result) => {
                        if result.as_ref().is_err_and(Failure::is_suspicious) {
                            self.state = State::Suspect;
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
        let Some(silence) = silence else {
            self.round = next;
            return;
        };
        for (position, _) in next {
            done(position, Err(unanswered(wire, &silence)));
        }
        self.state = broken;
    }
}

/// Runs `talks` to their ends on one connection, until `until` at the latest.
pub(super) fn converse<T>(
    open: &mut Open,
    talks: Vec<Talk<T>>,
    until: Moment,
    done: &mut impl FnMut(usize, Result<T, Failure>),
    wire: &Wire,
) -> State {
    let mut conversation = Conversation::new(talks.into_iter().enumerate().collect());
    while !conversation.is_over() {
        conversation.speak(open);
        conversation.listen(open, wire, until, done);
    }
    conversation.state()
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

/// Whether an answer stayed out until its time was over, on a connection that still stands.
pub(super) fn is_late(failure: &Failure) -> bool {
    let Failure::Unanswered { source, .. } = failure else {
        return false;
    };
    let late = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
    source.downcast_ref::<io::Error>().is_some_and(late)
        || source
            .downcast_ref::<redis::RedisError>()
            .is_some_and(redis::RedisError::is_timeout)
}
