//! One round of the keeper: everything that is due, in one pipeline.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::validity::Due;
use super::{Errand, Task};
use crate::clock::{self, Moment};
use crate::config::LeaseTime;
use crate::environment;
use crate::exchange::{Fault, Talk};
use crate::hold::{Held, Turn};
use crate::link::{Conn, Failure, Wire};
use crate::loss::Loss;
use crate::observe::{RenewalFailed, Renewed};
use crate::strategy::{Kept, Left, sure};

/// The most that go into one pipeline, so that none waits long for its answer.
pub(super) const LARGEST: usize = 256;

/// How soon a hold is looked at again on which somebody else is at work.
const BUSY: Duration = Duration::from_millis(5);

/// The keeper's connection, and the rounds that go over it.
#[derive(Debug)]
pub(super) struct Round {
    conn: Conn,
    wire: Arc<Wire>,
    looked: bool,
    /// How long the server has been up, asked at most once a round.
    uptime: Uptime,
}

/// How long the server has been up.
#[derive(Clone, Copy, Debug)]
enum Uptime {
    NotAsked,
    Said(Option<Duration>),
}

/// Something that is asked in a round.
enum Asked {
    Renewal {
        held: Arc<Held>,
        turn: Turn,
        lease: LeaseTime,
        last: bool,
        sent: Moment,
    },
    Errand(Errand),
}

/// What the server said to it.
enum Said {
    Kept(Kept),
    Left(Left),
}

/// A task that is to be done again, at its time.
type Again = (Moment, u64, Task);

impl Round {
    pub(super) fn new(wire: &Arc<Wire>) -> Self {
        Self {
            conn: Conn::new(Arc::clone(wire)),
            wire: Arc::clone(wire),
            looked: false,
            uptime: Uptime::NotAsked,
        }
    }

    /// Does `tasks`; gives what is to be done again.
    pub(super) fn run(&mut self, tasks: Vec<(u64, Task)>) -> Vec<Again> {
        self.uptime = Uptime::NotAsked;
        let mut again = Vec::new();
        let mut asked = Vec::new();
        let mut talks = Vec::new();
        for (id, task) in tasks {
            match plan(id, task) {
                Plan::Ask(what) => match talk(&what) {
                    Some(talk) => {
                        talks.push(talk);
                        asked.push(Some(what));
                    }
                    None => again.extend(self.judge(what, Err(panicked()))),
                },
                Plan::Later(due, task) => again.push((due, id, task)),
                Plan::Nothing => {}
            }
        }
        if talks.is_empty() {
            return again;
        }
        let until = clock::now() + limit(&asked).min(self.wire.timeouts.io);
        let mut results = Vec::with_capacity(asked.len());
        let ran = self.conn.run_all(talks, until, |position, result| {
            results.push((position, result));
        });
        if let Err(failure) = ran {
            for what in asked.into_iter().flatten() {
                again.extend(self.judge(what, Err(failure.clone())));
            }
            return again;
        }
        for (position, result) in results {
            if let Some(what) = asked[position].take() {
                again.extend(self.judge(what, result));
            }
        }
        self.look_around(until);
        again
    }

    /// Takes in what came of one question.
    fn judge(&mut self, asked: Asked, said: Result<Said, Failure>) -> Option<Again> {
        match asked {
            Asked::Errand(errand) => {
                let left = said.map(|said| match said {
                    Said::Left(left) => left,
                    Said::Kept(_) => Left::Gone,
                });
                let errand = errand.heard(&left, &self.wire.watched)?;
                Some((errand.due(), errand.id(), Task::Leave(Box::new(errand))))
            }
            Asked::Renewal {
                held,
                turn,
                lease,
                last,
                sent,
            } => {
                let due = match said {
                    Ok(Said::Kept(kept)) => self.renewed(&held, kept, lease, last, sent),
                    Ok(Said::Left(_)) => None,
                    Err(failure) => self.failed(&held, &failure),
                };
                drop(turn);
                Some((due?, held.id, Task::Keep(Arc::downgrade(&held))))
            }
        }
    }

