//! The ground on which locks are tested: servers, clients of them, and the other side of the lock.
//!
//! - [`Ground`]: the servers of one test and how a client reaches them: one topology.
//! - [`wire`]: what another client of the same protocol would write, by plain commands.
//! - [`record`]: a strategy that notes what it is asked, so that a test can ask it again.
//! - [`any`]: every strategy, to go through.
//! - [`ask`]: exchanges run by hand on a connection of the test's own.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]
#![allow(
    unreachable_pub,
    reason = "each test binary includes this as a private module"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "bounds are checked by a clock that is not the crate's own"
)]

pub mod any;
pub mod ask;
pub mod record;
pub mod wire;

use std::{
    env,
    time::{Duration, Instant},
};

use leasehold::{Builder, Client, Lease, Renewal, Retry, strategy::LockStrategy};

use crate::common::{Make, Server, eventually};

pub use any::{Any, all};
pub use ask::ask;
pub use record::Recorder;
pub use wire::Wire;

/// The time-out of every client of a ground.
pub const IO_TIMEOUT: Duration = Duration::from_secs(2);

/// How long what must happen may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The servers of one test. Whatever looks at keys looks at all of them.
#[derive(Debug)]
pub struct Ground {
    servers: Vec<Server>,
    /// Servers that were asked for and answer nothing.
    silent: Vec<Server>,
}

impl Ground {
    /// One server of this make.
    pub fn one(make: Make) -> Ground {
        Ground::of(Server::options().make(make).start())
    }

    /// This one server.
    pub fn of(server: Server) -> Ground {
        Ground {
            servers: vec![server],
            silent: Vec::new(),
        }
    }

    /// So many servers that know nothing of each other: a majority decides.
    pub fn redlock(count: usize) -> Ground {
        Ground {
            servers: (0..count).map(|_| Server::start()).collect(),
            silent: Vec::new(),
        }
    }

    /// The same, with one more that is dead.
    pub fn and_one_dead(mut self) -> Ground {
        let mut dead = Server::start();
        dead.kill();
        self.silent.push(dead);
        self
    }

    /// The same, with one more that hangs.
    pub fn and_one_hanging(mut self) -> Ground {
        let hanging = Server::start();
        hanging.freeze();
        self.silent.push(hanging);
        self
    }

    fn is_redlock(&self) -> bool {
        self.servers.len() + self.silent.len() > 1
    }

    fn urls(&self) -> Vec<String> {
        let servers = self.silent.iter().chain(&self.servers);
        servers.map(Server::url).collect()
    }

    /// The server, where there is one; else the first.
    pub fn server(&self) -> &Server {
        &self.servers[0]
    }

    pub fn server_mut(&mut self) -> &mut Server {
        &mut self.servers[0]
    }

    /// The settings of a client, with short pauses between tries.
    pub fn builder(&self) -> Builder {
        if self.is_redlock() {
            return redlock(self.urls());
        }
        builder(self.server().url())
    }

    /// A client with a lease of 30 s.
    pub fn client(&self, strategy: impl LockStrategy + 'static) -> Client {
        self.builder()
            .strategy(strategy)
            .build()
            .expect("the settings are valid")
    }

    /// A client whose leases are that long and end when they end.
    pub fn fleeting(&self, strategy: impl LockStrategy + 'static, lease: Duration) -> Client {
        fleeting(self.builder().strategy(strategy), lease)
    }

    /// Every key of every server. Of several, a busy one that answered too late holds a tombstone
    /// for a lease; `tests/redlock` shows when there is none.
    pub fn keys(&self) -> Vec<String> {
        let keys = self.servers.iter().flat_map(Server::keys);
        keys.filter(|key| !self.is_redlock() || !key.contains(":gone:"))
            .collect()
    }

    /// Every key, and for how many milliseconds it will live: -1 is for ever.
    pub fn ttls(&self) -> Vec<(String, i64)> {
        self.servers.iter().flat_map(Server::ttls).collect()
    }

    /// Every key and all that stands there, to be compared with a later picture. Says nothing of
    /// how long a key lives.
    pub fn picture(&self) -> Vec<(String, Vec<u8>)> {
        let dump = |server: &Server| {
            let keys = server.keys().into_iter();
            keys.map(|key| {
                let dump = server.command(&["DUMP", &key]);
                (key, dump)
            })
            .collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(dump).collect()
    }

    /// Sends a command to every server, as the harness.
    pub fn everywhere(&self, command: &[&str]) {
        for server in &self.servers {
            let _: redis::Value = server.command(command);
        }
    }

    /// Has somebody else hold the lock of that name.
    pub fn seize(&self, wire: Wire, name: &str, lease: Duration) {
        let (first, others) = self.servers.split_first().expect("there is a server");
        wire.seize(first, name, lease);
        for server in others {
            copy(first, server, name);
        }
    }
}

/// The settings of a client of several servers, which were started just now.
pub fn redlock(urls: impl IntoIterator<Item = String>) -> Builder {
    Client::redlock(urls)
        .quarantine(Duration::ZERO)
        .retry(Retry::uniform(ms(5)))
        .io_timeout(SHARE)
        .connect_timeout(SHARE)
}

/// How long one of several servers may take: below the shortest lease of a promise.
pub const SHARE: Duration = ms(90);

/// The settings of a client of the server at `url`, with short pauses between tries.
pub fn builder(url: impl Into<String>) -> Builder {
    Client::builder(url)
        .retry(Retry::uniform(ms(5)))
        .io_timeout(IO_TIMEOUT)
        .connect_timeout(IO_TIMEOUT)
}

/// A client whose leases are that long and end when they end: nothing renews them.
pub fn fleeting(builder: Builder, lease: Duration) -> Client {
    builder
        .lease(lease)
        .renewal(Renewal::Off)
        .build()
        .expect("the settings are valid")
}

/// Has `to` hold under `name` what `from` holds there.
fn copy(from: &Server, to: &Server, name: &str) {
    let (mut from, mut to) = (from.connection(), to.connection());
    let mut dump = redis::cmd("DUMP");
    let dump: Vec<u8> = dump.arg(name).query(&mut from).expect("it is there");
    let ttl: i64 = redis::cmd("PTTL").arg(name).query(&mut from).unwrap();
    let mut restore = redis::cmd("RESTORE");
    restore.arg(name).arg(ttl.max(0)).arg(dump).arg("REPLACE");
    restore.exec(&mut to).expect("it can be written");
}

/// Waits until the lease has ended.
#[track_caller]
pub fn ended(lease: &Lease) {
    eventually(PATIENCE, "the lease has ended", || !lease.is_held());
}

/// What `work` gave, and how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed())
}

/// The clock of `std`, for a test that must give a moment.
pub fn instant() -> Instant {
    Instant::now()
}

pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// How often to do what shows more the more often it is done: `full` times where
/// `LEASEHOLD_FULL` is 1, as in `scripts/test --full`.
pub fn rounds(quick: u32, full: u32) -> u32 {
    if env::var("LEASEHOLD_FULL").is_ok_and(|value| value == "1") {
        full
    } else {
        quick
    }
}
