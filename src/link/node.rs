//! One of several servers: whether it answers, and whether it may be counted.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::converse::is_late;
use super::{Conn, Failure, Wire};
use crate::clock::{self, Moment};
use crate::exchange::{Call, Exchange, Talk};

/// The first pause before a silent server is asked again whether it is there; each later one
/// is twice as long.
const FIRST: Duration = Duration::from_millis(50);

/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(1);

/// One of several servers.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) wire: Arc<Wire>,
    down: Mutex<Option<Down>>,
}

/// A server that gave no answer.
#[derive(Debug)]
struct Down {
    why: String,
    again: Moment,
    pause: Duration,
    probing: bool,
}

impl Node {
    pub(super) fn new(wire: Wire) -> Self {
        Self {
            wire: Arc::new(wire),
            down: Mutex::default(),
        }
    }

    /// Whether it is left out until it answers again.
    pub(super) fn is_down(&self) -> bool {
        self.down.lock().is_some()
    }

    /// Notes that it gave no answer. It is left out from now on, unless it had less than its
    /// share of time: that says nothing about it.
    pub(super) fn fell_silent(&self, failure: &Failure, had_its_share: bool) {
        if had_its_share || !is_late(failure) {
            self.note(failure, FIRST);
        }
    }

    fn note(&self, failure: &Failure, pause: Duration) {
        *self.down.lock() = Some(Down {
            why: failure.to_string(),
            again: clock::now() + pause,
            pause,
            probing: false,
        });
    }

    /// Notes that it answered.
    pub(super) fn answered(&self) {
        *self.down.lock() = None;
    }

    /// Why it is left out; has it asked whether it is there again, where that is due. That is
    /// done on a thread of its own, which ends with the answer: nobody waits for it.
    pub(super) fn left_out(self: &Arc<Self>) -> Failure {
        let address = self.wire.endpoint.address().to_owned();
        let mut down = self.down.lock();
        let Some(down) = down.as_mut() else {
            let why = "it has just come back".to_owned();
            return Failure::LeftOut { address, why };
        };
        if !down.probing && down.again.remaining().is_zero() {
            let node = Arc::clone(self);
            let pause = (down.pause * 2).min(LONGEST);
            let thread = thread::Builder::new().name("leasehold-probe".to_owned());
            down.probing = thread.spawn(move || node.probe(pause)).is_ok();
        }
        Failure::LeftOut {
            address,
            why: down.why.clone(),
        }
    }

    fn probe(&self, pause: Duration) {
        let timeouts = self.wire.timeouts;
        let until = clock::now() + timeouts.connect + timeouts.io;
        let ping = Talk::new(ping());
        match Conn::new(Arc::clone(&self.wire)).run(ping, until) {
            Ok(()) => self.answered(),
            Err(miss) => self.note(&miss.failure, pause),
        }
    }
}

/// Asks whether the server is there. Any answer says that it is.
pub(super) fn ping() -> Exchange<()> {
    Exchange::one(Call::command("PING"), |_| Ok(()))
}
