//! Strategies that leave out one of the measures against ghosts.

use leasehold::{
    Call, Exchange, LeaseTime, Name,
    strategy::{Attempt, Claim, Hold, Holder, Kept, Left as Answer, LockStrategy},
};

use crate::ground::Any;

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// An undo goes by its SHA, which a server may have forgotten.
    Source,
    /// An undo leaves nothing that refuses a later question.
    Tombstone,
    /// Nothing is undone.
    Undo,
}

/// A strategy without one of the measures.
#[derive(Debug)]
pub(crate) struct Mutant {
    inner: Any,
    without: Left,
}

impl Mutant {
    pub(crate) fn of(inner: Any, without: Left) -> Self {
        Self { inner, without }
    }
}

#[deny(clippy::missing_trait_methods)]
impl LockStrategy for Mutant {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        self.inner.acquire(claim)
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        self.inner.extend(hold, lease)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Answer> {
        let leave = self.inner.leave(hold);
        let Some(undo) = hold.undo() else {
            return leave;
        };
        match self.without {
            Left::Source => instead(by_sha(leave.call()), leave),
            Left::Tombstone => instead(without_tombstone(leave.call(), undo), leave),
            Left::Undo => Exchange::one(Call::command("PING"), |reply| {
                reply.text().map(|_| Answer::Gone)
            }),
        }
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        self.inner.inspect(name)
    }

    fn reenters(&self) -> bool {
        self.inner.reenters()
    }

    fn fences(&self) -> bool {
        self.inner.fences()
    }

    fn admit_many(&self) -> Result<(), String> {
        self.inner.admit_many()
    }

    fn admit(&self, lease: LeaseTime) -> Result<(), String> {
        self.inner.admit(lease)
    }
}

/// Asks `call`, and reads the answer as `exchange` would.
fn instead(call: Call, exchange: Exchange<Answer>) -> Exchange<Answer> {
    Exchange::new(call, |answer| exchange.answer(answer))
}

/// The same script as a plain command, whose NOSCRIPT is an answer like any other.
fn by_sha(call: &Call) -> Call {
    let script = call.called().expect("leaving takes a script");
    let sha = Call::command("EVALSHA").arg(script.sha());
    let sha = sha.arg(call.keys().len().to_string());
    let parts = call.keys().iter().chain(call.args());
    parts.fold(sha, |call, part| call.arg(part.clone()))
}

/// The same script, told that no later question is to be refused.
fn without_tombstone(call: &Call, undo: LeaseTime) -> Call {
    let script = call.called().expect("leaving takes a script");
    let text = undo.as_millis().to_string().into_bytes();
    let told = call.args().iter().rposition(|arg| *arg == text);
    let told = told.expect("the script is told for how long");
    let keys = call.keys().iter().cloned();
    let same = keys.fold(Call::script(script), Call::key);
    let args = call.args().iter().enumerate();
    args.fold(same, |call, (at, arg)| {
        call.arg(if at == told {
            b"0".to_vec()
        } else {
            arg.clone()
        })
    })
}
