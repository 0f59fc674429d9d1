//! The lock of one key without scripts: the server's own compare-and-delete.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::holder;
use crate::config::LeaseTime;
use crate::exchange::{Call, Exchange, Fault, Reply, Step};
use crate::name::Name;
use crate::strategy::reading::lasting;
use crate::strategy::{Attempt, Claim, Grant, Hold, Kept, Left};

/// How a server compares and deletes, found out once and remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands {
    known: Arc<AtomicU8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Make {
    /// `DELIFEQ key value`
    Valkey = 1,
    /// `DELEX key IFEQ value`
    Redis = 2,
}

impl Commands {
    /// Learns how to release before it takes anything.
    pub(super) fn acquire(&self, claim: &Claim, value: Vec<u8>) -> Exchange<Attempt> {
        let (name, lease) = (claim.name().clone(), claim.lease());
        if self.make().is_some() {
            return take(name, value, lease);
        }
        let probe = claim.name().side("probe");
        self.delete(Make::Valkey, probe, value.clone())
            .and_then(move |_| Step::Ask(take(name, value, lease)))
    }

    pub(super) fn extend(hold: &Hold, value: &[u8], lease: LeaseTime) -> Exchange<Kept> {
        let name = hold.name().clone();
        keep(&name, value, lease).and_then(move |kept| {
            if kept {
                return Step::Done(Kept::Kept { mark: None });
            }
            Step::Ask(is_there(&name).map(|taken| if taken { Kept::Taken } else { Kept::Gone }))
        })
    }

    pub(super) fn leave(&self, hold: &Hold, value: Vec<u8>) -> Exchange<Left> {
        let name = hold.name().clone();
        let make = self.make().unwrap_or(Make::Valkey);
        self.delete(make, name.as_bytes().to_vec(), value)
            .and_then(move |deleted| {
                if deleted {
                    return Step::Done(Left::Freed);
                }
                Step::Ask(is_there(&name).map(|taken| if taken { Left::Taken } else { Left::Gone }))
            })
    }

    fn make(&self) -> Option<Make> {
        match self.known.load(Ordering::Relaxed) {
            1 => Some(Make::Valkey),
            2 => Some(Make::Redis),
            _ => None,
        }
    }

    /// Deletes `key` if `value` stands there; asks in the way of the other make where the
    /// server does not know this one, as after a failover in a mixed fleet.
    fn delete(&self, make: Make, key: Vec<u8>, value: Vec<u8>) -> Exchange<bool> {
        let this = self.clone();
        let (retry_key, retry_value) = (key.clone(), value.clone());
        Exchange::new(make.call(key, value), move |answer| {
            let reply = answer.into_reply();
            if !is_unknown(&reply) {
                let deleted = reply.int()? == 1;
                this.known.store(make as u8, Ordering::Relaxed);
                return Ok(Step::Done(deleted));
            }
            let other = make.other();
            let call = other.call(retry_key, retry_value);
            Ok(Step::Ask(Exchange::one(call, move |reply| {
                if is_unknown(&reply) {
                    return Err(Fault::Unsupported(
                        "a lock without scripts: it has neither DELIFEQ (Valkey 9) nor DELEX \
                         (Redis 8.4)",
                    ));
                }
                let deleted = reply.int()? == 1;
                this.known.store(other as u8, Ordering::Relaxed);
                Ok(deleted)
            })))
        })
    }
}

impl Make {
    fn other(self) -> Self {
        match self {
            Self::Valkey => Self::Redis,
            Self::Redis => Self::Valkey,
        }
    }

    fn call(self, key: Vec<u8>, value: Vec<u8>) -> Call {
        match self {
            Self::Valkey => Call::command("DELIFEQ").key(key).arg(value),
            Self::Redis => Call::command("DELEX").arg(key).arg("IFEQ").arg(value),
        }
    }
}

fn is_unknown(reply: &Reply) -> bool {
    matches!(reply, Reply::Error(error) if error.message().starts_with("unknown command"))
}

/// Sets the value where nothing stands, and recognises its own from an earlier try.
fn take(name: Name, value: Vec<u8>, lease: LeaseTime) -> Exchange<Attempt> {
    let call = Call::command("SET")
        .arg(name.as_bytes())
        .arg(value.clone())
        .arg("NX")
        .arg("GET")
        .arg("PX")
        .number(lease.as_millis());
    Exchange::new(call, move |answer| {
        let granted = Attempt::Granted(Grant::default().with_mark(value.clone()));
        let Some(found) = answer.into_reply().optional()? else {
            return Ok(Step::Done(granted));
        };
        let found = found.bytes()?;
        if found == value {
            return Ok(Step::Ask(keep(&name, &value, lease).map(move |kept| {
                if kept {
                    granted
                } else {
                    Attempt::Held(holder(value).lasting(lasting(-2)))
                }
            })));
        }
        let ttl = Call::command("PTTL").key(name.as_bytes());
        Ok(Step::Ask(Exchange::one(ttl, |reply| {
            Ok(Attempt::Held(holder(found).lasting(lasting(reply.int()?))))
        })))
    })
}

/// Gives the key a whole lease again, if `value` stands there.
fn keep(name: &Name, value: &[u8], lease: LeaseTime) -> Exchange<bool> {
    let call = Call::command("SET")
        .arg(name.as_bytes())
        .arg(value)
        .arg("IFEQ")
        .arg(value)
        .arg("PX")
        .number(lease.as_millis());
    let (name, value) = (name.clone(), value.to_vec());
    Exchange::new(call, move |answer| match answer.into_reply() {
        Reply::Error(error) if error.code() == "OOM" => {
            Ok(Step::Ask(keep_when_full(name, value, lease)))
        }
        reply => Ok(Step::Done(reply.optional()?.is_some())),
    })
}

/// The same on a full server, which permits no SET: a PEXPIRE between two looks. A value of
/// ours never comes back, so that what is ours behind it was ours all the time. Where it was
/// lost after the first look, somebody else's lease has become longer.
fn keep_when_full(name: Name, value: Vec<u8>, lease: LeaseTime) -> Exchange<bool> {
    let longer = Call::command("PEXPIRE")
        .key(name.as_bytes())
        .number(lease.as_millis());
    stands(&name, value.clone()).and_then(move |mine| {
        if !mine {
            return Step::Done(false);
        }
        let longer = Exchange::one(longer, Reply::int);
        Step::Ask(longer.and_then(move |_| Step::Ask(stands(&name, value))))
    })
}

fn stands(name: &Name, value: Vec<u8>) -> Exchange<bool> {
    let call = Call::command("GET").key(name.as_bytes());
    Exchange::one(call, move |reply| {
        let found = reply.optional()?.map(Reply::bytes).transpose()?;
        Ok(found == Some(value))
    })
}

fn is_there(name: &Name) -> Exchange<bool> {
    let call = Call::command("EXISTS").key(name.as_bytes());
    Exchange::one(call, |reply| Ok(reply.int()? == 1))
}
