//! Several independent servers, and a connection to each of them.

use std::sync::Arc;
use std::time::Duration;

use super::conn::Poisoned;
use super::converse::State;
use super::node::Node;
use super::quorum::{Tally, Vote, majority, seats};
use super::scatter::{Party, scatter};
use super::shortfall::shortfall;
use super::{Conn, Failure, Miss, Question, Seats, Timeouts, Wire};
use crate::clock::{self, Moment};
use crate::observe::Watched;

/// Several independent servers: what all connections to them share.
#[derive(Debug)]
pub(crate) struct Nodes {
    pub(super) all: Vec<Arc<Node>>,
    pub(super) timeouts: Timeouts,
    pub(super) watched: Watched,
    /// How long a server must have been up to count; zero: it does not matter.
    pub(super) quarantine: Duration,
}

impl Nodes {
    pub(crate) fn new(
        wires: Vec<Wire>,
        timeouts: Timeouts,
        watched: Watched,
        quarantine: Duration,
    ) -> Self {
        Self {
            all: wires
                .into_iter()
                .map(|wire| Arc::new(Node::new(wire)))
                .collect(),
            timeouts,
            watched,
            quarantine,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn address(&self, seat: usize) -> &str {
        self.all[seat].wire.endpoint.address()
    }

    /// Those of `asked` that are left out: the silent ones, as long as a majority is left
    /// without them. Where none is, asking them costs nothing that is not lost already.
    pub(super) fn left_out(&self, asked: Seats) -> Seats {
        let count = self.count();
        let down = Seats::ALL
            .iter(count)
            .filter(|&seat| self.all[seat].is_down());
        let down: Seats = down.collect();
        if count - down.iter(count).count() < majority(count) {
            return Seats::NONE;
        }
        down.among(asked)
    }

    /// The failure that `votes` come to where they leave it open.
    pub(super) fn shortfall<T: Tally>(&self, votes: &[Vote<T>], undone: bool) -> Failure {
        shortfall(votes, |seat| self.address(seat), undone)
    }
}

/// A connection to each of several servers, dialled when it is first needed.
#[derive(Debug)]
pub(crate) struct Fan {
    pub(super) nodes: Arc<Nodes>,
    pub(super) conns: Vec<Conn>,
}

/// What came of asking.
pub(super) struct Poll<T> {
    /// What was said to each question, by the seats.
    pub(super) votes: Vec<Vec<Vote<T>>>,
    /// The connections on which an answer is owed.
    pub(super) owing: Vec<(usize, Poisoned)>,
}

impl Fan {
    pub(super) fn new(nodes: Arc<Nodes>) -> Self {
        let conns = nodes.all.iter();
        Self {
            conns: conns
                .map(|node| Conn::new(Arc::clone(&node.wire)))
                .collect(),
            nodes,
        }
    }

    /// Asks, and lets a majority decide.
    pub(super) fn ask<Q: Question>(
        &mut self,
        question: &Q,
        until: Moment,
    ) -> Result<Q::Answer, Miss>
    where
        Q::Answer: Tally,
    {
        let votes = self.votes(question, until);
        Q::Answer::tally(&votes).ok_or_else(|| self.nodes.shortfall(&votes, false).into())
    }

    /// Asks one question.
    pub(super) fn votes<Q: Question>(
        &mut self,
        question: &Q,
        until: Moment,
    ) -> Vec<Vote<Q::Answer>> {
        let mut poll = self.poll(std::slice::from_ref(question), Duration::ZERO, until);
        poll.votes.swap_remove(0)
    }

    /// Asks several questions in step of the servers that they concern. One that has not been
    /// up for `age` is not asked, unless that does not matter.
    pub(super) fn poll<Q: Question>(
        &mut self,
        questions: &[Q],
        age: Duration,
        until: Moment,
    ) -> Poll<Q::Answer> {
        let nodes = Arc::clone(&self.nodes);
        let count = nodes.count();
        let silent = || (0..count).map(|_| None).collect();
        let mut votes: Vec<Vec<Vote<Q::Answer>>> = questions.iter().map(|_| silent()).collect();
        let concerned = questions
            .iter()
            .map(Question::seats)
            .fold(Seats::NONE, Seats::and);
        let mut parties = Vec::with_capacity(count);
        for (seat, ready) in self.muster(concerned, until) {
            match ready.and_then(|open| self.of_age(seat, open, age)) {
                Ok(open) => {
                    let mut talks = Vec::with_capacity(questions.len());
                    for (position, question) in concerning(questions, seat) {
                        match question.talk(seat) {
                            Ok(talk) => talks.push((position, talk)),
                            Err(failure) => votes[position][seat] = Some(Err(failure)),
                        }
                    }
                    parties.push(Party::new(seat, open, &nodes.all[seat].wire, talks));
                }
                Err(failure) => {
                    for (position, _) in concerning(questions, seat) {
                        votes[position][seat] = Some(Err(failure.clone()));
                    }
                }
            }
        }
        let had_its_share = until.remaining() >= nodes.timeouts.io;
        scatter(
            &mut parties,
            nodes.timeouts.io,
            until,
            |seat, position, result| {
                votes[position][seat] = Some(result);
            },
        );
        let owing = parties.into_iter().filter_map(|party| {
            let (seat, open, state) = party.into_parts();
            if state == State::Sound {
                nodes.all[seat].answered();
            } else if state != State::Suspect {
                let mut said = votes
                    .iter()
                    .filter_map(|votes| votes[seat].as_ref()?.as_ref().err());
                said.next()
                    .inspect(|failure| nodes.all[seat].fell_silent(failure, had_its_share));
            }
            Some((seat, self.conns[seat].put(open, state)?))
        });
        let owing = owing.collect();
        Poll { votes, owing }
    }

    /// Sends a question behind what was not answered, on the very connections, and closes
    /// them. Gives the seats that answered it.
    pub(super) fn ask_behind<Q: Question>(
        &mut self,
        owing: Vec<(usize, Poisoned)>,
        question: &Q,
    ) -> Seats {
        let nodes = Arc::clone(&self.nodes);
        let parties = owing.into_iter().filter_map(|(seat, poisoned)| {
            let talks = vec![(0, question.talk(seat).ok()?)];
            let wire = &nodes.all[seat].wire;
            Some(Party::new(seat, poisoned.into_open(), wire, talks).owing())
        });
        let mut parties: Vec<_> = parties.collect();
        let mut votes: Vec<Vote<Q::Answer>> = nodes.all.iter().map(|_| None).collect();
        let limit = nodes.timeouts.io;
        scatter(
            &mut parties,
            limit,
            clock::now() + limit,
            |seat, _, result| {
                votes[seat] = Some(result);
            },
        );
        seats(&votes, Result::is_ok)
    }
}

fn concerning<Q: Question>(questions: &[Q], seat: usize) -> impl Iterator<Item = (usize, &Q)> {
    let questions = questions.iter().enumerate();
    questions.filter(move |(_, question)| question.seats().has(seat))
}
