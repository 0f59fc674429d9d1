//! `SET NX PX`, released by script: one key, a value that nobody else has, a TTL.

mod commands;

use std::fmt;

use super::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy};
use super::{reading, scripts};
use crate::config::LeaseTime;
use crate::exchange::{Call, Exchange, Step};
use crate::fence::Fence;
use crate::name::{Name, Ticket};
use commands::Commands;

/// How every value of ours begins.
const PREFIX: &str = "lh:";

/// The longest label; longer ones are cut.
const LONGEST_LABEL: usize = 128;

/// The lock of one key: `SET name value NX PX lease`, released and extended only by who
/// wrote the value.
///
/// It excludes, and is excluded by, every other client that takes its locks by `SET NX PX`
/// under the same key. The value is `lh:<uuid>:<label>`: the UUID belongs to one
/// acquisition, so that a resent question is recognised; the label says to others
/// who holds.
///
/// # Examples
///
/// ```
/// use leasehold::Client;
/// use leasehold::strategy::Token;
///
/// let client = Client::builder("redis://127.0.0.1/")
///     .strategy(Token::default().label("billing on web-3"))
///     .build()?;
/// # drop(client);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone)]
pub struct Token {
    label: String,
    commands: Option<Commands>,
}

impl Token {
    /// The same lock without scripts, for servers where `EVAL` is forbidden.
    ///
    /// It needs the server's own compare-and-delete: Valkey 9 (`DELIFEQ`) or Redis 8.4
    /// (`DELEX .. IFEQ`), found out by the first acquisition, before anything is written.
    /// Without scripts there are no fences and no tombstones: a question that a network
    /// holds back and delivers after the lock was given up leaves a lock that nobody holds
    /// until its lease ends.
    ///
    /// # Examples
    ///
    /// ```
    /// let strategy = leasehold::strategy::Token::commands();
    /// # drop(strategy);
    /// ```
    pub fn commands() -> Self {
        Self {
            commands: Some(Commands::default()),
            ..Self::default()
        }
    }

    /// Says to others who holds, by [`Lock::holder`](crate::Lock::holder) and in the error
    /// of who waited in vain.
    ///
    /// Defaults to `<host>:<process id>`. Everything beyond 128 bytes is cut off.
    ///
    /// # Examples
    ///
    /// ```
    /// let strategy = leasehold::strategy::Token::default().label("nightly import");
    /// # drop(strategy);
    /// ```
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        let end = (0..=LONGEST_LABEL)
            .rev()
            .find(|&end| self.label.is_char_boundary(end));
        self.label.truncate(end.unwrap_or(0));
        self
    }

    fn value(&self, ticket: &Ticket) -> Vec<u8> {
        format!("{PREFIX}{ticket}:{}", self.label).into_bytes()
    }

    /// What stands under the name for this hold.
    fn value_of(&self, hold: &Hold) -> Vec<u8> {
        hold.mark()
            .map_or_else(|| self.value(hold.ticket()), <[u8]>::to_vec)
    }
}

impl Default for Token {
    fn default() -> Self {
        Self {
            label: format!("{}:{}", host(), std::process::id()),
            commands: None,
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("label", &self.label)
            .field("scripts", &self.commands.is_none())
            .finish()
    }
}

impl LockStrategy for Token {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        let value = self.value(claim.ticket());
        if let Some(commands) = &self.commands {
            return commands.acquire(claim, value);
        }
        let call = Call::script(&scripts::TOKEN_ACQUIRE)
            .key(claim.name().as_bytes())
            .key(tombstone(claim.name(), claim.ticket()))
            .key(claim.name().side("fence"))
            .arg(value.clone())
            .number(claim.lease().as_millis())
            .number(claim.fences());
        Exchange::one(call, |reply| {
            Ok(match Attempt::read(reply, holder)? {
                Attempt::Granted(grant) => Attempt::Granted(grant.with_mark(value)),
                other => other,
            })
        })
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        let value = self.value_of(hold);
        if self.commands.is_some() {
            return Commands::extend(hold, &value, lease);
        }
        let call = Call::script(&scripts::TOKEN_EXTEND)
            .key(hold.name().as_bytes())
            .key(hold.name().side("fence"))
            .arg(value)
            .number(lease.as_millis())
            .number(hold.fence().map_or(0, Fence::number));
        Exchange::one(call, Kept::read)
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        let value = self.value_of(hold);
        if let Some(commands) = &self.commands {
            return commands.leave(hold, value);
        }
        let call = Call::script(&scripts::TOKEN_LEAVE)
            .key(hold.name().as_bytes())
            .key(tombstone(hold.name(), hold.ticket()))
            .arg(value)
            .number(hold.undo().map_or(0, LeaseTime::as_millis));
        Exchange::one(call, Left::read)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        let ttl = Call::command("PTTL").key(name.as_bytes());
        Exchange::new(Call::command("GET").key(name.as_bytes()), |answer| {
            let Some(value) = answer.into_reply().optional()? else {
                return Ok(Step::Done(None));
            };
            let holder = holder(value.bytes()?);
            Ok(Step::Ask(Exchange::one(ttl, |reply| {
                Ok(Some(holder.lasting(reading::lasting(reply.int()?))))
            })))
        })
    }

    fn fences(&self) -> bool {
        self.commands.is_none()
    }

    fn admit_many(&self) -> Result<(), String> {
        let why = "without scripts there are no tombstones: a question that comes in after its \
                   undo leaves a key at a server; and what one server has in place of them is \
                   asked of all";
        match &self.commands {
            Some(_) => Err(why.to_owned()),
            None => Ok(()),
        }
    }
}

/// The key that refuses late questions of a ticket.
pub(super) fn tombstone(name: &Name, ticket: &Ticket) -> Vec<u8> {
    name.side(format_args!("gone:{ticket}"))
}

/// Who wrote `value`, as far as it says so.
fn holder(value: Vec<u8>) -> Holder {
    let label = std::str::from_utf8(&value)
        .ok()
        .and_then(|text| text.strip_prefix(PREFIX)?.split_once(':'))
        .map(|(_, label)| label.escape_debug().to_string());
    let holder = Holder::of(value);
    match label {
        Some(label) => holder.labelled(label),
        None => holder,
    }
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "host".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_values_say_who_holds_and_foreign_ones_nothing() {
        let ticket = Ticket::fresh();
        let ours = Token::default().label("web:3").value(&ticket);
        assert_eq!(holder(ours).label(), Some("web:3"));
        for foreign in [&b"x"[..], b"lh:", b"lh:7", b"\xff\xfe", b""] {
            assert_eq!(holder(foreign.to_vec()).label(), None, "{foreign:?}");
        }
    }

    #[test]
    fn a_label_is_cut_between_characters() {
        let label = Token::default().label("ü".repeat(100)).label;
        assert_eq!(label.len(), 128);
        assert_eq!(Token::default().label("short").label, "short");
        assert_eq!(Token::default().label("aü".repeat(100)).label.len(), 127);
    }

    #[test]
    fn a_value_does_not_reach_the_debug_output() {
        let ticket = Ticket::fresh();
        let ours = holder(Token::default().value(&ticket));
        assert!(!format!("{ours:?} {ours}").contains(&ticket.to_string()));
    }
}
