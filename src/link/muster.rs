//! Having a connection to each of several servers: which of them are left out, which are
//! greeted first, and which are too young to be counted.

use std::sync::Arc;
use std::time::Duration;

use super::conn::Open;
use super::converse::{State, is_late};
use super::fan::Fan;
use super::node::{Node, ping};
use super::quorum::Vote;
use super::scatter::{Party, scatter};
use super::{Failure, Seats};
use crate::clock::{self, Moment};
use crate::environment;
use crate::exchange::Talk;

/// A connection that was idle, or is new: its server is greeted before it is asked anything. One
/// that hangs is found out by that, and nothing is in doubt.
struct Shy {
    seat: usize,
    open: Open,
    is_new: bool,
}

impl Fan {
    /// A connection to every server of `asked`, or why there is none.
    pub(super) fn muster(
        &mut self,
        asked: Seats,
        until: Moment,
    ) -> Vec<(usize, Result<Open, Failure>)> {
        let nodes = Arc::clone(&self.nodes);
        let left_out = nodes.left_out(asked);
        let mut mustered = Vec::with_capacity(nodes.count());
        let mut shy = Vec::new();
        for seat in asked.iter(nodes.count()) {
            if left_out.has(seat) {
                mustered.push((seat, Err(nodes.all[seat].left_out())));
                continue;
            }
            match self.conns[seat].lift() {
                Some((open, true)) => mustered.push((seat, Ok(open))),
                Some((open, false)) => shy.push(Shy {
                    seat,
                    open,
                    is_new: false,
                }),
                None => match self.dial(seat, until) {
                    Ok(open) => shy.push(Shy {
                        seat,
                        open,
                        is_new: true,
                    }),
                    Err(failure) => mustered.push((seat, Err(failure))),
                },
            }
        }
        while !shy.is_empty() {
            shy = self.greet(shy, until, &mut mustered);
        }
        mustered
    }

    fn dial(&mut self, seat: usize, until: Moment) -> Result<Open, Failure> {
        let had_its_share = until.remaining() >= self.nodes.timeouts.connect;
        let dialled = self.conns[seat].open(until);
        dialled.inspect_err(|failure| {
            self.nodes.all[seat].fell_silent(failure, had_its_share);
        })
    }

    /// Greets servers, all at once: asks the new ones for how long they have been up, where that
    /// matters. Gives those that are to be greeted again: an idle connection that turns out
    /// to be closed is dialled anew.
    fn greet(
        &mut self,
        shy: Vec<Shy>,
        until: Moment,
        mustered: &mut Vec<(usize, Result<Open, Failure>)>,
    ) -> Vec<Shy> {
        let nodes = Arc::clone(&self.nodes);
        let asks_age = !nodes.quarantine.is_zero();
        let new: Seats = shy
            .iter()
            .filter(|shy| shy.is_new)
            .map(|shy| shy.seat)
            .collect();
        let parties = shy.into_iter().map(|Shy { seat, open, is_new }| {
            let greeting = if is_new && asks_age {
                environment::uptime().map(Some)
            } else {
                ping().map(|()| None)
            };
            let talk = Talk::new(greeting);
            Party::new(seat, open, &nodes.all[seat].wire, vec![(0, talk)])
        });
        let mut parties: Vec<_> = parties.collect();
        let had_its_share = until.remaining() >= nodes.timeouts.io;
        let mut said: Vec<Vote<Option<Duration>>> = nodes.all.iter().map(|_| None).collect();
        scatter(&mut parties, nodes.timeouts.io, until, |seat, _, result| {
            said[seat] = Some(result);
        });
        let mut again = Vec::new();
        for party in parties {
            let (seat, mut open, state) = party.into_parts();
            match said[seat].take() {
                Some(Ok(up)) => {
                    nodes.all[seat].answered();
                    if let Some(up) = up {
                        // In whole seconds, which may have begun just before they were counted.
                        let up = up.saturating_sub(Duration::from_secs(1));
                        open.born = Some(clock::now().before(up));
                    }
                    mustered.push((seat, Ok(open)));
                }
                Some(Err(failure)) => {
                    self.conns[seat].put(open, state);
                    if new.has(seat) || is_late(&failure) {
                        let failure = unheard(&nodes.all[seat], failure, had_its_share);
                        mustered.push((seat, Err(failure)));
                    } else {
                        match self.dial(seat, until) {
                            Ok(open) => again.push(Shy {
                                seat,
                                open,
                                is_new: true,
                            }),
                            Err(failure) => mustered.push((seat, Err(failure))),
                        }
                    }
                }
                None => {}
            }
        }
        again
    }

    /// Refuses a server that was started so lately that it may have forgotten a lock.
    pub(super) fn of_age(
        &mut self,
        seat: usize,
        open: Open,
        age: Duration,
    ) -> Result<Open, Failure> {
        if age.is_zero() || self.nodes.quarantine.is_zero() {
            return Ok(open);
        }
        let needs = age.max(self.nodes.quarantine);
        let up = open
            .born
            .map_or(Duration::ZERO, |born| clock::now().since(born));
        if up >= needs {
            return Ok(open);
        }
        self.conns[seat].put(open, State::Sound);
        Err(Failure::Young {
            address: self.nodes.address(seat).to_owned(),
            up,
            left: needs.saturating_sub(up),
        })
    }
}

/// A greeting that was not answered asked for nothing: nothing can have been done.
fn unheard(node: &Node, failure: Failure, had_its_share: bool) -> Failure {
    node.fell_silent(&failure, had_its_share);
    match failure {
        Failure::Unanswered { address, source } => Failure::Unreachable { address, source },
        failure => failure,
    }
}
