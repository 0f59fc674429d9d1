//! An exchange that is under way: what to send next, and what an answer makes of it.
//!
//! Whoever has connections moves it on: one by one, many in step on one connection, or
//! one on each of many connections.

use super::{Answer, Exchange, Fault, Reply, Step};

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct Talk<T> {
    exchange: Exchange<T>,
    by_source: Source,
}

/// Whether scripts go by their source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// By SHA; the server has not complained.
    AsNeeded,
    /// This one call, since the server does not know its SHA.
    Once,
    /// All of them: an undo must not fail for a script that was forgotten.
    Always,
}

/// What an answer made of an exchange.
#[derive(Debug)]
pub(crate) enum Heard<T> {
    /// There is something more to send.
    More(Talk<T>),
    /// It is finished.
    Done(Result<T, Fault>),
}

impl<T> Talk<T> {
    pub(crate) fn new(exchange: Exchange<T>) -> Self {
        Self {
            exchange,
            by_source: Source::AsNeeded,
        }
    }

    /// An exchange whose scripts are all sent by their source.
    pub(crate) fn by_source(exchange: Exchange<T>) -> Self {
        Self {
            exchange,
            by_source: Source::Always,
        }
    }

    /// Appends to `out` what is to be sent.
    pub(crate) fn pack(&self, out: &mut Vec<u8>) {
        self.exchange
            .call
            .pack(out, self.by_source != Source::AsNeeded);
    }

    /// The command that was sent or, where a script failed on `line`, is called there.
    pub(crate) fn command(&self, line: Option<usize>) -> &'static str {
        let by_source = self.by_source != Source::AsNeeded;
        self.exchange.call.name_on(line, by_source)
    }

    /// Takes the answer to what was sent.
    pub(crate) fn hear(self, answer: Answer) -> Heard<T> {
        if self.by_source == Source::AsNeeded && self.is_unknown_script(&answer) {
            return Heard::More(Self {
                by_source: Source::Once,
                ..self
            });
        }
        let by_source = match self.by_source {
            Source::Always => Source::Always,
            Source::Once | Source::AsNeeded => Source::AsNeeded,
        };
        match self.exchange.answer(answer) {
            Ok(Step::Ask(exchange)) => Heard::More(Self {
                exchange,
                by_source,
            }),
            Ok(Step::Done(result)) => Heard::Done(Ok(result)),
            Err(fault) => Heard::Done(Err(fault)),
        }
    }

    fn is_unknown_script(&self, answer: &Answer) -> bool {
        self.exchange.call.is_script()
            && matches!(answer.reply(), Reply::Error(error) if error.code() == "NOSCRIPT")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::clock;
    use crate::exchange::{Call, Script, ServerError};

    static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new("return 1"));

    fn ask() -> Exchange<i64> {
        Exchange::one(Call::script(&SCRIPT), Reply::int)
    }

    fn sent<T>(talk: &Talk<T>) -> String {
        let mut out = Vec::new();
        talk.pack(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn answer(reply: Reply) -> Answer {
        Answer::new(reply, clock::wall())
    }

    fn noscript() -> Answer {
        answer(Reply::Error(ServerError::new("NOSCRIPT", "No matching")))
    }

    #[test]
    fn an_unknown_script_is_sent_by_source_once() {
        let talk = Talk::new(ask());
        assert!(sent(&talk).contains("EVALSHA"));
        let Heard::More(talk) = talk.hear(noscript()) else {
            panic!("the source was not tried");
        };
        assert!(sent(&talk).contains("EVAL\r\n"));
        let Heard::Done(Err(Fault::Refused(error))) = talk.hear(noscript()) else {
            panic!("a second NOSCRIPT is the server's last word");
        };
        assert_eq!(error.code(), "NOSCRIPT");
    }

    #[test]
    fn the_next_question_goes_by_sha_again() {
        let twice = ask().and_then(|_| Step::Ask(ask()));
        let Heard::More(talk) = Talk::new(twice).hear(noscript()) else {
            panic!()
        };
        let Heard::More(talk) = talk.hear(answer(Reply::Int(1))) else {
            panic!()
        };
        assert!(sent(&talk).contains("EVALSHA"));
    }

    #[test]
    fn an_undo_never_trusts_a_sha() {
        let twice = ask().and_then(|_| Step::Ask(ask()));
        let talk = Talk::by_source(twice);
        assert!(sent(&talk).contains("EVAL\r\n"));
        let Heard::More(talk) = talk.hear(answer(Reply::Int(1))) else {
            panic!()
        };
        assert!(sent(&talk).contains("EVAL\r\n"));
    }

    #[test]
    fn a_result_ends_it() {
        let Heard::Done(Ok(1)) = Talk::new(ask()).hear(answer(Reply::Int(1))) else {
            panic!()
        };
    }
}
