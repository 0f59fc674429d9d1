//! A fleet on its way from an old lock to a new one, in every order that there is: at most one holder,
//! as long as no phase is skipped.
//!
//! Clocks are perfect here, and a lock ends only after its holder has died. What clocks do is a matter
//! of the strategies; here it is about the phases.

use stateright::{Checker, Model, Property};

/// What one client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Idle,
    /// The marker has admitted it, where it asks before it takes.
    Admitted,
    /// It has the old lock and asks for the new one.
    Halfway,
    /// It has what its phase takes and asks the marker.
    Granted,
    Inside,
    /// It has left the new lock and not yet the old one.
    Leaving,
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Client {
    phase: u8,
    at: At,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    clients: Vec<Client>,
    old: Option<usize>,
    new: Option<usize>,
    lowest: u8,
    deaths: u8,
    starts: u8,
}

impl State {
    fn inside(&self) -> usize {
        let clients = self.clients.iter();
        clients.filter(|client| client.at == At::Inside).count()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Step(usize),
    Die(usize),
    OldEnds,
    NewEnds,
    /// Whoever deploys starts a client in this phase, sensible or not.
    Start(usize, u8),
    /// The operator moves the marker.
    Mark(u8),
}

/// Clients in phases, of which one may die.
struct Fleet {
    phases: Vec<u8>,
    /// How often a client may be started anew; 0: phases stay as they are and nobody marks.
    starts: u8,
    /// Clients ask the marker.
    asks: bool,
    /// They ask it before they take a lock rather than after.
    asks_before: bool,
}

impl Fleet {
    fn of(phases: &[u8]) -> Self {
        Self {
            phases: phases.to_vec(),
            starts: 0,
            asks: false,
            asks_before: false,
        }
    }

    fn admits(&self, state: &State, phase: u8) -> bool {
        !self.asks || (state.lowest..=state.lowest + 1).contains(&phase)
    }

    fn step(&self, state: &mut State, who: usize) -> Option<()> {
        let Client { phase, at } = state.clients[who];
        let next = match at {
            At::Idle if self.asks_before => self.admits(state, phase).then_some(At::Admitted)?,
            At::Idle | At::Admitted if phase == 2 => {
                state.new.is_none().then(|| state.new = Some(who))?;
                At::Granted
            }
            At::Idle | At::Admitted => {
                state.old.is_none().then(|| state.old = Some(who))?;
                if phase == 1 { At::Halfway } else { At::Granted }
            }
            At::Halfway if state.new.is_some() => At::Leaving,
            At::Halfway => {
                state.new = Some(who);
                At::Granted
            }
            At::Granted if self.asks_before || self.admits(state, phase) => At::Inside,
            At::Granted | At::Inside if phase == 1 => {
                state.new = None;
                At::Leaving
            }
            At::Granted | At::Inside if phase == 2 => {
                state.new = None;
                At::Idle
            }
            At::Granted | At::Inside | At::Leaving => {
                state.old = None;
                At::Idle
            }
            At::Dead => return None,
        };
        state.clients[who].at = next;
        Some(())
    }

    /// The operator's rule: nobody of the phase that is shut out is at work, as far as locks show.
    fn may_mark(state: &State, to: u8) -> bool {
        let shut_out = if to > state.lowest {
            state.lowest
        } else {
            to + 2
        };
        let at_work = |client: &Client| !matches!(client.at, At::Idle | At::Admitted | At::Dead);
        let mut clients = state.clients.iter();
        to.abs_diff(state.lowest) == 1 && !clients.any(|it| it.phase == shut_out && at_work(it))
    }
}

impl Model for Fleet {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let idle = |&phase| Client {
            phase,
            at: At::Idle,
        };
        vec![State {
            clients: self.phases.iter().map(idle).collect(),
            old: None,
            new: None,
            lowest: 0,
            deaths: 1,
            starts: self.starts,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for who in 0..state.clients.len() {
            actions.push(Action::Step(who));
            if state.deaths > 0 {
                actions.push(Action::Die(who));
            }
            if state.starts > 0 {
                actions.extend((0..=2).map(|phase| Action::Start(who, phase)));
            }
        }
        actions.extend([Action::OldEnds, Action::NewEnds]);
        if self.starts > 0 {
            actions.extend((0..=2).map(Action::Mark));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let is_dead = |who: Option<usize>| who.is_some_and(|it| last.clients[it].at == At::Dead);
        match action {
            Action::Step(who) => self.step(&mut state, who)?,
            Action::Die(who) => {
                state.clients[who].at = At::Dead;
                state.deaths -= 1;
            }
            Action::OldEnds => is_dead(last.old).then(|| state.old = None)?,
            Action::NewEnds => is_dead(last.new).then(|| state.new = None)?,
            Action::Start(who, phase) => {
                // One that died left its locks to their end: it is another client that starts.
                let client = last.clients[who];
                (client.at == At::Idle && client.phase != phase).then_some(())?;
                state.clients[who].phase = phase;
                state.starts -= 1;
            }
            Action::Mark(to) => Self::may_mark(last, to).then(|| state.lowest = to)?,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("one holder", |_, state| state.inside() <= 1),
            Property::<Self>::sometimes("a holder of each phase", |_, state| {
                state
                    .clients
                    .iter()
                    .any(|it| it.at == At::Inside && it.phase > 0)
            }),
        ]
    }
}

/// How many states there are, and whether two held at once in one of them.
fn check(fleet: Fleet) -> (usize, bool) {
    let checker = fleet.checker().spawn_bfs().join();
    let two = checker.discovery("one holder");
    if let Some(path) = &two {
        println!("two holders: {path}");
    }
    (checker.unique_state_count(), two.is_some())
}

#[test]
fn every_mix_of_neighbours_has_one_holder() {
    for phases in [
        &[0, 0, 0][..],
        &[0, 0, 1],
        &[0, 1, 1],
        &[1, 1, 1],
        &[1, 1, 2],
        &[1, 2, 2],
        &[2, 2, 2],
        &[0, 0, 1, 1],
        &[1, 1, 2, 2],
    ] {
        let (states, two) = check(Fleet::of(phases));
        println!("{phases:?}: {states} states");
        assert!(!two, "{phases:?}");
        assert!(states > 20, "{phases:?} went nowhere");
    }
}

#[test]
fn a_mix_that_skips_the_bridge_has_two() {
    for phases in [&[0, 2][..], &[0, 1, 2], &[0, 0, 2], &[0, 2, 2]] {
        assert!(check(Fleet::of(phases)).1, "{phases:?}");
    }
}

fn rolling() -> Fleet {
    Fleet {
        starts: 6,
        asks: true,
        ..Fleet::of(&[0, 0, 1])
    }
}

#[test]
fn a_fleet_that_asks_the_marker_has_one_holder_however_it_is_started() {
    let (states, two) = check(rolling());
    println!("rolling, forward and back: {states} states");
    assert!(!two);
}

#[test]
fn a_fleet_that_asks_nobody_has_two() {
    assert!(
        check(Fleet {
            asks: false,
            ..rolling()
        })
        .1
    );
}

#[test]
fn a_fleet_that_asks_before_it_takes_has_two() {
    assert!(
        check(Fleet {
            asks_before: true,
            ..rolling()
        })
        .1
    );
}
