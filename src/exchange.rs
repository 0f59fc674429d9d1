//! One question to Redis and what to do with the answer, as data.
//!
//! A [strategy](crate::strategy) never touches a socket. It gives an [`Exchange`]: a
//! [`Call`] to send and a function that reads the [`Answer`] and says what comes next, a
//! result or another exchange. Because it is data, the same exchange runs alone on one
//! connection, pipelined beside others, or on many servers at once.

mod call;
mod reply;
mod talk;

use std::fmt;

pub use call::{Call, Script};
pub use reply::{Answer, Fault, Reply, ServerError};
pub(crate) use talk::{Heard, Talk};

type Then<T> = Box<dyn FnOnce(Answer) -> Result<Step<T>, Fault> + Send>;

/// A question to Redis, and what to do with the answer.
///
/// # Examples
///
/// How long a key still lives, in two questions:
///
/// ```
/// use leasehold::{Call, Exchange, Step};
///
/// let ask: Exchange<Option<i64>> = Exchange::new(Call::command("EXISTS").arg("key"), |answer| {
///     if answer.into_reply().int()? == 0 {
///         return Ok(Step::Done(None));
///     }
///     Ok(Step::Ask(Exchange::new(Call::command("PTTL").arg("key"), |answer| {
///         Ok(Step::Done(Some(answer.into_reply().int()?)))
///     })))
/// });
/// # drop(ask);
/// ```
pub struct Exchange<T> {
    call: Call,
    then: Then<T>,
}

/// What follows an answer: the result, or a next question.
///
/// # Examples
///
/// ```
/// use leasehold::Step;
///
/// let step: Step<u32> = Step::Done(7);
/// assert!(matches!(step, Step::Done(7)));
/// ```
#[derive(Debug)]
pub enum Step<T> {
    /// The exchange is finished.
    Done(T),
    /// There is something more to ask.
    Ask(Exchange<T>),
}

impl<T: 'static> Exchange<T> {
    /// Makes an exchange that sends `call` and hands the answer to `then`.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Call, Exchange, Step};
    ///
    /// let ping = Exchange::new(Call::command("PING"), |answer| {
    ///     Ok(Step::Done(answer.into_reply().text()?))
    /// });
    /// # drop::<Exchange<String>>(ping);
    /// ```
    pub fn new(
        call: Call,
        then: impl FnOnce(Answer) -> Result<Step<T>, Fault> + Send + 'static,
    ) -> Self {
        Self {
            call,
            then: Box::new(then),
        }
    }

    /// Makes an exchange of one question, whose answer `read` turns into the result.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Call, Exchange};
    ///
    /// let count = Exchange::one(Call::command("EXISTS").arg("key"), |reply| reply.int());
    /// # drop::<Exchange<i64>>(count);
    /// ```
    pub fn one(call: Call, read: impl FnOnce(Reply) -> Result<T, Fault> + Send + 'static) -> Self {
        Self::new(call, |answer| Ok(Step::Done(read(answer.into_reply())?)))
    }

    /// Makes an exchange that asks as this one does and then changes the result.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Call, Exchange};
    ///
    /// let exists = Exchange::one(Call::command("EXISTS").arg("key"), |reply| reply.int())
    ///     .map(|count| count > 0);
    /// # drop::<Exchange<bool>>(exists);
    /// ```
    pub fn map<U: 'static>(self, change: impl FnOnce(T) -> U + Send + 'static) -> Exchange<U> {
        self.and_then(|result| Step::Done(change(result)))
    }

    /// Makes an exchange that asks as this one does and goes on as `next` says.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Call, Exchange, Step};
    ///
    /// let ttl = Exchange::one(Call::command("EXISTS").arg("key"), |reply| reply.int())
    ///     .and_then(|count| match count {
    ///         0 => Step::Done(-2),
    ///         _ => Step::Ask(Exchange::one(Call::command("PTTL").arg("key"), |reply| reply.int())),
    ///     });
    /// # drop::<Exchange<i64>>(ttl);
    /// ```
    pub fn and_then<U: 'static>(
        self,
        next: impl FnOnce(T) -> Step<U> + Send + 'static,
    ) -> Exchange<U> {
        let then = self.then;
        Exchange::new(self.call, |answer| {
            Ok(match then(answer)? {
                Step::Done(result) => next(result),
                Step::Ask(exchange) => Step::Ask(exchange.and_then(next)),
            })
        })
    }
}

impl<T> Exchange<T> {
    /// What is asked: for who runs exchanges on something else than a server.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Call, Exchange};
    ///
    /// let count = Exchange::one(Call::command("EXISTS").key("key"), |reply| reply.int());
    /// assert_eq!(count.call().name(), "EXISTS");
    /// # drop::<Exchange<i64>>(count);
    /// ```
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Takes the answer: for who runs exchanges on something else than a server.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the answer is none that the exchange can read.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use leasehold::{Answer, Call, Exchange, Reply, Step, WallTime};
    ///
    /// let count = Exchange::one(Call::command("EXISTS").key("key"), |reply| reply.int());
    /// let answer = Answer::new(Reply::Int(1), WallTime::from_epoch(Duration::ZERO));
    /// assert!(matches!(count.answer(answer)?, Step::Done(1)));
    /// # Ok::<(), leasehold::Fault>(())
    /// ```
    pub fn answer(self, answer: Answer) -> Result<Step<T>, Fault> {
        (self.then)(answer)
    }
}

impl<T: 'static> Exchange<T> {
    /// The same exchange, whose own panics are faults: for a thread that serves others too.
    pub(crate) fn shielded(self) -> Self {
        let then = self.then;
        Self::new(self.call, |answer| {
            let answered = std::panic::AssertUnwindSafe(|| then(answer));
            match std::panic::catch_unwind(answered) {
                Ok(Ok(Step::Ask(exchange))) => Ok(Step::Ask(exchange.shielded())),
                Ok(step) => step,
                Err(_) => Err(Fault::Malformed {
                    expected: "an answer that the strategy can read",
                    got: "one over which it panicked".to_owned(),
                }),
            }
        })
    }
}

impl<T> fmt::Debug for Exchange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
