//! The keeper: the one thread of a client that renews its leases, watches their ends and
//! sees to what could not be undone at once.
//!
//! It is started by the first lease that needs it, lingers for a while after the last, and
//! ends with the client. It holds no mutex while it talks to the server.

mod errand;
mod round;
mod schedule;
pub(crate) mod validity;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::clock::{self, Moment};
use crate::hold::Held;
use crate::link::Servers;
pub(crate) use errand::Errand;
use schedule::Schedule;

/// How long the thread stays when there is nothing to keep: a spawn costs a third of an
/// uncontended cycle.
const LINGER: Duration = Duration::from_secs(10);

/// How soon a round is made again over which the keeper itself panicked: a bug, and no
/// reason to lose a lease.
const SOON: Duration = Duration::from_millis(50);

/// What is to be done at its time.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Renew a hold, or look whether it has ended.
    Keep(Weak<Held>),
    /// Leave what could not be left at once.
    Leave(Box<Errand>),
}

/// The handle on the thread.
#[derive(Debug)]
pub(crate) struct Keeper(Arc<Shared>);

/// What the thread shares with its handle.
#[derive(Debug)]
struct Shared {
    servers: Servers,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct State {
    schedule: Schedule,
    thread: Option<JoinHandle<()>>,
    running: bool,
    closing: bool,
    /// When something was last taken in or out.
    last: Option<Moment>,
}

impl Keeper {
    pub(crate) fn new(servers: Servers) -> Self {
        Self(Arc::new(Shared {
            servers,
            state: Mutex::default(),
            wake: Condvar::new(),
        }))
    }

    /// Keeps `held` from now on.
    pub(crate) fn keep(&self, held: &Arc<Held>) -> std::io::Result<()> {
        let due = held.pace.due_at(held.valid_until());
        self.0.add(due, held.id, Task::Keep(Arc::downgrade(held)))
    }

    /// Keeps `held` no longer.
    pub(crate) fn forget(&self, held: &Held) {
        let mut state = self.0.state.lock();
        state.schedule.remove(held.id);
        state.last = Some(clock::now());
    }

    /// Sees to `errand`, as long as it makes sense.
    pub(crate) fn run(&self, errand: Errand) -> std::io::Result<()> {
        let id = errand.id();
        self.0.add(errand.due(), id, Task::Leave(Box::new(errand)))
    }

    /// Ends the thread, and waits until it has ended for at most `patience`; whether it has.
    pub(crate) fn stop(&self, patience: Duration) -> bool {
        let until = clock::now() + patience;
        self.0.close();
        let mut state = self.0.state.lock();
        while state.running && !until.remaining().is_zero() {
            self.0.wake.wait_for(&mut state, until.remaining());
        }
        let stopped = !state.running;
        let thread = state.thread.take_if(|_| stopped);
        drop(state);
        if let Some(thread) = thread {
            let _ = thread.join(); // it is on its last lines
        }
        stopped
    }

    /// Takes out every errand that is still to be seen to.
    pub(crate) fn errands(&self) -> Vec<Errand> {
        self.0.state.lock().schedule.take_errands()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Shared {
    fn add(self: &Arc<Self>, due: Moment, id: u64, task: Task) -> std::io::Result<()> {
        let mut state = self.state.lock();
        if state.closing {
            return Err(std::io::Error::other("the client was shut down"));
        }
        if !state.running {
            let shared = Arc::clone(self);
            let thread = thread::Builder::new().name("leasehold-keeper".to_owned());
            state.thread = Some(thread.spawn(move || shared.work())?);
            state.running = true;
        }
        state.last = Some(clock::now());
        if state.schedule.add(due, id, task) {
            self.wake.notify_all();
        }
        Ok(())
    }

    fn close(&self) {
        self.state.lock().closing = true;
        self.wake.notify_all();
    }

    /// The thread's life.
    fn work(&self) {
        let mut round = round::Round::new(&self.servers);
        while let Some(tasks) = self.next() {
            let copies = tasks.clone();
            let ran = catch_unwind(AssertUnwindSafe(|| round.run(tasks)));
            let again = ran.unwrap_or_else(|_| {
                round = round::Round::new(&self.servers);
                let soon = clock::now() + SOON;
                let copies = copies.into_iter();
                copies.map(|(id, task)| (soon, id, task)).collect()
            });
            let mut state = self.state.lock();
            for (due, id, task) in again {
                state.schedule.add(due, id, task);
            }
        }
    }

    /// Waits for what is due; `None` once there is no more to do.
    fn next(&self) -> Option<Vec<(u64, Task)>> {
        let mut state = self.state.lock();
        loop {
            let now = clock::now();
            let end = state.last.map_or(now, |last| last + LINGER);
            if state.closing || now >= end && state.schedule.is_empty() {
                state.running = false;
                self.wake.notify_all();
                return None;
            }
            let tasks = state.schedule.take_due(now, round::LARGEST);
            if !tasks.is_empty() {
                return Some(tasks);
            }
            // Not for longer where what is due is far away: it may be taken out meanwhile.
            let look = if now < end { end } else { now + LINGER };
            let next = state.schedule.sleep_until(look);
            self.wake.wait_for(&mut state, next.since(now));
        }
    }
}
