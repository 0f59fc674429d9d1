//! The same stamps, one script each, by the server's clock.

use std::time::Duration;

use super::Dialect;
use super::sight::Sight;
use crate::config::LeaseTime;
use crate::exchange::{Call, Exchange, Fault, Reply, Step};
use crate::fence::Fence;
use crate::name::{Name, Owner};
use crate::strategy::token::tombstone;
use crate::strategy::{Attempt, Claim, Hold, Holder, Kept, Left};
use crate::strategy::{reading, scripts};

pub(super) fn acquire(
    dialect: &Dialect,
    claim: &Claim,
    margin: u64,
    sight: Option<&Sight>,
) -> Exchange<Attempt> {
    let ripe = sight.and_then(|sight| {
        let margin = Duration::from_millis(margin);
        sight.ripe(claim.name(), claim.elapsed(), margin)
    });
    let call = Call::script(&scripts::STAMP_ACQUIRE)
        .key(claim.name().as_bytes())
        .key(side(claim.name()))
        .key(tombstone(claim.name(), claim.ticket()))
        .key(claim.name().side("fence"))
        .arg(claim.ticket().to_string())
        .arg(claim.owner().to_string())
        .number(claim.lease().as_millis())
        .number(margin)
        .number(claim.fences())
        .arg(if sight.is_some() { "sight" } else { "clock" })
        .arg(ripe.unwrap_or_default());
    let call = dialect.tell(call, &dialect.owner_part(claim.ticket(), claim.owner()));
    let (dialect, name) = (dialect.clone(), claim.name().clone());
    let (mark, sight) = (claim.ticket().to_string(), sight.map(Sight::shared));
    Exchange::new(call, move |answer| {
        let came = answer.elapsed();
        let attempt = attempt(&dialect, mark, answer.into_reply())?;
        if let Some(sight) = sight {
            sight.note(&name, foreign(&attempt), came);
        }
        Ok(Step::Done(attempt))
    })
}

fn attempt(dialect: &Dialect, mark: String, reply: Reply) -> Result<Attempt, Fault> {
    if let Reply::Array(parts) = &reply
        && parts.first() == Some(&Reply::Int(0))
    {
        return holder(dialect, parts.iter().skip(1).cloned()).map(Attempt::Held);
    }
    Ok(match Attempt::read(reply, Holder::of)? {
        Attempt::Granted(grant) => Attempt::Granted(grant.with_mark(mark)),
        other => other,
    })
}

/// The stamp of a legacy client that holds.
fn foreign(attempt: &Attempt) -> Option<&[u8]> {
    match attempt {
        Attempt::Held(holder) if holder.owner().is_none() => Some(holder.mark()),
        _ => None,
    }
}

pub(super) fn extend(
    dialect: &Dialect,
    hold: &Hold,
    lease: LeaseTime,
    margin: u64,
) -> Exchange<Kept> {
    let call = Call::script(&scripts::STAMP_EXTEND)
        .key(hold.name().as_bytes())
        .key(side(hold.name()))
        .key(hold.name().side("fence"))
        .arg(hold.ticket().to_string())
        .arg(hold.owner().to_string())
        .number(lease.as_millis())
        .number(margin)
        .number(hold.fence().map_or(0, Fence::number));
    let call = dialect.tell(call, &dialect.owner_part(hold.ticket(), hold.owner()));
    Exchange::one(call, Kept::read)
}

pub(super) fn leave(hold: &Hold) -> Exchange<Left> {
    let forced = hold.mark().filter(|_| hold.is_forced());
    let call = Call::script(&scripts::STAMP_LEAVE)
        .key(hold.name().as_bytes())
        .key(side(hold.name()))
        .key(tombstone(hold.name(), hold.ticket()))
        .arg(hold.ticket().to_string())
        .number(hold.undo().map_or(0, LeaseTime::as_millis))
        .arg(forced.unwrap_or_default());
    Exchange::one(call, Left::read)
}

/// Who wrote the stamp: the side key says so for one of ours.
pub(super) fn inspect(dialect: &Dialect, name: &Name) -> Exchange<Option<Holder>> {
    let dialect = dialect.clone();
    let call = Call::script(&scripts::STAMP_INSPECT)
        .key(name.as_bytes())
        .key(side(name));
    let call = dialect.tell(call, "");
    Exchange::new(call, move |answer| {
        let Some(found) = answer.into_reply().optional()? else {
            return Ok(Step::Done(None));
        };
        holder(&dialect, found.array()?.into_iter()).map(|holder| Step::Done(Some(holder)))
    })
}

/// Reads `ms, mark, owner`.
fn holder(dialect: &Dialect, mut parts: impl Iterator<Item = Reply>) -> Result<Holder, Fault> {
    let mut next = move || parts.next().unwrap_or(Reply::Nil);
    let remaining = reading::lasting(next().int()?);
    let mark = next().bytes()?;
    let owner: Option<Owner> = next().text()?.parse().ok();
    Ok(match owner {
        Some(_) => Holder::of(mark).owned_by(owner).lasting(remaining),
        None => dialect.holder_lasting(mark, remaining),
    })
}

fn side(name: &Name) -> Vec<u8> {
    name.side("owner")
}
