//! What comes back: a reply in the few shapes that Redis has, never trusted.

use std::time::Duration;

use crate::clock::{self, WallTime};

/// How deeply arrays of a reply may be nested; no script of a lock needs more.
const DEPTH: usize = 4;

/// The longest part of a reply that an error repeats.
const SHOWN: usize = 64;

/// A reply, and the clocks when it came.
///
/// These times and those of the claim are the only ones that a strategy ever sees.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::{Answer, Reply, WallTime};
///
/// let answer = Answer::new(Reply::Int(1), WallTime::from_epoch(Duration::from_secs(9)));
/// assert_eq!(answer.at().as_millis(), 9_000);
/// assert_eq!(answer.into_reply().int().unwrap(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Answer {
    reply: Reply,
    at: WallTime,
    elapsed: Duration,
}

impl Answer {
    /// Makes the answer `reply` that came at `at`: what a simulator gives to a strategy.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use leasehold::{Answer, Reply, WallTime};
    ///
    /// let answer = Answer::new(Reply::Nil, WallTime::from_epoch(Duration::ZERO));
    /// assert_eq!(answer.into_reply(), Reply::Nil);
    /// ```
    pub fn new(reply: Reply, at: WallTime) -> Self {
        Self {
            reply,
            at,
            elapsed: clock::elapsed(),
        }
    }

    /// The same with another reading of the clock that never jumps: what a simulator says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use leasehold::{Answer, Reply, WallTime};
    ///
    /// let (at, elapsed) = (WallTime::from_epoch(Duration::ZERO), Duration::from_secs(3));
    /// assert_eq!(Answer::new(Reply::Nil, at).after(elapsed).elapsed(), elapsed);
    /// ```
    pub fn after(mut self, elapsed: Duration) -> Self {
        self.elapsed = elapsed;
        self
    }

    /// A reading, when the reply came, of a clock that never jumps and that counts from
    /// whenever it likes: to be compared with [`Claim::elapsed`](crate::strategy::Claim::elapsed).
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{Answer, Reply, WallTime};
    /// # let at = WallTime::from_epoch(Duration::from_secs(9));
    /// let (one, other) = (Answer::new(Reply::Nil, at), Answer::new(Reply::Nil, at));
    /// assert!(one.elapsed() <= other.elapsed());
    /// ```
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The wall clock when the reply came.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{Answer, Reply, WallTime};
    /// let at = WallTime::from_epoch(Duration::from_secs(1));
    /// assert_eq!(Answer::new(Reply::Nil, at).at(), at);
    /// ```
    pub fn at(&self) -> WallTime {
        self.at
    }

    pub(super) fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The reply.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::{Answer, Reply, WallTime};
    /// # let at = WallTime::from_epoch(Duration::ZERO);
    /// assert_eq!(Answer::new(Reply::Int(3), at).into_reply().int().unwrap(), 3);
    /// ```
    pub fn into_reply(self) -> Reply {
        self.reply
    }
}

/// What a server replied.
///
/// The methods that read a shape give a [`Fault`] for every other one, the server's own
/// errors included, so that `?` hands them on.
///
/// # Examples
///
/// ```
/// use leasehold::Reply;
///
/// assert_eq!(Reply::Int(3).int().unwrap(), 3);
/// assert!(Reply::Nil.int().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing: the key is absent, or the condition of the command was not met.
    Nil,
    /// A whole number.
    Int(i64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A status such as `OK`.
    Status(String),
    /// Replies in a row.
    Array(Vec<Reply>),
    /// The server refused, or failed.
    Error(ServerError),
}

impl Reply {
    /// Reads a whole number; one written as text counts too, as a number is written.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the reply is of another shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Reply;
    ///
    /// assert_eq!(Reply::Bytes(b"-2".to_vec()).int().unwrap(), -2);
    /// assert!(Reply::Bytes(b"2.5".to_vec()).int().is_err());
    /// ```
    pub fn int(self) -> Result<i64, Fault> {
        match self {
            Self::Int(number) => Ok(number),
            Self::Bytes(ref bytes) => std::str::from_utf8(bytes)
                .ok()
                .and_then(|text| text.parse().ok().filter(|n: &i64| n.to_string() == text))
                .ok_or_else(|| self.misfit("a whole number")),
            other => Err(other.misfit("a whole number")),
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the reply is of another shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Reply;
    ///
    /// assert_eq!(Reply::Status("OK".into()).bytes().unwrap(), b"OK");
    /// ```
    pub fn bytes(self) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Status(text) => Ok(text.into_bytes()),
            other => Err(other.misfit("bytes")),
        }
    }

