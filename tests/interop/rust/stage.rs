//! What a test plays on: a server, a neighbour and a client of ours.

use std::{process::Command, sync::Arc, time::Duration};

use leasehold::{Builder, Client};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    common::{Server, eventually},
    figures,
    ground::PATIENCE,
    neighbour::{Neighbour, Peer},
};

/// Times are measured: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A server and a neighbour for all tests of a row: a Java machine takes a second to start.
pub(crate) struct Shared {
    server: Server,
    neighbour: Arc<Neighbour>,
}

impl Shared {
    /// Starts a server, and the neighbour that is to use the port given.
    pub(crate) fn start(neighbour: impl FnOnce(&str) -> Command) -> Shared {
        let server = Server::options().tcp().start();
        let neighbour = neighbour(&port(&server));
        Shared {
            server,
            neighbour: Arc::new(Neighbour::start(neighbour)),
        }
    }
}

pub(crate) fn port(server: &Server) -> String {
    server.port().expect("it listens on TCP").to_string()
}

/// What one test has for itself while it runs.
pub(crate) struct Stage {
    server: &'static Server,
    neighbour: Arc<Neighbour>,
    _alone: MutexGuard<'static, ()>,
}

impl Stage {
    /// The neighbour of the whole row.
    pub(crate) fn shared(shared: impl FnOnce() -> &'static Shared) -> Stage {
        let alone = ALONE.lock();
        let shared = shared();
        Stage {
            server: &shared.server,
            neighbour: Arc::clone(&shared.neighbour),
            _alone: alone,
        }
    }

    /// A neighbour of its own, at the server of the row.
    pub(crate) fn own(
        shared: impl FnOnce() -> &'static Shared,
        neighbour: impl FnOnce(&str) -> Command,
    ) -> Stage {
        let stage = Stage::shared(shared);
        let neighbour = Neighbour::start(neighbour(&port(stage.server)));
        Stage {
            neighbour: Arc::new(neighbour),
            ..stage
        }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server
    }

    pub(crate) fn neighbour(&self) -> &Neighbour {
        &self.neighbour
    }

    /// A thread of the neighbour.
    pub(crate) fn peer(&self) -> Peer<'_> {
        self.neighbour.thread()
    }

    /// The settings of a client of ours: those that anybody gets.
    pub(crate) fn builder(&self) -> Builder {
        Client::builder(self.server.url())
    }

    /// How long the key will live, in ms.
    pub(crate) fn ttl(&self, key: &str) -> i64 {
        self.server.command(&["PTTL", key])
    }

    /// How many scripts have been run: what both sides ask a server by.
    pub(crate) fn scripts_run(&self) -> u64 {
        self.calls(&["eval", "evalsha"])
    }

    /// How often the server has been sent these commands, in lower case.
    pub(crate) fn calls(&self, commands: &[&str]) -> u64 {
        let stats: String = self.server.command(&["INFO", "commandstats"]);
        let calls = |line: &str| {
            let (command, figures) = line.strip_prefix("cmdstat_")?.split_once(':')?;
            let calls = figures.strip_prefix("calls=")?.split(',').next()?;
            let asked = commands.contains(&command);
            asked.then(|| calls.parse::<u64>().expect("a count"))
        };
        stats.lines().filter_map(calls).sum()
    }

    /// Waits until nothing with that name is left at the server. Some things go a little later than
    /// the answer: Redisson's latch of a release.
    #[track_caller]
    pub(crate) fn nothing_left(&self, name: &str) {
        let left = || {
            let mut keys = self.server.keys();
            keys.retain(|key| key.contains(name));
            keys
        };
        eventually(PATIENCE, &format!("no key of {name} is left"), || {
            left().is_empty()
        });
    }

    /// Notes what has been shown.
    pub(crate) fn note(&self, shown: &str, measured: impl AsRef<str>) {
        figures::note(self.neighbour.version(), shown, measured.as_ref());
    }
}

/// How a lock is fought for.
pub(crate) struct Contest {
    /// How many seconds it takes; 20 in full.
    pub(crate) seconds: u32,
    /// Each so many-th hold of a thread of ours, and of theirs, is not released.
    pub(crate) we_abandon: Option<u32>,
    pub(crate) they_abandon: Option<u32>,
    /// How long a thread has the lock, at least.
    pub(crate) hold: Duration,
    /// How long a thread is without the lock before it asks again.
    pub(crate) pause: Duration,
}

impl Contest {
    /// Nobody dies, and nobody does anything else.
    pub(crate) const ORDERLY: Contest = Contest {
        seconds: 4,
        we_abandon: None,
        they_abandon: None,
        hold: Duration::ZERO,
        pause: Duration::ZERO,
    };
}
