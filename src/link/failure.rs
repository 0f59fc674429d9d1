//! Why a question to the server had no result, and what follows from that.

use std::sync::Arc;
use std::time::Duration;

use super::Shortfall;
use crate::error::ErrorKind;
use crate::exchange::{Fault, ServerError};
use crate::loss::shown;

/// Why a question to the server had no result, as the layer of connections tells it.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot reach {address}: {source}")]
    Unreachable {
        address: String,
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    #[error(
        "none of the {size} pooled connections came free in time; raise `pool_size` on the client's \
         builder"
    )]
    PoolExhausted { size: u32 },
    #[error("the server denied `{command}`: {error}")]
    Denied {
        command: &'static str,
        error: ServerError,
    },
    #[error("the server answered: {0}")]
    Refused(ServerError),
    #[error("{address} gave no answer, and so it may have been done or not: {source}")]
    Unanswered {
        address: String,
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    #[error(
        "the grant came after the end of its own lease; raise the lease or look at the network"
    )]
    TooLate,
    #[error("another thread is at work on the same lease")]
    Busy,
    #[error("an earlier question was not answered, and so it may have been done or not; then: {0}")]
    Unheard(Box<Self>),
    #[error("its release was not answered before its lease ended")]
    EndedUnheard,
    #[error("the keeper's thread cannot be had: {0}")]
    NoThread(Arc<std::io::Error>),
    #[error("the client was shut down")]
    ShutDown,
    #[error("a {0} stands under the name, which is no lock of this strategy")]
    ForeignLock(String),
    #[error("the server's answer cannot be understood: {0}")]
    Malformed(Fault),
    #[error("the server does not support {0}")]
    Unsupported(&'static str),
    #[error("{address} is left out until it answers again: {why}")]
    LeftOut { address: String, why: String },
    #[error(
        "{address} does not count: it was started {} ago, and may have forgotten a lock for \
         another {}", shown(*.up), shown(*.left)
    )]
    Young {
        address: String,
        up: Duration,
        left: Duration,
    },
    #[error("{0}")]
    NoQuorum(Arc<Shortfall>),
}

/// Error replies that pass by themselves: worth another try while there is time.
const PASSING: [&str; 11] = [
    "OOM",
    "NOREPLICAS",
    "MISCONF",
    "READONLY",
    "MASTERDOWN",
    "LOADING",
    "BUSY",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "UNBLOCKED",
    "NOSCRIPT",
];

/// Error replies of a server that is not, or no longer, the one to ask.
const WRONG_SERVER: [&str; 3] = ["READONLY", "MASTERDOWN", "UNBLOCKED"];

/// Error replies to who may not, or did not say who it is.
const DENIALS: [&str; 4] = ["NOPERM", "NOAUTH", "WRONGPASS", "AUTH"];

impl Failure {
    /// Sorts what came of the call `command`, or of the line of a script that names it.
    pub(crate) fn from_fault(fault: Fault, command: &'static str) -> Self {
        match fault {
            Fault::Refused(error) if is_denial(&error) => Self::Denied { command, error },
            Fault::Refused(error) => Self::Refused(error),
            Fault::Unsupported(what) => Self::Unsupported(what),
            fault => Self::Malformed(fault),
        }
    }

    /// Whether the server may have done something of what it was asked.
    pub(crate) fn may_have_run(&self) -> bool {
        match self {
            Self::Unanswered { .. }
            | Self::Unheard(_)
            | Self::EndedUnheard
            | Self::Malformed(_) => true,
            Self::Refused(error) | Self::Denied { error, .. } => error.may_have_run(),
            Self::Unreachable { .. }
            | Self::PoolExhausted { .. }
            | Self::TooLate
            | Self::Busy
            | Self::NoThread(_)
            | Self::ShutDown
            | Self::ForeignLock(_)
            | Self::LeftOut { .. }
            | Self::Young { .. }
            | Self::Unsupported(_) => false,
            Self::NoQuorum(shortfall) => shortfall.may_have_run,
        }
    }

