//! A line to the servers: one connection, or one to each. Who has a line asks, and does not
//! care how many servers answer.

use std::sync::Arc;

use super::fan::{Fan, Nodes};
use super::quorum::Tally;
use super::redlock::Acquired;
use super::{Ask, Conn, Failure, Miss, Question, Seats, Wire};
use crate::clock::Moment;
use crate::exchange::Exchange;
use crate::observe::Watched;
use crate::strategy::{Attempt, Claim, Left, LockStrategy};

/// The servers of a client.
#[derive(Clone, Debug)]
pub(crate) enum Servers {
    /// One server.
    One(Arc<Wire>),
    /// Several that know nothing of each other: a majority decides.
    Many(Arc<Nodes>),
}

impl Servers {
    /// A line to them, dialled when it is first needed.
    pub(crate) fn line(&self) -> Line {
        match self {
            Self::One(wire) => Line::One(Conn::new(Arc::clone(wire))),
            Self::Many(nodes) => Line::Many(Fan::new(Arc::clone(nodes))),
        }
    }

    pub(crate) fn watched(&self) -> &Watched {
        match self {
            Self::One(wire) => &wire.watched,
            Self::Many(nodes) => &nodes.watched,
        }
    }

    /// How long a server may take for an answer.
    pub(crate) fn io_timeout(&self) -> std::time::Duration {
        match self {
            Self::One(wire) => wire.timeouts.io,
            Self::Many(nodes) => nodes.timeouts.io,
        }
    }

    pub(crate) fn are_many(&self) -> bool {
        matches!(self, Self::Many(_))
    }

    /// Each of them.
    pub(crate) fn wires(&self) -> Vec<Arc<Wire>> {
        match self {
            Self::One(wire) => vec![Arc::clone(wire)],
            Self::Many(nodes) => {
                let wires = nodes.all.iter().map(|node| Arc::clone(&node.wire));
                wires.collect()
            }
        }
    }

    /// Each of `seats` by itself; all in one where there is one server.
    pub(crate) fn split(&self, seats: Seats) -> Vec<Seats> {
        match self {
            Self::One(_) => vec![seats],
            Self::Many(nodes) => seats.iter(nodes.count()).map(Seats::one).collect(),
        }
    }
}

/// A line to the servers of a client.
#[derive(Debug)]
pub(crate) enum Line {
    One(Conn),
    Many(Fan),
}

impl Line {
    /// Asks; the connections and the answers are had by `until`, or there is no result.
    pub(crate) fn ask<Q: Question>(
        &mut self,
        question: &Q,
        until: Moment,
    ) -> Result<Q::Answer, Miss>
    where
        Q::Answer: Tally,
    {
        match self {
            Self::One(conn) => conn.run(question.talk(0)?, until),
            Self::Many(fan) => fan.ask(question, until),
        }
    }

    /// Asks several questions in step; `done` gets the outcome of each by its position. Fails
    /// as a whole only where there is no connection.
    pub(crate) fn ask_all<Q: Question>(
        &mut self,
        questions: &[Q],
        until: Moment,
        mut done: impl FnMut(usize, Result<Q::Answer, Failure>),
    ) -> Result<(), Failure>
    where
        Q::Answer: Tally,
    {
        match self {
            Self::One(conn) => {
                let mut talks = Vec::with_capacity(questions.len());
                let mut positions = Vec::with_capacity(questions.len());
                for (position, question) in questions.iter().enumerate() {
                    match question.talk(0) {
                        Ok(talk) => {
                            talks.push(talk);
                            positions.push(position);
                        }
                        Err(failure) => done(position, Err(failure)),
                    }
                }
                if talks.is_empty() {
                    return Ok(());
                }
                let heard = |talk: usize, result| done(positions[talk], result);
                conn.run_all(talks, until, heard).map(drop)
            }
            Self::Many(fan) => {
                let poll = fan.poll(questions, std::time::Duration::ZERO, until);
                for (position, votes) in poll.votes.into_iter().enumerate() {
                    let answer = Q::Answer::tally(&votes);
                    done(
                        position,
                        answer.ok_or_else(|| fan.nodes.shortfall(&votes, false)),
                    );
                }
                Ok(())
            }
        }
    }

    /// Asks each server for itself.
    pub(crate) fn each<T>(
        &mut self,
        exchange: impl Fn() -> Exchange<T>,
        until: Moment,
    ) -> Vec<Result<T, Failure>> {
        match self {
            Self::One(conn) => {
                let talk = crate::exchange::Talk::new(exchange());
                vec![conn.run(talk, until).map_err(|miss| miss.failure)]
            }
            Self::Many(fan) => {
                let votes = fan.votes(&Ask::of(exchange), until);
                votes.into_iter().flatten().collect()
            }
        }
    }

    /// Asks for a lock. Of several servers, what is no part of a grant is undone; where even
    /// that was not answered, it is left unsettled.
    pub(crate) fn acquire(
        &mut self,
        strategy: &dyn LockStrategy,
        claim: &Claim,
        until: Moment,
    ) -> Result<(Attempt, Seats), (Miss, Seats)> {
        match self {
            Self::One(_) => self
                .ask(&Ask::of(|| strategy.acquire(claim)), until)
                .map(|attempt| (attempt, Seats::NONE))
                .map_err(|miss| (miss, Seats::NONE)),
            Self::Many(fan) => {
                let Acquired { attempt, unsettled } = fan.acquire(strategy, claim, until);
                attempt
                    .map(|attempt| (attempt, unsettled))
                    .map_err(|failure| (failure.into(), unsettled))
            }
        }
    }

    /// Leaves at `seats`. With the answer come those that gave none although others did.
    pub(crate) fn leave(
        &mut self,
        leave: impl Fn() -> Exchange<Left>,
        seats: Seats,
        until: Moment,
    ) -> Result<(Left, Seats), Miss> {
        match self {
            Self::One(_) => self
                .ask(&Ask::of(leave), until)
                .map(|left| (left, Seats::NONE)),
            Self::Many(fan) => {
                let (left, silent) = fan.leave(leave, seats, until);
                Ok((left?, silent))
            }
        }
    }
}
