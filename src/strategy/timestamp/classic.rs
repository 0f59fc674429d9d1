//! The algorithm as it was: SETNX, GET, GETSET; GET, DEL.

use super::Dialect;
use crate::clock::WallTime;
use crate::config::LeaseTime;
use crate::environment::read_time;
use crate::exchange::{Answer, Call, Exchange, Reply, Step};
use crate::name::{Name, Owner, Ticket};
use crate::strategy::scripts;
use crate::strategy::{Attempt, Claim, Grant, Hold, Holder, Kept, Left};

/// What a conversation is about.
struct Talk {
    dialect: Dialect,
    name: Name,
    /// What our stamps say of us.
    part: String,
    /// The server's clock, where the dialect goes by that.
    server: Option<WallTime>,
}

/// Has `next` follow, once the server's clock is known where the dialect goes by that.
fn begin<T: 'static>(
    dialect: &Dialect,
    name: &Name,
    who: Option<(&Ticket, &Owner)>,
    next: impl FnOnce(Talk) -> Exchange<T> + Send + 'static,
) -> Exchange<T> {
    let talk = Talk {
        part: who.map_or_else(String::new, |(ticket, owner)| {
            dialect.owner_part(ticket, owner)
        }),
        dialect: dialect.clone(),
        name: name.clone(),
        server: None,
    };
    if !dialect.asks_time() {
        return next(talk);
    }
    Exchange::one(Call::command("TIME"), read_time).and_then(|now| {
        Step::Ask(next(Talk {
            server: Some(WallTime::from_epoch(now)),
            ..talk
        }))
    })
}

impl Talk {
    fn now(&self, answer: &Answer) -> WallTime {
        self.server.unwrap_or(answer.at())
    }

    fn stamp(&self, now: WallTime, lease: LeaseTime) -> Vec<u8> {
        self.dialect.stamp(now, lease, &self.part)
    }

    fn ask(&self, command: &'static str) -> Call {
        Call::command(command).key(self.name.as_bytes())
    }

    /// Writes `stamp` over `read`: by GETSET, which gives what it replaced, or by a transaction,
    /// which gives `read` where it was carried out and else nothing.
    fn replace(&self, read: &[u8], stamp: Vec<u8>) -> Call {
        if self.dialect.swaps() {
            let swap = Call::script(&scripts::STAMP_SWAP).key(self.name.as_bytes());
            swap.arg(read).arg(stamp)
        } else {
            self.ask("GETSET").arg(stamp)
        }
    }

    fn take_over(self, lease: LeaseTime) -> Exchange<Attempt> {
        Exchange::new(self.ask("GET"), move |answer| {
            let now = self.now(&answer);
            let Some(read) = answer.into_reply().optional()? else {
                return Ok(Step::Done(Attempt::Held(nobody())));
            };
            let read = read.bytes()?;
            if !self.dialect.has_passed(&read, now) {
                return Ok(Step::Done(Attempt::Held(self.dialect.holder(read, now))));
            }
            Ok(Step::Ask(self.replace_passed(read, now, lease)))
        })
    }

    fn replace_passed(self, read: Vec<u8>, now: WallTime, lease: LeaseTime) -> Exchange<Attempt> {
        let stamp = self.stamp(now, lease);
        Exchange::new(self.replace(&read, stamp.clone()), move |answer| {
            let now = self.now(&answer);
            let old = answer
                .into_reply()
                .optional()?
                .map(Reply::bytes)
                .transpose()?;
            Ok(Step::Done(match old {
                old if self.dialect.has_won(old.as_deref(), &read, now) => granted(stamp),
                Some(old) => Attempt::Held(self.dialect.holder(old, now)),
                None => Attempt::Held(nobody()),
            }))
        })
    }
}

/// SETNX; where something stands there, GET it; where that has passed, GETSET.
pub(super) fn acquire(dialect: &Dialect, claim: &Claim) -> Exchange<Attempt> {
    let (here, lease) = (claim.now(), claim.lease());
    let who = Some((claim.ticket(), claim.owner()));
    begin(dialect, claim.name(), who, move |talk| {
        let stamp = talk.stamp(talk.server.unwrap_or(here), lease);
        Exchange::new(talk.ask("SETNX").arg(stamp.clone()), move |answer| {
            if answer.into_reply().int()? == 1 {
                return Ok(Step::Done(granted(stamp)));
            }
            Ok(Step::Ask(talk.take_over(lease)))
        })
    })
}

