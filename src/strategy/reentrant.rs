//! A hash of owner and count, as Redisson keeps it.

use super::token::tombstone;
use super::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy};
use super::{reading, scripts};
use crate::config::LeaseTime;
use crate::exchange::{Call, Exchange, Step};
use crate::fence::Fence;
use crate::name::Name;

/// The lock of Redisson's `RLock`: a hash under the name, with the owner as its field and
/// the number of its holds as the value.
///
/// Live Redisson clients from 2.8 to 4.7 and this one exclude each other, see each other's
/// counts and wake each other. An owner may acquire again what it holds: see
/// [`Lock::thread`](crate::Lock::thread) and [`Lock::owned_by`](crate::Lock::owned_by).
///
/// The count is kept here and written there, never added to, so that a question which is
/// sent twice counts once.
///
/// # Examples
///
/// ```
/// use leasehold::Client;
/// use leasehold::strategy::Reentrant;
///
/// let client = Client::builder("redis://127.0.0.1/").strategy(Reentrant::default()).build()?;
/// # drop(client);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Reentrant {}

impl LockStrategy for Reentrant {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        let field = claim.owner().to_string();
        let call = Call::script(&scripts::REENTRANT_ACQUIRE)
            .key(claim.name().as_bytes())
            .key(tombstone(claim.name(), claim.ticket()))
            .key(claim.name().side("fence"))
            .arg(field.clone())
            .number(claim.count())
            .number(claim.lease().as_millis())
            .number(claim.fences());
        Exchange::one(call, |reply| {
            Ok(match Attempt::read(reply, holder)? {
                Attempt::Granted(grant) => Attempt::Granted(grant.with_mark(field)),
                other => other,
            })
        })
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        let call = Call::script(&scripts::REENTRANT_EXTEND)
            .key(hold.name().as_bytes())
            .key(hold.name().side("fence"))
            .arg(field(hold))
            .number(lease.as_millis())
            .number(hold.fence().map_or(0, Fence::number));
        Exchange::one(call, Kept::read)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        let call = Call::script(&scripts::REENTRANT_LEAVE)
            .key(hold.name().as_bytes())
            .key(tombstone(hold.name(), hold.ticket()))
            .arg(field(hold))
            .number(hold.holds_left())
            .number(hold.lease().as_millis())
            .number(hold.undo().map_or(0, LeaseTime::as_millis))
            .arg(channel(hold.name()));
        Exchange::one(call, Left::read)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        let ttl = Call::command("PTTL").key(name.as_bytes());
        Exchange::new(Call::command("HKEYS").key(name.as_bytes()), |answer| {
            let Some(field) = answer.into_reply().array()?.into_iter().next() else {
                return Ok(Step::Done(None));
            };
            let holder = holder(field.bytes()?);
            Ok(Step::Ask(Exchange::one(ttl, |reply| {
                Ok(Some(holder.lasting(reading::lasting(reply.int()?))))
            })))
        })
    }

    fn reenters(&self) -> bool {
        true
    }

    fn fences(&self) -> bool {
        true
    }
}

/// The field under which this hold stands.
fn field(hold: &Hold) -> Vec<u8> {
    hold.mark()
        .map_or_else(|| hold.owner().to_string().into_bytes(), <[u8]>::to_vec)
}

fn holder(field: Vec<u8>) -> Holder {
    let owner = std::str::from_utf8(&field)
        .ok()
        .and_then(|text| text.parse().ok());
    Holder::of(field).owned_by(owner)
}

/// The channel on which Redisson tells its waiters of a release.
///
/// Its rule for braces is not that of our side keys: a name with a `{` stays as it is.
fn channel(name: &Name) -> Vec<u8> {
    const PREFIX: &[u8] = b"redisson_lock__channel:";
    let name = name.as_bytes();
    if name.contains(&b'{') {
        [PREFIX, name].concat()
    } else {
        [PREFIX, b"{", name, b"}"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_is_that_of_redisson() {
        for (name, expected) in [
            ("orders", "redisson_lock__channel:{orders}"),
            ("{orders}:42", "redisson_lock__channel:{orders}:42"),
            ("or{ders", "redisson_lock__channel:or{ders"),
        ] {
            let name = Name::new(name).unwrap();
            assert_eq!(channel(&name), expected.as_bytes());
        }
    }

    #[test]
    fn a_foreign_field_is_still_a_holder() {
        assert_eq!(holder(b"\xff".to_vec()).owner(), None);
        let field = "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:89";
        let owner = holder(field.into()).owner().copied().unwrap();
        assert_eq!(owner.to_string(), field);
    }
}
