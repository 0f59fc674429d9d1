//! Who watches a client: a diary of its events, its threads, the ends of its leases.
//!
//! - [`Diary`]: an observer that keeps every event, and on which thread it was told.
//! - [`Losses`]: what a lease's `on_lost` was told.
//! - [`alone`]: a test in a process of its own, where threads and memory are countable.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]
#![allow(
    unreachable_pub,
    reason = "each test binary includes this as a private module"
)]

mod diary;

use std::{
    fs,
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use leasehold::{Builder, Lease, Loss, Renewal};

use crate::{
    common::{
        Worker, eventually,
        worker::{self, Role},
    },
    ground::PATIENCE,
};

pub use diary::{Diary, Event};

/// What the system calls the keeper's thread: it cuts names at 15 bytes.
pub const KEEPER: &str = "leasehold-keepe";

/// What it calls the thread of `on_lost`.
pub const LOST: &str = "leasehold-lost";

/// What it calls the thread of the pool.
pub const POOL: &str = "leasehold-pool";

/// Leases that outlive the stalls of a busy machine, and are renewed so often that nobody need wait
/// for it.
pub fn lively(builder: Builder) -> Builder {
    let often = Renewal::Every(Duration::from_millis(100));
    builder.lease(Duration::from_secs(9)).renewal(often)
}

/// How many threads of this process have that name.
pub fn threads(name: &str) -> usize {
    names().iter().filter(|comm| *comm == name).count()
}

/// How many threads of this process are the crate's own.
pub fn all_threads() -> usize {
    let ours = |comm: &&String| comm.starts_with("leasehold");
    names().iter().filter(ours).count()
}

/// Waits until so many threads of this process have that name.
#[track_caller]
pub fn threads_become(name: &str, count: usize) {
    let what = format!("{count} threads named {name}");
    eventually(PATIENCE, &what, || threads(name) == count);
}

fn names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux lists threads");
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .map(|comm| comm.trim_end().to_owned())
        .collect()
}

/// What the callbacks of one lease were told, and on threads of which name.
#[derive(Debug)]
pub struct Losses(Receiver<(Loss, String)>);

impl Losses {
    /// Has the lease tell of its loss.
    pub fn of(lease: &Lease) -> Losses {
        let (tell, told) = channel();
        lease.on_lost(move |loss| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            tell.send((loss, name)).expect("the test listens");
        });
        Losses(told)
    }

    /// The loss; it is told on a thread that is there for that.
    ///
    /// # Panics
    ///
    /// If none is told within 20 s.
    #[track_caller]
    pub fn next(&self) -> Loss {
        let (loss, name) = self.0.recv_timeout(PATIENCE).expect("a loss is told");
        assert_eq!(name, LOST, "the thread that tells of a loss");
        loss
    }

    /// What was told so far, if anything.
    pub fn so_far(&self) -> Option<Loss> {
        self.0.try_recv().ok().map(|(loss, _)| loss)
    }

    /// Whether the callback was thrown away without being called.
    pub fn never(&self) -> bool {
        self.0.recv_timeout(PATIENCE).is_err()
    }
}

/// Runs `body` in a process of its own, this test binary run again. What it says is printed.
///
/// # Panics
///
/// If the body does, or if it says nothing for two minutes.
pub fn alone(test: &str, body: impl FnOnce(&Role)) {
    if let Some(role) = worker::role(test) {
        body(&role);
        role.say("done");
        return;
    }
    let mut worker = Worker::spawn(test, &[]);
    loop {
        match worker.says_within(Duration::from_secs(120)) {
            Some(line) if line == "done" => break,
            Some(line) => println!("{line}"),
            None => drop(worker.expect("done")), // which fails, with all of its output
        }
    }
    assert!(worker.finish().success(), "{test}, in a process of its own");
}
