//! An observer that keeps every event.

use std::{sync::Arc, thread, time::Duration};

use leasehold::{
    ErrorKind, Fence, Loss, Owner, Released,
    observe::{
        Contended, Granted, Lost, Observer, Reconnected, Released as Freed, RenewalFailed, Renewed,
        Slow, Undone, Waited, Warned,
    },
    strategy::Holder,
};
use parking_lot::Mutex;

use crate::{common::eventually, ground::PATIENCE};

/// Everything that was told, in its order.
#[derive(Debug, Default)]
pub struct Diary(Mutex<Vec<(Event, String)>>);

/// What an event said.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Granted {
        name: String,
        owner: Owner,
        waited: Duration,
        tries: u32,
        fence: Option<Fence>,
    },
    Contended {
        name: String,
        holder: Holder,
    },
    Waited {
        name: String,
        waited: Duration,
        tries: u32,
        error: ErrorKind,
    },
    Renewed {
        name: String,
        owner: Owner,
    },
    RenewalFailed {
        name: String,
        owner: Owner,
        reason: String,
        remaining: Duration,
    },
    Lost {
        name: String,
        owner: Owner,
        loss: Loss,
    },
    Released {
        name: String,
        owner: Owner,
        result: Result<Released, ErrorKind>,
        dropped: bool,
    },
    Undone {
        name: String,
        confirmed: bool,
    },
    Reconnected {
        address: String,
    },
    Slow {
        name: String,
        took: Duration,
    },
    Warned {
        address: String,
        warning: String,
    },
}

impl Diary {
    pub fn new() -> Arc<Diary> {
        Arc::default()
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Event> {
        let entries = self.0.lock();
        entries.iter().map(|(event, _)| event.clone()).collect()
    }

    /// The names of the threads on which events like this were told.
    pub fn threads(&self, like: impl Fn(&Event) -> bool) -> Vec<String> {
        let entries = self.0.lock();
        let alike = entries.iter().filter(|(event, _)| like(event));
        alike.map(|(_, thread)| thread.clone()).collect()
    }

    /// How many events so far are like this.
    pub fn count(&self, like: impl Fn(&Event) -> bool) -> usize {
        self.0
            .lock()
            .iter()
            .filter(|(event, _)| like(event))
            .count()
    }

    /// The first event that `pick` picks, which is waited for.
    #[track_caller]
    pub fn first<T>(&self, what: &str, pick: impl Fn(&Event) -> Option<T>) -> T {
        let mut found = None;
        eventually(PATIENCE, what, || {
            found = self.0.lock().iter().find_map(|(event, _)| pick(event));
            found.is_some()
        });
        found.expect("waited for")
    }

    /// How often the lock of that name was renewed.
    pub fn renewals(&self, of: &str) -> usize {
        self.count(|event| matches!(event, Event::Renewed { name, .. } if name == of))
    }

    /// What was lost, in order.
    pub fn losses(&self) -> Vec<(String, Loss)> {
        let lost = |event| match event {
            Event::Lost { name, loss, .. } => Some((name, loss)),
            _ => None,
        };
        self.events().into_iter().filter_map(lost).collect()
    }

    fn note(&self, event: Event) {
        let thread = thread::current().name().unwrap_or_default().to_owned();
        self.0.lock().push((event, thread));
    }
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Diary {
    fn granted(&self, event: &Granted<'_>) {
        self.note(Event::Granted {
            name: event.name.to_string(),
            owner: *event.owner,
            waited: event.waited,
            tries: event.tries,
            fence: event.fence,
        });
    }

    fn contended(&self, event: &Contended<'_>) {
        self.note(Event::Contended {
            name: event.name.to_string(),
            holder: event.holder.clone(),
        });
    }

    fn waited(&self, event: &Waited<'_>) {
        self.note(Event::Waited {
            name: event.name.to_string(),
            waited: event.waited,
            tries: event.tries,
            error: event.error.kind(),
        });
    }

    fn renewed(&self, event: &Renewed<'_>) {
        self.note(Event::Renewed {
            name: event.name.to_string(),
            owner: *event.owner,
        });
    }

    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        self.note(Event::RenewalFailed {
            name: event.name.to_string(),
            owner: *event.owner,
            reason: event.reason.to_string(),
            remaining: event.remaining,
        });
    }

    fn lost(&self, event: &Lost<'_>) {
        self.note(Event::Lost {
            name: event.name.to_string(),
            owner: *event.owner,
            loss: event.loss,
        });
    }

    fn released(&self, event: &Freed<'_>) {
        self.note(Event::Released {
            name: event.name.to_string(),
            owner: *event.owner,
            result: event
                .result
                .as_ref()
                .copied()
                .map_err(leasehold::Error::kind),
            dropped: event.dropped,
        });
    }

    fn undone(&self, event: &Undone<'_>) {
        self.note(Event::Undone {
            name: event.name.to_string(),
            confirmed: event.confirmed,
        });
    }

    fn reconnected(&self, event: &Reconnected<'_>) {
        self.note(Event::Reconnected {
            address: event.address.to_owned(),
        });
    }

    fn slow(&self, event: &Slow<'_>) {
        self.note(Event::Slow {
            name: event.name.to_string(),
            took: event.took,
        });
    }

    fn warned(&self, event: &Warned<'_>) {
        self.note(Event::Warned {
            address: event.address.to_owned(),
            warning: event.warning.to_owned(),
        });
    }
}