    /// Reads text.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the reply is of another shape, or not UTF-8.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Reply;
    ///
    /// assert_eq!(Reply::Bytes(b"hash".to_vec()).text().unwrap(), "hash");
    /// ```
    pub fn text(self) -> Result<String, Fault> {
        String::from_utf8(self.bytes()?)
            .map_err(|error| Self::Bytes(error.into_bytes()).misfit("text"))
    }

    /// Reads replies in a row.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the reply is of another shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Reply;
    ///
    /// let row = Reply::Array(vec![Reply::Int(1), Reply::Nil]);
    /// assert_eq!(row.array().unwrap().len(), 2);
    /// ```
    pub fn array(self) -> Result<Vec<Self>, Fault> {
        match self {
            Self::Array(items) => Ok(items),
            other => Err(other.misfit("an array")),
        }
    }

    /// Gives `None` for nothing, and the reply for anything else.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the server answered with an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Reply;
    ///
    /// assert_eq!(Reply::Nil.optional().unwrap(), None);
    /// assert_eq!(Reply::Int(1).optional().unwrap(), Some(Reply::Int(1)));
    /// ```
    pub fn optional(self) -> Result<Option<Self>, Fault> {
        match self {
            Self::Nil => Ok(None),
            Self::Error(error) => Err(Fault::Refused(error)),
            other => Ok(Some(other)),
        }
    }

    /// The fault of a reply that is not what was expected.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Fault, Reply};
    ///
    /// let fault = Reply::Int(7).misfit("0 or 1");
    /// assert_eq!(fault.to_string(), "expected 0 or 1, got the number 7");
    /// ```
    pub fn misfit(self, expected: &'static str) -> Fault {
        let got = match self {
            Self::Error(error) => return Fault::Refused(error),
            Self::Nil => "nothing".to_owned(),
            Self::Int(number) => format!("the number {number}"),
            Self::Array(items) => format!("an array of {}", items.len()),
            Self::Status(text) => shown(text.as_bytes()),
            Self::Bytes(bytes) => shown(&bytes),
        };
        Fault::Malformed { expected, got }
    }

    /// Takes over what the client library parsed; refuses what no lock ever needs.
    pub(crate) fn from_redis(value: redis::Value) -> Result<Self, Fault> {
        Self::from_redis_within(value, DEPTH)
    }

    fn from_redis_within(value: redis::Value, depth: usize) -> Result<Self, Fault> {
        use redis::Value;
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Int(number) => Self::Int(number),
            Value::BulkString(bytes) => Self::Bytes(bytes),
            Value::SimpleString(text) => Self::Status(text),
            Value::Okay => Self::Status("OK".to_owned()),
            Value::ServerError(error) => Self::Error(ServerError::new(
                error.code(),
                error.details().unwrap_or_default(),
            )),
            Value::Array(items) if depth > 0 => Self::Array(
                items
                    .into_iter()
                    .map(|item| Self::from_redis_within(item, depth - 1))
                    .collect::<Result<_, _>>()?,
            ),
            _ => {
                return Err(Fault::Malformed {
                    expected: "a reply of the second protocol",
                    got: "another type, or arrays nested too deeply".to_owned(),
                });
            }
        })
    }
}

fn shown(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(SHOWN)];
    let more = if bytes.len() > SHOWN { ".." } else { "" };
    format!("\"{}{more}\"", head.escape_ascii())
}

/// Errors that say in what state the server is. It does not change while a script runs, and
/// so the first write of a script meets them, or none does.
const AT_FIRST_WRITE: [&str; 5] = ["OOM", "NOREPLICAS", "MISCONF", "READONLY", "MASTERDOWN"];

/// An error with which a server answered.
///
/// # Examples
///
/// ```
/// use leasehold::ServerError;
///
/// let error = ServerError::new("OOM", "command not allowed when used memory > 'maxmemory'.");
/// assert_eq!(error.code(), "OOM");
/// assert!(!error.may_have_run());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code} {message}")]
pub struct ServerError {
    code: String,
    message: String,
}

