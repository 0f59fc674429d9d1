//! Several servers asked at once, on one thread: first all are spoken to, then all are
//! listened to, so that they take as long as the slowest and not as long as all together.

use std::time::Duration;

use super::conn::{Open, SHORTEST};
use super::converse::{Conversation, State};
use super::{Failure, Wire};
use crate::clock::{self, Moment};
use crate::exchange::Talk;

/// One server's part.
pub(super) struct Party<'a, T> {
    seat: usize,
    open: Open,
    wire: &'a Wire,
    conversation: Conversation<T>,
}

impl<'a, T> Party<'a, T> {
    /// The server at `seat`, for talks that have their positions.
    pub(super) fn new(
        seat: usize,
        open: Open,
        wire: &'a Wire,
        talks: Vec<(usize, Talk<T>)>,
    ) -> Self {
        Self {
            seat,
            open,
            wire,
            conversation: Conversation::new(talks),
        }
    }

    /// The same, where an earlier answer is still owed on the connection.
    pub(super) fn owing(self) -> Self {
        Self {
            conversation: self.conversation.behind(1),
            ..self
        }
    }

    /// What is left: the seat, its connection and what it is good for.
    pub(super) fn into_parts(self) -> (usize, Open, State) {
        (self.seat, self.open, self.conversation.state())
    }
}

/// Runs the talks of all parties, in rounds: a party may be further than another. Each round
/// takes as long as `limit` at most, and ends by `until`. `done` gets every outcome by its
/// seat and its position.
pub(super) fn scatter<T>(
    parties: &mut [Party<'_, T>],
    limit: Duration,
    until: Moment,
    mut done: impl FnMut(usize, usize, Result<T, Failure>),
) {
    while parties.iter().any(|party| !party.conversation.is_over()) {
        for party in talking(parties) {
            party.conversation.speak(&mut party.open);
        }
        let until = until.min(clock::now() + limit);
        for party in talking(parties) {
            // A silent server uses up the time of those behind it, who have answered meanwhile.
            let until = until.max(clock::now() + SHORTEST);
            let seat = party.seat;
            party.conversation.listen(
                &mut party.open,
                party.wire,
                until,
                &mut |position, result| {
                    done(seat, position, result);
                },
            );
        }
    }
}

fn talking<'p, 'a, T>(
    parties: &'p mut [Party<'a, T>],
) -> impl Iterator<Item = &'p mut Party<'a, T>> {
    parties
        .iter_mut()
        .filter(|party| !party.conversation.is_over())
}
