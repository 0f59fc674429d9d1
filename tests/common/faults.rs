//! What may befall a message on its way through a [`Proxy`](super::proxy::Proxy).

use std::{fmt, sync::Arc, time::Duration};

use super::{
    frames::{Message, Way},
    proxy::Shared,
};

/// How long a held message is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What to do with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Pass,
    Lose,
    Delay(Duration),
    CutBefore,
    CutWithin(usize),
    CutAfter,
    Hold(usize),
}

type Filter = Box<dyn Fn(&Message) -> bool + Send>;

/// Which messages a fault is for, counted from now.
pub(super) struct Rule {
    way: Way,
    command: Option<String>,
    filter: Option<Filter>,
    /// How many to let pass first.
    spare: usize,
    lasts: bool,
    fate: Fate,
}

impl Rule {
    fn is_for(&self, message: &Message) -> bool {
        self.way == message.way
            && self
                .command
                .as_ref()
                .is_none_or(|command| *command == message.command)
            && self.filter.as_ref().is_none_or(|filter| filter(message))
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} for {:?} {:?} after {}",
            self.fate, self.way, self.command, self.spare
        )
    }
}

/// The fate of this message by these rules, the first set going first; a rule that was for one
/// message is used up.
pub(super) fn judge(rules: &mut Vec<Rule>, message: &Message) -> Fate {
    let mut fate = Fate::Pass;
    rules.retain_mut(|rule| {
        if fate != Fate::Pass || !rule.is_for(message) {
            return true;
        }
        if rule.spare > 0 {
            rule.spare -= 1;
            return true;
        }
        fate = rule.fate;
        rule.lasts
    });
    fate
}

/// Names messages, and then what happens to them. Names the next one, of whatever kind, if nothing
/// else is said: `proxy.requests().lost()` loses the next request.
#[must_use = "nothing happens to a message before it is said what"]
pub struct Pick {
    shared: Arc<Shared>,
    rule: Rule,
}

impl Pick {
    pub(super) fn new(shared: &Arc<Shared>, way: Way) -> Pick {
        let fate = Fate::Pass;
        let rule = Rule {
            way,
            command: None,
            filter: None,
            spare: 0,
            lasts: false,
            fate,
        };
        Pick {
            shared: Arc::clone(shared),
            rule,
        }
    }

    /// Only requests of this command, or replies to them.
    pub fn of(mut self, command: &str) -> Self {
        self.rule.command = Some(command.to_uppercase());
        self
    }

    /// Only messages that the filter accepts: `matching(Message::is_push)`.
    pub fn matching(mut self, filter: impl Fn(&Message) -> bool + Send + 'static) -> Self {
        self.rule.filter = Some(Box::new(filter));
        self
    }

    /// The n-th of them from now, 1 being the next.
    pub fn nth(mut self, n: usize) -> Self {
        self.rule.spare = n.checked_sub(1).expect("the first is number 1");
        self
    }

    /// Every one from there on, until [`heal`](super::proxy::Proxy::heal).
    pub fn all(mut self) -> Self {
        self.rule.lasts = true;
        self
    }

    /// Is never delivered. The connection stays open, and what follows on it is delivered; a stream
    /// that stalls for good, as on a broken network, is a message [`held`](Pick::held) for ever.
    pub fn lost(self) {
        self.meets(Fate::Lose);
    }

    /// Is delivered so much later, and what follows on its connection not before it.
    pub fn late(self, by: Duration) {
        self.meets(Fate::Delay(by));
    }

    /// Both ends find the connection closed in its stead.
    pub fn cut_before(self) {
        self.meets(Fate::CutBefore);
    }

    /// Its first bytes are delivered, then both ends find the connection closed.
    pub fn cut_within(self, bytes: usize) {
        self.meets(Fate::CutWithin(bytes));
    }

    /// Is delivered, then both ends find the connection closed. Of a request, the server carries it
    /// out and the client never learns that it did.
    pub fn cut_after(self) {
        self.meets(Fate::CutAfter);
    }

    /// Is kept back, and what follows on its connection too, until it is told to be delivered; also
    /// when its sender has closed the connection meanwhile.
    pub fn held(mut self) -> Held {
        self.rule.lasts = false;
        let shared = Arc::clone(&self.shared);
        let gate = shared.change(|state| {
            state.gates.push(Gate::Armed);
            state.gates.len() - 1
        });
        self.meets(Fate::Hold(gate));
        Held { shared, gate }
    }

    fn meets(mut self, fate: Fate) {
        self.rule.fate = fate;
        self.shared.change(|state| state.rules.push(self.rule));
    }
}

/// How far a held message has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gate {
    Armed,
    Caught(Message),
    Opened,
    Delivered,
}

/// A message that is kept back, or will be when it comes. Stays so if this is dropped.
pub struct Held {
    shared: Arc<Shared>,
    gate: usize,
}

impl Held {
    /// Waits until the message has come.
    ///
    /// # Panics
    ///
    /// If it does not within 10 s.
    pub fn caught(&self) -> Message {
        let mut caught = None;
        self.shared
            .wait(PATIENCE, "the message to hold has come", |state| {
                if let Gate::Caught(message) = &state.gates[self.gate] {
                    caught = Some(message.clone());
                }
                caught.is_some()
            });
        caught.expect("waited for")
    }

    /// Waits until the message has come, and has it delivered, unless the proxy has
    /// [`cut`](super::proxy::Proxy::cut) its connection. Whoever it is for need not have read
    /// it yet when this returns.
    pub fn deliver(self) {
        self.caught();
        self.shared
            .change(|state| state.gates[self.gate] = Gate::Opened);
        self.shared
            .wait(PATIENCE, "the held message is delivered", |state| {
                state.gates[self.gate] == Gate::Delivered
            });
    }
}
