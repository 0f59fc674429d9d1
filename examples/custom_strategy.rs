//! A strategy of one's own, outside the crate: a lock that says who holds it, and why.
//!
//! What stands under the name is text that an operator reads in `redis-cli`:
//!
//! ```text
//! anna: rebuild the search index [3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55]
//! ```
//!
//! Connections, waiting, time-outs, undoing and the lease are not its business. It says what
//! to ask, and what the answers mean.
//!
//! `cargo run --example custom_strategy`

mod common;

use std::sync::LazyLock;
use std::time::Duration;

use leasehold::strategy::{Attempt, Claim, Grant, Hold, Holder, Kept, Left, LockStrategy};
use leasehold::{Call, Client, Exchange, Fault, LeaseTime, Name, Reply, Script, Step, Ticket};

// A script checks before it writes, since Redis does not roll back, and each names its keys,
// its arguments and its answers.

/// Own text there already? Then an earlier try of this acquisition was granted, and its answer
/// was lost: answer the same again. A tombstone? Then the acquisition was given up before this
/// question of it came in, and granting it would lock out everybody for a whole lease.
static ACQUIRE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "-- KEYS  1 the lock  2 the tombstone    ARGV  1 our text  2 the lease, ms
         -- {1} granted    {0, PTTL, text} held    {-1} given up before
         local found = redis.call('GET', KEYS[1])
         if found and found ~= ARGV[1] then
           return {0, redis.call('PTTL', KEYS[1]), found}
         end
         if redis.call('EXISTS', KEYS[2]) == 1 then
           return {-1}
         end
         redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
         return {1}",
    )
});

/// Only what is ours is extended.
static EXTEND: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "-- KEYS  1 the lock    ARGV  1 our text  2 the lease, ms
         -- 1 kept    0 nobody holds it    -1 somebody else does
         local found = redis.call('GET', KEYS[1])
         if found ~= ARGV[1] then
           return found and -1 or 0
         end
         return redis.call('PEXPIRE', KEYS[1], ARGV[2])",
    )
});

/// Only what is ours is deleted. Release, giving up and undoing are one question; an undo
/// leaves a tombstone for as long as a late question could do harm.
static LEAVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "-- KEYS  1 the lock  2 the tombstone    ARGV  1 our text  2 the tombstone's time, ms; 0: none
         -- 1 freed    0 nobody held it    -1 somebody else does
         local found = redis.call('GET', KEYS[1])
         local left = found and -1 or 0
         if found == ARGV[1] then
           left = redis.call('DEL', KEYS[1])
         end
         if tonumber(ARGV[2]) > 0 then
           redis.call('DEL', KEYS[2]) -- a full server lets a script write once it has freed
           redis.call('SET', KEYS[2], 1, 'PX', ARGV[2])
         end
         return left",
    )
});

/// A lock that says who holds it, and why.
#[derive(Debug)]
struct Signed {
    who: String,
    why: String,
}

impl Signed {
    /// The same for every try of one acquisition, and for no other.
    fn text(&self, ticket: &Ticket) -> Vec<u8> {
        format!("{}: {} [{ticket}]", self.who, self.why).into_bytes()
    }

    /// What stands under the name for this hold. Where a hold is forced to end, the mark is
    /// what was seen there; where an unknown grant is undone, there is none.
    fn text_of(&self, hold: &Hold) -> Vec<u8> {
        hold.mark()
            .map_or_else(|| self.text(hold.ticket()), <[u8]>::to_vec)
    }
}