    /// Takes in an answer to a renewal; when the hold is due again.
    fn renewed(
        &mut self,
        held: &Held,
        kept: Kept,
        lease: LeaseTime,
        last: bool,
        sent: Moment,
    ) -> Option<Moment> {
        if kept == Kept::Gone && !held.is_over() && self.was_forgotten(held) {
            held.lose(Loss::Forgotten);
        }
        held.keep(kept, lease, sent).ok()?;
        if held.is_over() {
            return None;
        }
        self.wire.watched.tell(|observer| {
            observer.renewed(&Renewed {
                name: &held.name,
                owner: &held.owner,
            });
        });
        if last {
            held.overstay();
            return Some(held.valid_until());
        }
        Some(held.pace.due_at(held.valid_until()))
    }

    /// Takes in that a renewal did not come through; when to try again.
    fn failed(&self, held: &Held, failure: &Failure) -> Option<Moment> {
        if held.is_over() {
            return None;
        }
        held.fail();
        let remaining = held.remaining();
        self.wire.watched.tell(|observer| {
            observer.renewal_failed(&RenewalFailed {
                name: &held.name,
                owner: &held.owner,
                reason: failure,
                remaining,
            });
        });
        if remaining.is_zero() {
            return None;
        }
        Some(held.pace.again_at(clock::now(), held.valid_until()))
    }

    /// Whether the server was started anew since the hold began.
    fn was_forgotten(&mut self, held: &Held) -> bool {
        let conn = &mut self.conn;
        let until = clock::now() + self.wire.timeouts.io;
        environment::was_forgotten(&self.wire, held.began(), || {
            if let Uptime::Said(uptime) = self.uptime {
                return uptime;
            }
            let uptime = conn.run(Talk::new(environment::uptime()), until).ok();
            self.uptime = Uptime::Said(uptime);
            uptime
        })
    }

    /// Once: looks whether the server may drop lock keys, where it lets us look.
    fn look_around(&mut self, until: Moment) {
        if until.remaining().is_zero() || std::mem::replace(&mut self.looked, true) {
            return;
        }
        if let Ok(Some(policy)) = self.conn.run(Talk::new(environment::eviction()), until) {
            environment::warn_of_eviction(&self.wire, &policy);
        }
    }
}

/// What is to be done about a task.
enum Plan {
    Ask(Asked),
    Later(Moment, Task),
    Nothing,
}

fn plan(id: u64, task: Task) -> Plan {
    let held = match task {
        Task::Leave(errand) => return Plan::Ask(Asked::Errand(*errand)),
        Task::Keep(ref held) => held.upgrade(),
    };
    let Some(held) = held.filter(|held| !held.is_over() && held.check().is_ok()) else {
        return Plan::Nothing;
    };
    debug_assert_eq!(id, held.id);
    let now = clock::now();
    let (lease, last) = match held.due(now) {
        Due::Renew(lease) => (lease, false),
        Due::RenewLast(lease) => (lease, true),
        Due::Overstayed => {
            held.overstay();
            return Plan::Later(held.valid_until(), task);
        }
        Due::Watch => return Plan::Later(held.valid_until(), task),
    };
    let Some(turn) = held.turn(now) else {
        return Plan::Later(now + BUSY, task);
    };
    Plan::Ask(Asked::Renewal {
        lease: held.at_least(lease),
        last,
        turn,
        sent: clock::now(),
        held,
    })
}

/// The question; `None` where the strategy panicked over it.
fn talk(asked: &Asked) -> Option<Talk<Said>> {
    let ask = || match asked {
        Asked::Renewal { held, lease, .. } => {
            let exchange = held.strategy.extend(&held.describe(0), *lease);
            Talk::new(
                sure(exchange, |kept| kept.loss().is_some())
                    .map(Said::Kept)
                    .shielded(),
            )
        }
        Asked::Errand(errand) => Talk::by_source(errand.ask().map(Said::Left).shielded()),
    };
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

fn panicked() -> Failure {
    Failure::Malformed(Fault::Malformed {
        expected: "a question",
        got: "a panic of the strategy".to_owned(),
    })
}

/// How long a round may take: a sixth of the shortest lease in it.
fn limit(asked: &[Option<Asked>]) -> Duration {
    asked
        .iter()
        .flatten()
        .filter_map(|asked| match asked {
            Asked::Renewal { lease, .. } => Some(lease.as_duration() / 6),
            Asked::Errand(_) => None,
        })
        .min()
        .unwrap_or(Duration::MAX)
}
