//! The algorithm as it was: SETNX, GET, GETSET; GET, DEL.

use super::Dialect;
use crate::config::LeaseTime;
use crate::exchange::{Call, Exchange, Step};
use crate::name::Name;
use crate::strategy::{Attempt, Claim, Grant, Hold, Holder, Kept, Left};

/// SETNX; where something stands there, GET it; where that has passed, GETSET.
pub(super) fn acquire(dialect: &Dialect, claim: &Claim) -> Exchange<Attempt> {
    let stamp = dialect.stamp(claim.now(), claim.lease());
    let (name, lease, dialect) = (claim.name().clone(), claim.lease(), dialect.clone());
    Exchange::new(on(&name, "SETNX").arg(stamp.clone()), move |answer| {
        if answer.into_reply().int()? == 1 {
            return Ok(Step::Done(granted(stamp)));
        }
        Ok(Step::Ask(take_over(dialect, name, lease)))
    })
}

fn take_over(dialect: Dialect, name: Name, lease: LeaseTime) -> Exchange<Attempt> {
    Exchange::new(on(&name, "GET"), move |answer| {
        let now = answer.at();
        let Some(read) = answer.into_reply().optional()? else {
            return Ok(Step::Done(Attempt::Held(
                dialect.holder(b"0".to_vec(), now),
            )));
        };
        let read = read.bytes()?;
        if !dialect.has_passed(&read, now) {
            return Ok(Step::Done(Attempt::Held(dialect.holder(read, now))));
        }
        let stamp = dialect.stamp(now, lease);
        let getset = on(&name, "GETSET").arg(stamp.clone());
        Ok(Step::Ask(Exchange::new(getset, move |answer| {
            let now = answer.at();
            let Some(old) = answer.into_reply().optional()? else {
                return Ok(Step::Done(granted(stamp)));
            };
            let old = old.bytes()?;
            Ok(Step::Done(if dialect.has_won(&old, &read, now) {
                granted(stamp)
            } else {
                Attempt::Held(dialect.holder(old, now))
            }))
        })))
    })
}

/// GET; where our own stamp still stands and has not passed, GETSET a later one.
pub(super) fn extend(dialect: &Dialect, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
    let (name, dialect) = (hold.name().clone(), dialect.clone());
    let mine = hold.mark().map(<[u8]>::to_vec);
    Exchange::new(on(hold.name(), "GET"), move |answer| {
        let now = answer.at();
        let Some(read) = answer.into_reply().optional()? else {
            return Ok(Step::Done(Kept::Gone));
        };
        let read = read.bytes()?;
        if mine.as_ref() != Some(&read) {
            return Ok(Step::Done(Kept::Contested));
        }
        if dialect.has_passed(&read, now) {
            return Ok(Step::Done(Kept::Gone));
        }
        let stamp = dialect.stamp(now, lease);
        let getset = on(&name, "GETSET").arg(stamp.clone());
        Ok(Step::Ask(Exchange::one(getset, move |reply| {
            let old = reply.optional()?.map(crate::exchange::Reply::bytes);
            Ok(if old.transpose()?.as_ref() == Some(&read) {
                Kept::Kept {
                    mark: Some(stamp.into_bytes()),
                }
            } else {
                Kept::Contested
            })
        })))
    })
}

/// GET; where the stamp has not passed, DEL, whoever wrote it: that is the algorithm.
///
/// Only an undo deletes nothing, since it does not know whether it ever held; and a release
/// that is sent again deletes nothing but its own stamp, since clients of the algorithm never
/// sent one twice.
pub(super) fn leave(dialect: &Dialect, hold: &Hold) -> Exchange<Left> {
    let (name, dialect) = (hold.name().clone(), dialect.clone());
    let mine = hold.mark().map(<[u8]>::to_vec);
    let only_mine = hold.is_forced() || hold.is_repeated();
    Exchange::new(on(hold.name(), "GET"), move |answer| {
        let now = answer.at();
        let Some(read) = answer.into_reply().optional()? else {
            return Ok(Step::Done(Left::Gone));
        };
        let read = read.bytes()?;
        let Some(mine) = mine else {
            return Ok(Step::Done(Left::Taken));
        };
        let was_mine = read == mine;
        if only_mine && !was_mine {
            return Ok(Step::Done(Left::Taken));
        }
        if dialect.has_passed(&read, now) {
            return Ok(Step::Done(if was_mine { Left::Gone } else { Left::Taken }));
        }
        Ok(Step::Ask(Exchange::one(on(&name, "DEL"), move |reply| {
            let deleted = reply.int()? == 1;
            Ok(match (deleted, was_mine) {
                (true, true) => Left::Freed,
                (true, false) => Left::Contested,
                (false, _) => Left::Gone,
            })
        })))
    })
}

/// GET, and how long the stamp still lies ahead.
pub(super) fn inspect(dialect: &Dialect, name: &Name) -> Exchange<Option<Holder>> {
    let dialect = dialect.clone();
    Exchange::new(on(name, "GET"), move |answer| {
        let now = answer.at();
        let Some(stamp) = answer.into_reply().optional()? else {
            return Ok(Step::Done(None));
        };
        let stamp = stamp.bytes()?;
        Ok(Step::Done(
            (!dialect.has_passed(&stamp, now)).then(|| dialect.holder(stamp, now)),
        ))
    })
}

fn granted(stamp: String) -> Attempt {
    Attempt::Granted(Grant::default().with_mark(stamp))
}

fn on(name: &Name, command: &'static str) -> Call {
    Call::command(command).key(name.as_bytes())
}
