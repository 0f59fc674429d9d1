//! What an acquisition does not know: whether a question that was not answered was carried
//! out. It is undone before the caller hears of it.

use crate::clock::Moment;
use crate::link::{Failure, Poisoned, Single};
use crate::strategy::{Hold, LockStrategy};

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

    /// Notes a grant that came after its own end.
    pub(super) fn note_late_grant(&mut self) {
        self.exists = true;
    }

    pub(super) fn exists(&self) -> bool {
        self.exists
    }

    /// Leaves what may have been granted: on the very connections where an answer is owed,
    /// behind the question; where none of them answers, on a fresh one.
    pub(super) fn undo(
        self,
        link: &Single,
        strategy: &dyn LockStrategy,
        hold: &Hold,
        until: Moment,
    ) {
        if !self.exists {
            return;
        }
        let mut answered = false;
        for owing in self.owing {
            answered |= owing.undo(strategy.leave(hold), until).is_ok();
        }
        if !answered {
            let _ = link.ask_afresh(strategy.leave(hold), until);
        }
    }
}
