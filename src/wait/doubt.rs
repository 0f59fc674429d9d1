//! What an acquisition does not know: whether a question that was not answered was carried
//! out. It is undone before the caller hears of it.

use std::sync::Arc;

use crate::clock::{self, Moment};
use crate::core::Core;
use crate::keeper::Errand;
use crate::link::{Failure, Poisoned};
use crate::observe::Undone;
use crate::strategy::{Hold, Left, LockStrategy};

/// The questions of an acquisition that may have been granted unheard.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    exists: bool,
    owing: Vec<Poisoned>,
}

impl Doubt {
    /// Notes a question without a result.
    pub(super) fn note(&mut self, failure: &Failure, owing: Option<Poisoned>) {
        self.exists |= failure.may_have_run();
        self.owing.extend(owing);
    }

    /// Notes a grant that is not made use of.
    pub(super) fn note_grant(&mut self) {
        self.exists = true;
    }

    pub(super) fn exists(&self) -> bool {
        self.exists
    }

    /// Leaves what may have been granted: on the very connections where an answer is owed,
    /// behind the question; where none of them answers, on a fresh one. Until the server
    /// says that it freed something, the keeper goes on, to the end of the lease.
    pub(super) fn undo(
        self,
        core: &Core,
        strategy: &Arc<dyn LockStrategy>,
        hold: Hold,
        until: Moment,
    ) {
        if !self.exists {
            return;
        }
        let mut answer = None;
        // Half of the time for them: a connection that was silent once may well be so again.
        let half = clock::now() + until.remaining() / 2;
        for owing in self.owing {
            let left = owing.undo(strategy.leave(&hold), half).ok();
            answer = better(answer, left);
        }
        if answer.is_none() {
            let until = clock::now() + core.drop_timeout;
            answer = core.link.ask_afresh(|| strategy.leave(&hold), until).ok();
        }
        let confirmed = matches!(answer, Some(Left::Freed | Left::StillHeld));
        let name = hold.name();
        core.watched()
            .tell(|observer| observer.undone(&Undone { name, confirmed }));
        if !confirmed {
            core.leave_later(&Errand::undo(strategy, hold));
        }
    }
}

/// Of two answers to the same undo, the one that says that it had something to undo.
fn better(one: Option<Left>, other: Option<Left>) -> Option<Left> {
    match (one, other) {
        (Some(Left::Freed), _) => one,
        (_, Some(_)) => other,
        _ => one,
    }
}
