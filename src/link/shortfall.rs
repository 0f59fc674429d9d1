//! What is said where too few of several servers agree.

use std::fmt;
use std::sync::Arc;

use super::Failure;
use super::quorum::{Tally, Vote, majority};
use crate::error::ErrorKind;

/// Too few of several servers agree. It names the answer of each.
#[derive(Debug)]
pub(crate) struct Shortfall {
    need: usize,
    of: usize,
    answers: Vec<String>,
    pub(super) kind: ErrorKind,
    pub(super) may_have_run: bool,
    pub(super) is_passing: bool,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { need, of, .. } = self;
        write!(f, "{need} of {of} servers must agree, and they do not: ")?;
        f.write_str(&self.answers.join("; "))
    }
}

/// What `votes` come to that leave it open; `address` names a server. `undone`: whatever was
/// done is undone.
pub(super) fn shortfall<'a, T: Tally>(
    votes: &[Vote<T>],
    address: impl Fn(usize) -> &'a str,
    undone: bool,
) -> Failure {
    let need = majority(votes.len());
    let said = || votes.iter().flatten();
    let failures = || said().filter_map(|vote| vote.as_ref().err());
    let lasting = failures().filter(|failure| !failure.is_passing());
    let is_passing = votes.len() - lasting.count() >= need;
    let mut foreign = failures().filter(|failure| failure.is_wrong_type());
    if let (false, Some(first)) = (is_passing, foreign.next()) {
        return first.clone(); // what stands there is looked at next, and named
    }
    let answers = votes.iter().enumerate().filter_map(|(seat, vote)| {
        Some(match vote.as_ref()? {
            Ok(answer) => format!("{} {}", address(seat), answer.word()),
            Err(failure) => named(address(seat), failure),
        })
    });
    let answered = said().any(Result::is_ok);
    Failure::NoQuorum(Arc::new(Shortfall {
        need,
        of: votes.len(),
        answers: answers.collect(),
        kind: kind(failures(), answered),
        may_have_run: !undone && (answered || failures().any(Failure::may_have_run)),
        is_passing,
    }))
}

/// The kind of what failed everywhere, but for servers that cannot be reached, where it is
/// one; else it is the quorum that is wanting.
fn kind<'a>(failures: impl Iterator<Item = &'a Failure>, answered: bool) -> ErrorKind {
    let mut kinds: Vec<_> = failures.map(Failure::kind).collect();
    kinds.sort_by_key(|kind| *kind == ErrorKind::Unreachable);
    match kinds.first() {
        Some(ErrorKind::Unknown) | None => ErrorKind::NoQuorum,
        Some(_) if answered => ErrorKind::NoQuorum,
        Some(first) => {
            let mut others = kinds.iter();
            if others.all(|kind| kind == first || *kind == ErrorKind::Unreachable) {
                *first
            } else {
                ErrorKind::NoQuorum
            }
        }
    }
}

/// A failure, with the address where its text does not bring it.
fn named(address: &str, failure: &Failure) -> String {
    let text = failure.to_string();
    if text.contains(address) {
        text
    } else {
        format!("{address}: {text}")
    }
}
