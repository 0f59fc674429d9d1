//! What the answers of several servers come to: arithmetic, without I/O and without a clock.
//!
//! A majority decides. What it cannot decide, since too few answered, is left undecided:
//! "I do not know" is an answer, and is never rounded to yes or no.

use std::time::Duration;

use super::{Failure, Seats};
use crate::fence::Fence;
use crate::strategy::{Attempt, Grant, Holder, Kept, Left};

/// What one server said; `None` of one that the question did not concern.
pub(crate) type Vote<T> = Option<Result<T, Failure>>;

/// How many of `count` servers are a majority: any two majorities have a server in common.
pub(crate) fn majority(count: usize) -> usize {
    count / 2 + 1
}

/// Answers that several servers may give to one question.
pub(crate) trait Tally: Sized {
    /// What the servers' answers come to; `None` where they leave it open.
    fn tally(votes: &[Vote<Self>]) -> Option<Self>;

    /// The answer in a word or two, for the error that names each server's.
    fn word(&self) -> String;
}

/// How many servers said what, of how many.
fn count<T>(votes: &[Vote<T>], is: impl Fn(&T) -> bool) -> usize {
    let said = votes.iter().flatten().flatten();
    said.filter(|answer| is(answer)).count()
}

/// How many servers were asked and gave no answer.
fn silent<T>(votes: &[Vote<T>]) -> usize {
    votes.iter().flatten().filter(|vote| vote.is_err()).count()
}

/// The seats of those whose vote `is` so.
pub(crate) fn seats<T>(votes: &[Vote<T>], is: impl Fn(&Result<T, Failure>) -> bool) -> Seats {
    let seats = votes.iter().enumerate();
    seats
        .filter(|(_, vote)| vote.as_ref().is_some_and(&is))
        .map(|(seat, _)| seat)
        .collect()
}

impl Tally for Attempt {
    /// Granted by a majority; held, where so many answered that it cannot be for want of
    /// answers.
    fn tally(votes: &[Vote<Self>]) -> Option<Self> {
        let need = majority(votes.len());
        if count(votes, |attempt| matches!(attempt, Self::Granted(_))) >= need {
            return Some(Self::Granted(grant(votes)));
        }
        if count(votes, |attempt| matches!(attempt, Self::OuterGone)) >= need {
            return Some(Self::OuterGone);
        }
        if count(votes, |_| true) < need {
            return None;
        }
        let held = votes.iter().flatten().flatten().filter_map(|attempt| {
            let Self::Held(holder) = attempt else {
                return None;
            };
            Some(holder)
        });
        strongest(held).map(|(holder, _)| Self::Held(holder))
    }

    fn word(&self) -> String {
        match self {
            Self::Granted(_) => "granted it".to_owned(),
            Self::Held(holder) => format!("says that {holder} holds it"),
            Self::Withdrawn => "refused it as given up".to_owned(),
            Self::OuterGone => "does not know the outer hold".to_owned(),
        }
    }
}

/// What the grants of several servers come to. The fence is the largest: see [`unraised`].
fn grant(votes: &[Vote<Attempt>]) -> Grant {
    let mut whole = Grant::default();
    for vote in votes.iter().flatten() {
        let Ok(Attempt::Granted(grant)) = vote else {
            continue;
        };
        let fence = grant.fence().max(whole.fence());
        if let (None, Some(mark)) = (whole.mark(), grant.mark()) {
            whole = whole.with_mark(mark);
        }
        whole = whole.with_fence(fence);
    }
    whole.at(seats(votes, |vote| matches!(vote, Ok(Attempt::Granted(_)))))
}

/// Those that granted and store less than the fence of the whole: it is to be written to
/// them before anybody learns of it.
///
/// The next majority has a server in common with the one that stores it, and gives more than
/// that stores. Without the writing, the server in common may be one that gave less, and the
/// next fence may be less than this one.
pub(crate) fn unraised(votes: &[Vote<Attempt>], fence: Fence) -> Seats {
    seats(
        votes,
        |vote| matches!(vote, Ok(Attempt::Granted(grant)) if grant.fence() < Some(fence)),
    )
}

