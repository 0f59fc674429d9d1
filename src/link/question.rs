//! What is asked of one server, or of several: an exchange can be asked once, a question of
//! as many servers as there are.

use super::{Failure, Seats};
use crate::exchange::{Exchange, Talk};

/// What is asked of one server, or of several.
pub(crate) trait Question {
    type Answer;

    /// The question as it goes to the server at `seat`.
    fn talk(&self, seat: usize) -> Result<Talk<Self::Answer>, Failure>;

    /// The servers that it concerns.
    fn seats(&self) -> Seats {
        Seats::ALL
    }
}

/// A question that is the same for every server.
#[derive(Debug)]
pub(crate) struct Ask<F> {
    exchange: F,
    seats: Seats,
    by_source: bool,
}

impl<T, F: Fn() -> Exchange<T>> Ask<F> {
    pub(crate) fn of(exchange: F) -> Self {
        Self {
            exchange,
            seats: Seats::ALL,
            by_source: false,
        }
    }

    /// The same, for those servers alone.
    pub(crate) fn at(self, seats: Seats) -> Self {
        Self { seats, ..self }
    }

    /// The same, with its scripts by their source.
    pub(crate) fn by_source(self) -> Self {
        Self {
            by_source: true,
            ..self
        }
    }
}

impl<T, F: Fn() -> Exchange<T>> Question for Ask<F> {
    type Answer = T;

    fn talk(&self, _: usize) -> Result<Talk<T>, Failure> {
        let exchange = (self.exchange)();
        Ok(if self.by_source {
            Talk::by_source(exchange)
        } else {
            Talk::new(exchange)
        })
    }

    fn seats(&self) -> Seats {
        self.seats
    }
}
