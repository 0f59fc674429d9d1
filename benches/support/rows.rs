//! The strategies that are measured.

use std::{env, path::Path, sync::Arc, time::Duration};

use leasehold::strategy::{Dialect, LockStrategy, Reentrant, Timestamp, Token};

use super::harness::{Make, Options, Server};

/// A strategy, under the name that it has in every figure.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub id: &'static str,
    /// As it is written in a program.
    pub title: &'static str,
    pub strategy: fn() -> Arc<dyn LockStrategy>,
    pub fenced: bool,
    /// Whether acquiring and releasing is one script each, and so to be within a factor of the
    /// bare connection.
    pub one_script: bool,
    /// Which server it takes.
    pub make: Make,
}

/// Every strategy. What is measured of one is measured of all, so that a new one is a line here.
pub const ROWS: [Row; 6] = [
    Row {
        id: "token",
        title: "Token",
        strategy: || Arc::new(Token::default()),
        fenced: false,
        one_script: true,
        make: Make::Found,
    },
    Row {
        id: "token-fenced",
        title: "Token, fence(true)",
        strategy: || Arc::new(Token::default()),
        fenced: true,
        one_script: true,
        make: Make::Found,
    },
    Row {
        id: "token-commands",
        title: "Token::commands()",
        strategy: || Arc::new(Token::commands()),
        fenced: false,
        one_script: false,
        make: Make::Valkey,
    },
    Row {
        id: "reentrant",
        title: "Reentrant",
        strategy: || Arc::new(Reentrant::default()),
        fenced: false,
        one_script: true,
        make: Make::Found,
    },
    Row {
        id: "guarded",
        title: "Timestamp::guarded",
        strategy: || Arc::new(Timestamp::guarded(Dialect::java_millis(), SHORTEST)),
        fenced: false,
        one_script: true,
        make: Make::Found,
    },
    Row {
        id: "classic",
        title: "Timestamp::classic",
        strategy: || Arc::new(Timestamp::classic(Dialect::java_millis())),
        fenced: false,
        one_script: false,
        make: Make::Found,
    },
];

/// The shortest lease of the legacy clients that are thought of.
const SHORTEST: Duration = Duration::from_secs(60);

/// The row of that name.
///
/// # Panics
///
/// If there is none.
pub fn row(id: &str) -> Row {
    let found = ROWS.into_iter().find(|row| row.id == id);
    found.unwrap_or_else(|| panic!("there is no strategy {id}"))
}

/// The servers of a run: what the machine has, and a Valkey for what takes one.
#[derive(Debug)]
pub struct Servers {
    found: Server,
    valkey: Option<Server>,
}

impl Servers {
    /// Starts them. There is no Valkey where none is found: `scripts/ensure-redis --valkey` gets
    /// one.
    pub fn start() -> Servers {
        let start = |options: Options| options.tcp().start();
        Servers {
            found: start(Server::options()),
            valkey: has_valkey().then(|| start(Server::options().make(Make::Valkey))),
        }
    }

    /// The server for the row; `None` where this machine has none that it could run on.
    pub fn of(&self, row: &Row) -> Option<&Server> {
        match row.make {
            Make::Valkey => self.valkey.as_ref(),
            _ => Some(&self.found),
        }
    }

    pub fn found(&self) -> &Server {
        &self.found
    }

    pub fn valkey(&self) -> Option<&Server> {
        self.valkey.as_ref()
    }
}

fn has_valkey() -> bool {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/leasehold/valkey");
    env::var_os("LEASEHOLD_VALKEY").is_some_and(|path| !path.is_empty())
        || unpacked.join("valkey-server").exists()
        || env::var_os("PATH").is_some_and(|path| {
            env::split_paths(&path).any(|dir| dir.join("valkey-server").exists())
        })
}