impl LockStrategy for Signed {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        let text = self.text(claim.ticket());
        let call = Call::script(&ACQUIRE)
            .key(claim.name().as_bytes())
            .key(tombstone(claim.name(), claim.ticket()))
            .arg(text.clone())
            .number(claim.lease().as_millis());
        Exchange::one(call, |reply| {
            let mut parts = reply.array()?.into_iter();
            let mut next = || parts.next().unwrap_or(Reply::Nil);
            Ok(match next().int()? {
                1 => Attempt::Granted(Grant::default().with_mark(text)),
                0 => {
                    let left = remaining(next())?;
                    Attempt::Held(holder(next().bytes()?).lasting(left))
                }
                -1 => Attempt::Withdrawn,
                other => return Err(Reply::Int(other).misfit("1, 0 or -1")),
            })
        })
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        let call = Call::script(&EXTEND)
            .key(hold.name().as_bytes())
            .arg(self.text_of(hold))
            .number(lease.as_millis());
        Exchange::one(call, |reply| match reply.int()? {
            1 => Ok(Kept::Kept { mark: None }),
            0 => Ok(Kept::Gone),
            -1 => Ok(Kept::Taken),
            other => Err(Reply::Int(other).misfit("1, 0 or -1")),
        })
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        let call = Call::script(&LEAVE)
            .key(hold.name().as_bytes())
            .key(tombstone(hold.name(), hold.ticket()))
            .arg(self.text_of(hold))
            .number(hold.undo().map_or(0, LeaseTime::as_millis));
        Exchange::one(call, |reply| match reply.int()? {
            1 => Ok(Left::Freed),
            0 => Ok(Left::Gone),
            -1 => Ok(Left::Taken),
            other => Err(Reply::Int(other).misfit("1, 0 or -1")),
        })
    }

    /// Two questions, the second of which depends on the first.
    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        let ttl = Call::command("PTTL").key(name.as_bytes());
        Exchange::new(Call::command("GET").key(name.as_bytes()), |answer| {
            let Some(text) = answer.into_reply().optional()? else {
                return Ok(Step::Done(None));
            };
            let holder = holder(text.bytes()?);
            Ok(Step::Ask(Exchange::one(ttl, |reply| {
                Ok(Some(holder.lasting(remaining(reply)?)))
            })))
        })
    }
}

/// A key in the slot of the name, so that the strategy works in a cluster as well.
fn tombstone(name: &Name, ticket: &Ticket) -> Vec<u8> {
    name.side(format_args!("gone:{ticket}"))
}

/// Who wrote the text: what stands before the ticket, which is nobody's business.
fn holder(text: Vec<u8>) -> Holder {
    let shown = String::from_utf8_lossy(&text).into_owned();
    let label = shown
        .rsplit_once(" [")
        .map_or("somebody else", |(label, _)| label);
    Holder::of(text).labelled(label)
}

/// A PTTL: -1 is a key without an end, -2 one that is gone by now.
fn remaining(reply: Reply) -> Result<Option<Duration>, Fault> {
    Ok(match reply.int()? {
        -1 => None,
        millis => Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
    })
}

fn main() -> Result<(), leasehold::Error> {
    let place = common::Place::find();
    let signed = |who: &str, why: &str| {
        Client::builder(place.url())
            .strategy(Signed {
                who: who.to_owned(),
                why: why.to_owned(),
            })
            .wait(Duration::from_millis(100))
            .build()
    };
    let anna = signed("anna", "rebuild the search index")?;
    let ben = signed("ben", "nightly export")?;
    let name = "search:index";

    let lease = anna.lock(name)?.acquire()?;
    let holder = ben.lock(name)?.holder()?.expect("anna holds it");
    println!("ben asks who has it: {holder}");

    println!(
        "\nben waits in vain:\n  {}",
        ben.lock(name)?.acquire().unwrap_err()
    );
    lease.extend(Duration::from_secs(60))?;
    println!("anna extends: {:.1?} left", lease.remaining());

    assert!(ben.lock(name)?.force_release(&holder)?);
    println!("\nben forces it:\n  {}", lease.release().unwrap_err());
    let lease = ben.lock(name)?.acquire()?;
    println!(
        "  ben has it, for: {}",
        ben.lock(name)?.holder()?.expect("it is held")
    );
    println!(
        "  forcing what anna held frees it: {}",
        anna.lock(name)?.force_release(&holder)?
    );
    lease.release()?;
    println!("\nstill locked: {}", anna.lock(name)?.is_locked()?);
    Ok(())
}
