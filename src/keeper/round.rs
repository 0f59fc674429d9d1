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
use crate::link::quorum::{Tally, Vote};
use crate::link::{Failure, Line, Question, Seats, Servers};
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
    line: Line,
    servers: Servers,
    looked: bool,
    /// How long the servers have been up, asked at most once a round.
    uptimes: Option<Vec<Result<Duration, Failure>>>,
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
    pub(super) fn new(servers: &Servers) -> Self {
        Self {
            line: servers.line(),
            servers: servers.clone(),
            looked: false,
            uptimes: None,
        }
    }

    /// Does `tasks`; gives what is to be done again.
    pub(super) fn run(&mut self, tasks: Vec<(u64, Task)>) -> Vec<Again> {
        self.uptimes = None;
        let mut again = Vec::new();
        let mut asked = Vec::new();
        for (id, task) in tasks {
            match plan(id, task) {
                Plan::Ask(what) => asked.push(what),
                Plan::Later(due, task) => again.push((due, id, task)),
                Plan::Nothing => {}
            }
        }
        if asked.is_empty() {
            return again;
        }
        let until = clock::now() + limit(&asked).min(self.servers.io_timeout());
        let mut results = Vec::with_capacity(asked.len());
        let ran = self.line.ask_all(&asked, until, |position, result| {
            results.push((position, result));
        });
        if let Err(failure) = ran {
            results = (0..asked.len())
                .map(|position| (position, Err(failure.clone())))
                .collect();
        }
        let mut asked: Vec<_> = asked.into_iter().map(Some).collect();
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
                let errand = errand.heard(&left, self.servers.watched())?;
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
        self.servers.watched().tell(|observer| {
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
        self.servers.watched().tell(|observer| {
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
        let until = clock::now() + self.servers.io_timeout();
        environment::was_forgotten(&self.servers, held.began(), || {
            let ask = || self.line.each(environment::uptime, until);
            self.uptimes.get_or_insert_with(ask).clone()
        })
    }

    /// Once: looks whether a server may drop lock keys, where it lets us look.
    fn look_around(&mut self, until: Moment) {
        if until.remaining().is_zero() || std::mem::replace(&mut self.looked, true) {
            return;
        }
        let policies = self.line.each(environment::eviction, until);
        for (wire, policy) in self.servers.wires().iter().zip(policies) {
            if let Ok(Some(policy)) = policy {
                environment::warn_of_eviction(wire, &policy);
            }
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

impl Question for Asked {
    type Answer = Said;

    fn talk(&self, _: usize) -> Result<Talk<Said>, Failure> {
        let ask = || match self {
            Self::Renewal { held, lease, .. } => {
                let exchange = held.strategy.extend(&held.describe(0), *lease);
                Talk::new(
                    sure(exchange, |kept| kept.loss().is_some())
                        .map(Said::Kept)
                        .shielded(),
                )
            }
            Self::Errand(errand) => Talk::by_source(errand.ask().map(Said::Left).shielded()),
        };
        catch_unwind(AssertUnwindSafe(ask)).map_err(|_| panicked())
    }

    fn seats(&self) -> Seats {
        match self {
            Self::Renewal { held, .. } => held.seats(),
            Self::Errand(errand) => errand.hold().seats,
        }
    }
}

/// The votes, of which each answer is changed.
fn each<T>(votes: &[Vote<Said>], change: impl Fn(&Said) -> T) -> Vec<Vote<T>> {
    let change = |said: &Result<Said, Failure>| match said {
        Ok(said) => Ok(change(said)),
        Err(failure) => Err(failure.clone()),
    };
    votes.iter().map(|vote| vote.as_ref().map(change)).collect()
}

impl Tally for Said {
    fn tally(votes: &[Vote<Self>]) -> Option<Self> {
        let said = votes.iter().flatten().flatten().next()?;
        if let Self::Left(_) = said {
            let left = |said: &Self| match said {
                Self::Left(left) => *left,
                Self::Kept(_) => Left::Gone,
            };
            return Left::tally(&each(votes, left)).map(Self::Left);
        }
        let kept = |said: &Self| match said {
            Self::Kept(kept) => kept.clone(),
            Self::Left(_) => Kept::Gone,
        };
        Kept::tally(&each(votes, kept)).map(Self::Kept)
    }

    fn word(&self) -> String {
        match self {
            Self::Kept(kept) => kept.word(),
            Self::Left(left) => left.word(),
        }
    }
}

fn panicked() -> Failure {
    Failure::Malformed(Fault::Malformed {
        expected: "a question",
        got: "a panic of the strategy".to_owned(),
    })
}

/// How long a round may take: a sixth of the shortest lease in it.
fn limit(asked: &[Asked]) -> Duration {
    asked
        .iter()
        .filter_map(|asked| match asked {
            Asked::Renewal { lease, .. } => Some(lease.as_duration() / 6),
            Asked::Errand(_) => None,
        })
        .min()
        .unwrap_or(Duration::MAX)
}
