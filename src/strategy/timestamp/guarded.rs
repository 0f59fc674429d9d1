//! The same stamps, one script each, by the server's clock.

use std::time::Duration;

use super::Dialect;
use crate::config::LeaseTime;
use crate::exchange::{Call, Exchange, Fault, Reply, Step};
use crate::fence::Fence;
use crate::name::{Name, Owner};
use crate::strategy::token::tombstone;
use crate::strategy::{Attempt, Claim, Hold, Holder, Kept, Left};
use crate::strategy::{reading, scripts};

pub(super) fn acquire(dialect: &Dialect, claim: &Claim, margin: u64) -> Exchange<Attempt> {
    let call = Call::script(&scripts::STAMP_ACQUIRE)
        .key(claim.name().as_bytes())
        .key(side(claim.name()))
        .key(tombstone(claim.name(), claim.ticket()))
        .key(claim.name().side("fence"))
        .arg(claim.ticket().to_string())
        .arg(claim.owner().to_string())
        .number(claim.lease().as_millis())
        .number(margin)
        .number(dialect.unit_ms())
        .number(dialect.slack())
        .number(claim.fences());
    let dialect = dialect.clone();
    Exchange::one(call, move |reply| {
        Ok(match reading::attempt(reply, Holder::of)? {
            Attempt::Held(holder) => {
                Attempt::Held(dialect.holder_lasting(holder.mark().to_vec(), holder.remaining()))
            }
            other => other,
        })
    })
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
        .number(dialect.unit_ms())
        .number(dialect.slack())
        .number(hold.fence().map_or(0, Fence::number));
    Exchange::one(call, reading::kept)
}

pub(super) fn leave(hold: &Hold) -> Exchange<Left> {
    let call = Call::script(&scripts::STAMP_LEAVE)
        .key(hold.name().as_bytes())
        .key(side(hold.name()))
        .key(tombstone(hold.name(), hold.ticket()))
        .arg(hold.ticket().to_string())
        .number(hold.undo().map_or(0, LeaseTime::as_millis))
        .arg(hold.mark().unwrap_or_default());
    Exchange::one(call, reading::left)
}

/// Who wrote the stamp: the side key says so for one of ours.
pub(super) fn inspect(dialect: &Dialect, name: &Name) -> Exchange<Option<Holder>> {
    let dialect = dialect.clone();
    let call = Call::script(&scripts::STAMP_INSPECT)
        .key(name.as_bytes())
        .key(side(name))
        .number(dialect.unit_ms());
    Exchange::new(call, move |answer| {
        let Some(found) = answer.into_reply().optional()? else {
            return Ok(Step::Done(None));
        };
        read(&dialect, found).map(|holder| Step::Done(Some(holder)))
    })
}

/// Reads `{stamp, ms, owner}`.
fn read(dialect: &Dialect, reply: Reply) -> Result<Holder, Fault> {
    let mut parts = reply.array()?.into_iter();
    let mut next = move || parts.next().unwrap_or(Reply::Nil);
    let stamp = next().bytes()?;
    let remaining = match next().int()? {
        -1 => None,
        millis => Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
    };
    let owner: Option<Owner> = next().text()?.parse().ok();
    Ok(match owner {
        Some(_) => Holder::of(stamp).owned_by(owner).lasting(remaining),
        None => dialect.holder_lasting(stamp, remaining),
    })
}

fn side(name: &Name) -> Vec<u8> {
    name.side("owner")
}
