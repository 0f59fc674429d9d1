//! The kinds of lock that this program is itself: the crate's, and the baselines.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use leasehold::observe::{Contended, Observer};
use leasehold::{Client, Lock, Retry};
use parking_lot::FairMutex;

use crate::support::LEASE;
use crate::support::rows::row;
use crate::worker::{self, Contender, Kind};

/// How a waiter of the crate waits.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub id: &'static str,
    pub title: &'static str,
    retry: fn() -> Retry,
}

/// The ways of waiting that are measured. A new one is a line here.
pub const WAITING: [Waiting; 3] = [
    Waiting {
        id: "default",
        title: "tries again after 0 to 100 ms",
        retry: Retry::default,
    },
    Waiting {
        id: "10ms",
        title: "tries again after 0 to 10 ms",
        retry: || Retry::uniform(Duration::from_millis(10)),
    },
    Waiting {
        id: "1ms",
        title: "tries again after 1 ms",
        retry: || Retry::fixed(Duration::from_millis(1)),
    },
];

/// A baseline: no lock of the crate, but what one is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Baseline {
    pub id: &'static str,
    pub title: &'static str,
    pub waiting: &'static str,
    /// Whether it works between processes.
    pub crosses: bool,
}

pub const BASELINES: [Baseline; 3] = [
    Baseline {
        id: "poll",
        title: "SET NX PX, by hand",
        waiting: "tries again after 1 ms",
        crosses: true,
    },
    Baseline {
        id: "blpop",
        title: "BLPOP and RPUSH, by hand; no lease",
        waiting: "BLPOP",
        crosses: true,
    },
    Baseline {
        id: "baton",
        title: "a fair mutex in memory",
        waiting: "parked",
        crosses: false,
    },
];

/// Plays the kind `id` until nobody tells it anything any more: `token@1ms` is a strategy and a way
/// of waiting, anything else a baseline.
pub fn serve(id: &str, url: &str) {
    let served = match id.split_once('@') {
        Some((strategy, waiting)) => worker::serve(&Ours::new(strategy, waiting, url)),
        None => match id {
            "poll" => worker::serve(&Poll(open(url))),
            "blpop" => worker::serve(&Blpop(open(url))),
            "baton" => worker::serve(&Baton(Arc::default())),
            _ => panic!("there is no kind {id}"),
        },
    };
    served.expect("the other side listens");
}

/// A lock of the crate.
struct Ours {
    client: Client,
    vain: Arc<AtomicU64>,
    waiting: Waiting,
}

impl Ours {
    fn new(strategy: &str, waiting: &str, url: &str) -> Ours {
        let row = row(strategy);
        let waiting = WAITING.into_iter().find(|known| known.id == waiting);
        let waiting = waiting.expect("the way of waiting is known");
        let vain = Arc::new(AtomicU64::new(0));
        let builder = Client::builder(url)
            .lease(LEASE)
            .wait(Duration::from_secs(60))
            .retry((waiting.retry)())
            .observer(Vain(Arc::clone(&vain)));
        let client = builder.strategy((row.strategy)()).fence(row.fenced).build();
        Ours {
            client: client.expect("the settings are valid"),
            vain,
            waiting,
        }
    }
}

struct Vain(Arc<AtomicU64>);

impl Observer for Vain {
    fn contended(&self, _: &Contended<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Kind for Ours {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Leaseholder {
            client: self.client.clone(),
            lock: None,
        })
    }

    fn settings(&self) -> String {
        format!("lease {LEASE:?}, renewed; {}", self.waiting.title)
    }

    fn vain(&self) -> Option<u64> {
        Some(self.vain.load(Ordering::Relaxed))
    }
}

struct Leaseholder {
    client: Client,
    lock: Option<Lock>,
}

impl Contender for Leaseholder {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let same = |lock: &Lock| lock.name().as_bytes() == name.as_bytes();
        let lock = match self.lock.take().filter(same) {
            Some(lock) => lock,
            None => self.client.lock(name).map_err(|error| error.to_string())?,
        };
        let lease = self.lock.insert(lock).acquire();
        let lease = lease.map_err(|error| error.to_string())?;
        inside();
        lease.release().map_err(|error| error.to_string())?;
        Ok(())
    }
}

fn open(url: &str) -> redis::Client {
    redis::Client::open(url).expect("the url is one")
}

fn connect(client: &redis::Client) -> redis::Connection {
    client.get_connection().expect("the server answers")
}

/// What many programs have: SET NX PX, a release that compares, and impatience.
struct Poll(redis::Client);

impl Kind for Poll {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Poller {
            connection: connect(&self.0),
            release: redis::Script::new(
                "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) \
                 end return 0",
            ),
        })
    }

    fn settings(&self) -> String {
        "SET NX PX 30000 every 1 ms; released by a script that compares".to_owned()
    }
}

struct Poller {
    connection: redis::Connection,
    release: redis::Script,
}

impl Contender for Poller {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let token = uuid::Uuid::new_v4().to_string();
        let mut set = redis::cmd("SET");
        set.arg(name).arg(&token).arg("NX").arg("PX").arg(30_000);
        loop {
            let set: Option<String> = set.query(&mut self.connection).map_err(text)?;
            if set.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        inside();
        let mut release = self.release.key(name);
        let freed: u32 = release
            .arg(&token)
            .invoke(&mut self.connection)
            .map_err(text)?;
        if freed == 1 {
            Ok(())
        } else {
            Err("lost".into())
        }
    }
}

/// The least that a hand-over through a server takes: a list with one element, which whoever has
/// it puts back. If a holder dies, it is gone: this is no lock.
struct Blpop(redis::Client);

impl Kind for Blpop {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Taker {
            connection: connect(&self.0),
            known: HashSet::new(),
        })
    }

    fn settings(&self) -> String {
        "BLPOP to take, RPUSH to give back; a holder that dies takes it along".to_owned()
    }
}

struct Taker {
    connection: redis::Connection,
    known: HashSet<String>,
}

impl Contender for Taker {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let connection = &mut self.connection;
        if self.known.insert(name.to_owned()) {
            let made = format!("{name}:made");
            let first: bool = redis::cmd("SETNX")
                .arg(made)
                .arg(1)
                .query(connection)
                .map_err(text)?;
            if first {
                let () = redis::cmd("RPUSH")
                    .arg(name)
                    .arg(1)
                    .query(connection)
                    .map_err(text)?;
            }
        }
        let mut take = redis::cmd("BLPOP");
        let _: (String, String) = take.arg(name).arg(0).query(connection).map_err(text)?;
        inside();
        redis::cmd("RPUSH")
            .arg(name)
            .arg(1)
            .query(connection)
            .map_err(text)
    }
}

/// The least that a hand-over between threads takes.
struct Baton(Arc<FairMutex<()>>);

impl Kind for Baton {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Runner(Arc::clone(&self.0)))
    }

    fn settings(&self) -> String {
        "parking_lot::FairMutex, one for all names; threads of one process only".to_owned()
    }
}

struct Runner(Arc<FairMutex<()>>);

impl Contender for Runner {
    fn with(&mut self, _: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let _held = self.0.lock();
        inside();
        Ok(())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "so that it fits map_err")]
fn text(error: redis::RedisError) -> String {
    error.to_string()
}