    /// Whether the same question may have another answer a little later.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::PoolExhausted { .. }
            | Self::Unanswered { .. }
            | Self::Unheard(_)
            | Self::LeftOut { .. }
            | Self::Young { .. }
            | Self::TooLate
            | Self::Busy => true,
            Self::NoQuorum(shortfall) => shortfall.is_passing,
            Self::Refused(error) => PASSING.contains(&error.code()) || is_overcrowded(error),
            _ => false,
        }
    }

    /// Whether the connection that brought it is better not used again: it leads to a
    /// replica, is about to be closed, or its answers are out of step.
    pub(crate) fn is_suspicious(&self) -> bool {
        match self {
            Self::Malformed(_) => true,
            Self::Refused(error) => WRONG_SERVER.contains(&error.code()) || is_overcrowded(error),
            _ => false,
        }
    }

    /// Whether a key of another type stands under the name.
    pub(crate) fn is_wrong_type(&self) -> bool {
        matches!(self, Self::Refused(error) if error.code() == "WRONGTYPE")
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreachable { .. } | Self::LeftOut { .. } | Self::Young { .. } => {
                ErrorKind::Unreachable
            }
            Self::NoQuorum(shortfall) => shortfall.kind,
            Self::PoolExhausted { .. } => ErrorKind::PoolExhausted,
            Self::Denied { .. } => ErrorKind::Denied,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Unanswered { .. } | Self::Unheard(_) | Self::EndedUnheard => ErrorKind::Unknown,
            Self::TooLate => ErrorKind::TooLate,
            Self::Busy => ErrorKind::Busy,
            Self::NoThread(_) => ErrorKind::NoThread,
            Self::ShutDown => ErrorKind::ShutDown,
            Self::ForeignLock(_) => ErrorKind::ForeignLock,
            Self::Malformed(_) => ErrorKind::Malformed,
            Self::Unsupported(_) => ErrorKind::Unsupported,
        }
    }
}

fn is_overcrowded(error: &ServerError) -> bool {
    error.message().starts_with("max number of clients")
}

fn is_denial(error: &ServerError) -> bool {
    DENIALS.contains(&error.code())
        || error.message().starts_with("ACL failure in script")
        || error.message().contains("can't run this command")
        || error
            .message()
            .contains("can't access at least one of the keys")
        || error.message().contains("without any password configured")
        || error.message().contains("unauthenticated")
        || error.message().contains("invalid password")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str, message: &str) -> Failure {
        Failure::from_fault(Fault::Refused(ServerError::new(code, message)), "GET")
    }

    #[test]
    fn a_denial_is_told_by_its_code_or_by_its_text() {
        for (code, message) in [
            (
                "NOPERM",
                "this user has no permissions to run the 'get' command",
            ),
            ("NOAUTH", "Authentication required."),
            (
                "ERR",
                "The user executing the script can't run this command or subcommand script: 1, \
                 on @user_script:1.",
            ),
            (
                "ERR",
                "ACL failure in script: User u has no permissions to run the 'get' command \
                 script: on @user_script:30.",
            ),
        ] {
            assert_eq!(refused(code, message).kind(), ErrorKind::Denied, "{code}");
        }
        assert_eq!(refused("ERR", "syntax error").kind(), ErrorKind::Refused);
    }

    #[test]
    fn what_passes_is_tried_again_and_nothing_else() {
        for code in PASSING {
            assert!(refused(code, "").is_passing(), "{code}");
        }
        assert!(refused("ERR", "max number of clients reached").is_passing());
        assert!(!refused("ERR", "syntax error").is_passing());
        assert!(!refused("WRONGTYPE", "Operation against a key").is_passing());
        assert!(!refused("NOPERM", "").is_passing());
    }

    #[test]
    fn an_error_reply_to_a_command_means_that_nothing_was_done() {
        assert!(!refused("OOM", "command not allowed").may_have_run());
        let halfway = "unknown command script: 1f, on @user_script:1.";
        assert!(refused("ERR", halfway).may_have_run());
        assert!(!refused("OOM", halfway).may_have_run());
    }
}