impl Tally for Kept {
    fn tally(votes: &[Vote<Self>]) -> Option<Self> {
        let need = majority(votes.len());
        let kept = count(votes, |kept| kept.loss().is_none());
        if kept >= need {
            let mut said = votes.iter().flatten().flatten();
            return said.find(|kept| kept.loss().is_none()).cloned();
        }
        if kept + silent(votes) >= need {
            return None;
        }
        let taken = count(votes, |kept| *kept == Self::Taken);
        let contested = count(votes, |kept| *kept == Self::Contested);
        let gone = count(votes, |kept| *kept == Self::Gone);
        Some(match () {
            () if taken > 0 && taken >= gone => Self::Taken,
            () if contested > gone => Self::Contested,
            () => Self::Gone,
        })
    }

    fn word(&self) -> String {
        match self {
            Self::Kept { .. } => "keeps it".to_owned(),
            Self::Gone => "does not know it".to_owned(),
            Self::Taken => "says that another holds it".to_owned(),
            Self::Contested => "has a foreign stamp in its place".to_owned(),
        }
    }
}

impl Tally for Left {
    /// What concerns one server alone, as an undo at it does, that server decides.
    fn tally(votes: &[Vote<Self>]) -> Option<Self> {
        let mut asked = votes.iter().flatten();
        if let (Some(only), None) = (asked.next(), asked.next()) {
            return only.as_ref().ok().copied();
        }
        let need = majority(votes.len());
        let freed = count(votes, |left| *left == Self::Freed);
        let still = count(votes, |left| *left == Self::StillHeld);
        if freed + still >= need {
            return Some(if freed >= still {
                Self::Freed
            } else {
                Self::StillHeld
            });
        }
        if freed + still + silent(votes) >= need {
            return None;
        }
        let taken = count(votes, |left| *left == Self::Taken);
        let contested = count(votes, |left| *left == Self::Contested);
        let gone = count(votes, |left| *left == Self::Gone);
        Some(match () {
            () if taken > 0 && taken >= gone => Self::Taken,
            () if contested > gone => Self::Contested,
            () => Self::Gone,
        })
    }

    fn word(&self) -> String {
        match self {
            Self::Freed => "freed it",
            Self::StillHeld => "counts it once less",
            Self::Gone => "does not know it",
            Self::Taken => "says that another holds it",
            Self::Contested => "has a foreign stamp in its place",
        }
        .to_owned()
    }
}

impl Tally for Option<Holder> {
    /// Whoever most of those name that say it is held; nobody, where they are no majority.
    fn tally(votes: &[Vote<Self>]) -> Option<Self> {
        let need = majority(votes.len());
        let held = count(votes, Self::is_some);
        if held >= need {
            let holders = votes.iter().flatten().flatten().flatten();
            return Some(strongest(holders).map(|(holder, _)| holder));
        }
        (held + silent(votes) < need).then_some(None)
    }

    fn word(&self) -> String {
        match self {
            Some(holder) => format!("says that {holder} holds it"),
            None => "knows no holder".to_owned(),
        }
    }
}

/// What the first server says that says anything: for questions about something else than a
/// lock's state.
impl Tally for String {
    fn tally(votes: &[Vote<Self>]) -> Option<Self> {
        votes.iter().flatten().flatten().next().cloned()
    }

    fn word(&self) -> String {
        self.clone()
    }
}

/// The holder that most servers name, with how many do; it lasts as long as the one that
/// says so for longest.
fn strongest<'a>(holders: impl Iterator<Item = &'a Holder>) -> Option<(Holder, usize)> {
    let mut tallied: Vec<(&Holder, usize)> = Vec::new();
    for holder in holders {
        match tallied
            .iter_mut()
            .find(|(one, _)| one.mark() == holder.mark())
        {
            Some((one, strength)) => {
                *strength += 1;
                if lasts(holder) > lasts(one) {
                    *one = holder;
                }
            }
            None => tallied.push((holder, 1)),
        }
    }
    let most = tallied.iter().map(|(_, strength)| *strength).max()?;
    let found = tallied.into_iter().find(|(_, strength)| *strength == most);
    found.map(|(holder, strength)| (holder.clone(), strength))
}

fn lasts(holder: &Holder) -> Duration {
    holder.remaining().unwrap_or(Duration::MAX)
}

#[cfg(test)]
#[path = "quorum_tests.rs"]
mod tests;