/// GET; where our own stamp still stands and has not passed, GETSET a later one.
pub(super) fn extend(dialect: &Dialect, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
    let mine = hold.mark().map(<[u8]>::to_vec);
    let who = Some((hold.ticket(), hold.owner()));
    begin(dialect, hold.name(), who, move |talk| {
        Exchange::new(talk.ask("GET"), move |answer| {
            let now = talk.now(&answer);
            let Some(read) = answer.into_reply().optional()? else {
                return Ok(Step::Done(Kept::Gone));
            };
            let read = read.bytes()?;
            if mine.as_ref() != Some(&read) {
                return Ok(Step::Done(Kept::Contested));
            }
            if talk.dialect.has_passed(&read, now) {
                return Ok(Step::Done(Kept::Gone));
            }
            let stamp = talk.stamp(now, lease);
            let replace = talk.replace(&read, stamp.clone());
            Ok(Step::Ask(Exchange::one(replace, move |reply| {
                let old = reply.optional()?.map(Reply::bytes).transpose()?;
                Ok(if old.as_ref() == Some(&read) {
                    Kept::Kept { mark: Some(stamp) }
                } else {
                    Kept::Contested
                })
            })))
        })
    })
}

/// GET; then DEL, whoever wrote what stands there, where the dialect's clients would: that is
/// the algorithm. The GET comes first in every dialect, so that the answer can say whose lock
/// it was.
///
/// Only an undo deletes nothing, since it does not know whether it ever held; and a release
/// that is sent again deletes nothing but its own stamp, since clients of the algorithm never
/// sent one twice.
pub(super) fn leave(dialect: &Dialect, hold: &Hold) -> Exchange<Left> {
    let mine = hold.mark().map(<[u8]>::to_vec);
    let only_mine = hold.is_forced() || hold.is_repeated();
    begin(dialect, hold.name(), None, move |talk| {
        Exchange::new(talk.ask("GET"), move |answer| {
            let now = talk.now(&answer);
            let Some(read) = answer.into_reply().optional()? else {
                return Ok(Step::Done(Left::Gone));
            };
            let read = read.bytes()?;
            let Some(mine) = mine else {
                return Ok(Step::Done(Left::Taken));
            };
            let was_mine = read == mine;
            let deletes = if only_mine {
                was_mine && !talk.dialect.has_passed(&read, now)
            } else {
                talk.dialect.deletes(&read, &mine, now)
            };
            if !deletes {
                return Ok(Step::Done(if was_mine { Left::Gone } else { Left::Taken }));
            }
            Ok(Step::Ask(Exchange::one(talk.ask("DEL"), move |reply| {
                let deleted = reply.int()? == 1;
                Ok(match (deleted, was_mine) {
                    (true, true) => Left::Freed,
                    (true, false) => Left::Contested,
                    (false, _) => Left::Gone,
                })
            })))
        })
    })
}

/// GET, and how long the stamp still lies ahead.
pub(super) fn inspect(dialect: &Dialect, name: &Name) -> Exchange<Option<Holder>> {
    begin(dialect, name, None, move |talk| {
        Exchange::new(talk.ask("GET"), move |answer| {
            let now = talk.now(&answer);
            let Some(stamp) = answer.into_reply().optional()? else {
                return Ok(Step::Done(None));
            };
            let stamp = stamp.bytes()?;
            let held = !talk.dialect.has_passed(&stamp, now);
            Ok(Step::Done(held.then(|| talk.dialect.holder(stamp, now))))
        })
    })
}

/// The lock went away between two looks at it.
fn nobody() -> Holder {
    let gone = Holder::of(Vec::new()).labelled("a time stamp that is gone");
    gone.lasting(Some(std::time::Duration::ZERO))
}

fn granted(stamp: Vec<u8>) -> Attempt {
    Attempt::Granted(Grant::default().with_mark(stamp))
}