impl ServerError {
    /// Makes the error with that code, its first word, and the rest of its text.
    ///
    /// # Examples
    ///
    /// ```
    /// let error = leasehold::ServerError::new("NOSCRIPT", "No matching script.");
    /// assert_eq!(error.to_string(), "NOSCRIPT No matching script.");
    /// ```
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((said, _)) = message.split_once(REPEATS) {
            message.truncate(said.len());
        }
        let code = code_in_script(&message).map_or_else(|| code.into(), str::to_owned);
        Self { code, message }
    }

    /// The first word, such as `OOM`, `READONLY` or `ERR`.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::ServerError::new("ERR", "syntax error").code(), "ERR");
    /// ```
    pub fn code(&self) -> &str {
        &self.code
    }

    /// What follows the first word.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(leasehold::ServerError::new("ERR", "syntax error").message(), "syntax error");
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether something may have been done before the error.
    ///
    /// A command that is answered with an error was not carried out. A script may have come
    /// halfway, but for an error that the server's state makes of its first write.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::ServerError;
    ///
    /// let halfway = ServerError::new("ERR", "unknown command. script: 1f0c, on @user_script:9.");
    /// assert!(halfway.may_have_run());
    /// let refused = ServerError::new("OOM", "not allowed. script: 1f0c, on @user_script:9.");
    /// assert!(!refused.may_have_run());
    /// ```
    pub fn may_have_run(&self) -> bool {
        let in_script =
            self.message.contains("script:") || self.message.contains("Error running script");
        in_script && !AT_FIRST_WRITE.contains(&self.code())
    }

    /// The line of the script on which the error came up, counted from 1.
    pub(crate) fn script_line(&self) -> Option<usize> {
        let (_, rest) = self.message.rsplit_once("@user_script:")?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..digits].parse().ok()
    }
}

/// Behind this a server repeats what it was sent, which may prove a hold.
const REPEATS: &str = ", with args beginning with";

/// The code that servers before Redis 7 leave at the end of a script's error: `ERR Error running
/// script (call to f_..): @user_script:9: @user_script: 9: -OOM command not allowed ..`.
fn code_in_script(message: &str) -> Option<&str> {
    if !message.starts_with("Error running script") {
        return None;
    }
    message.rsplit(": ").find_map(|tail| {
        let code = tail.trim_start_matches('-').split(' ').next()?;
        let is_code = code.len() > 2 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        (is_code && code != "ERR").then_some(code)
    })
}

/// Why an exchange gave no result.
///
/// # Examples
///
/// ```
/// use leasehold::{Fault, Reply, ServerError};
///
/// let refused = Reply::Error(ServerError::new("OOM", "command not allowed"));
/// assert!(matches!(refused.int(), Err(Fault::Refused(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The server answered with an error.
    #[error("{0}")]
    Refused(ServerError),
    /// The server answered what the strategy cannot read.
    #[error("expected {expected}, got {got}")]
    Malformed {
        /// What the strategy can read.
        expected: &'static str,
        /// What came, shortened.
        got: String,
    },
    /// The server lacks what the strategy needs; nothing was changed.
    #[error("the server does not support {0}")]
    Unsupported(&'static str),
    /// The strategy itself declines, and says why and what to do. Nothing was done.
    #[error("{0}")]
    Declined(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_error_names_its_line() {
        let error = ServerError::new(
            "ERR",
            "The user executing the script can't run this command or subcommand \
             script: 1f0c9d, on @user_script:12.",
        );
        assert_eq!(error.script_line(), Some(12));
        assert_eq!(ServerError::new("ERR", "syntax error").script_line(), None);
        assert_eq!(ServerError::new("ERR", "@user_script:").script_line(), None);
    }

    #[test]
    fn what_a_server_repeats_of_a_question_is_cut_off() {
        let error = ServerError::new(
            "ERR",
            "unknown command 'X', with args beginning with: 'lh:'",
        );
        assert_eq!(error.message(), "unknown command 'X'");
    }

    #[test]
    fn the_code_of_a_script_is_found_where_older_servers_leave_it() {
        let of = |tail: &str| {
            let running =
                "Error running script (call to f_1f0c): @user_script:1: @user_script: 1: ";
            ServerError::new("ERR", format!("{running}{tail}"))
                .code()
                .to_owned()
        };
        assert_eq!(
            of("-READONLY You can't write against a read only replica."),
            "READONLY"
        );
        assert_eq!(of("WRONGTYPE Operation against a key"), "WRONGTYPE");
        assert_eq!(of("-NOREPLICAS Not enough: good replicas"), "NOREPLICAS");
        assert_eq!(of("Unknown Redis command called from script"), "ERR");
        assert_eq!(ServerError::new("ERR", "a: OOM b").code(), "ERR");
    }

    #[test]
    fn arrays_nested_too_deeply_are_refused() {
        let mut value = redis::Value::Int(1);
        for _ in 0..DEPTH {
            value = redis::Value::Array(vec![value]);
        }
        assert!(Reply::from_redis(value.clone()).is_ok());
        assert!(Reply::from_redis(redis::Value::Array(vec![value])).is_err());
    }

    #[test]
    fn a_long_reply_is_shown_shortened() {
        let fault = Reply::Bytes(vec![b'x'; 1_000]).misfit("1");
        assert!(fault.to_string().len() < 100);
    }
}
