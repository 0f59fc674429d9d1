//! What is due, and when: ordered by time, and found by number to be taken out again.

use std::collections::{BTreeMap, HashMap};

use super::{Errand, Task};
use crate::clock::Moment;

#[derive(Debug, Default)]
pub(super) struct Schedule {
    tasks: BTreeMap<(Moment, u64), Task>,
    due: HashMap<u64, Moment>,
    /// When the keeper looks next, if it sleeps.
    wakes: Option<Moment>,
}

impl Schedule {
    /// Adds a task; whether the keeper must be woken for it.
    pub(super) fn add(&mut self, due: Moment, id: u64, task: Task) -> bool {
        self.remove(id);
        self.tasks.insert((due, id), task);
        self.due.insert(id, due);
        self.wakes.is_none_or(|wakes| due < wakes)
    }

    pub(super) fn remove(&mut self, id: u64) {
        if let Some(due) = self.due.remove(&id) {
            self.tasks.remove(&(due, id));
        }
    }

    /// Takes out what is due at `now`, the longest due first, at most `most`.
    pub(super) fn take_due(&mut self, now: Moment, most: usize) -> Vec<(u64, Task)> {
        self.wakes = None;
        let mut taken = Vec::new();
        while taken.len() < most {
            match self.tasks.first_entry() {
                Some(first) if first.key().0 <= now => {
                    let ((_, id), task) = first.remove_entry();
                    self.due.remove(&id);
                    taken.push((id, task));
                }
                _ => break,
            }
        }
        taken
    }

    /// Takes out every errand.
    pub(super) fn take_errands(&mut self) -> Vec<Errand> {
        let tasks = std::mem::take(&mut self.tasks);
        let mut errands = Vec::new();
        for (key, task) in tasks {
            match task {
                Task::Leave(errand) => {
                    self.due.remove(&key.1);
                    errands.push(*errand);
                }
                Task::Keep(_) => {
                    self.tasks.insert(key, task);
                }
            }
        }
        errands
    }

    /// Until when the keeper may sleep: `latest`, or less where something is due before.
    pub(super) fn sleep_until(&mut self, latest: Moment) -> Moment {
        let next = self
            .tasks
            .first_key_value()
            .map_or(latest, |((due, _), _)| latest.min(*due));
        self.wakes = Some(next);
        next
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;
    use std::time::Duration;

    use super::*;
    use crate::clock;

    fn task() -> Task {
        Task::Keep(Weak::new())
    }

    fn ids(tasks: &[(u64, Task)]) -> Vec<u64> {
        tasks.iter().map(|(id, _)| *id).collect()
    }

    #[test]
    fn what_is_longest_due_comes_first_and_no_more_than_asked_for() {
        let now = clock::now();
        let mut schedule = Schedule::default();
        for id in 0..5 {
            schedule.add(now + Duration::from_secs(5 - id), id, task());
        }
        let later = now + Duration::from_secs(4);
        assert_eq!(ids(&schedule.take_due(later, 2)), [4, 3]);
        assert_eq!(ids(&schedule.take_due(later, 9)), [2, 1]);
        assert_eq!(ids(&schedule.take_due(later, 9)), []);
        assert!(!schedule.is_empty());
    }

    #[test]
    fn what_was_taken_out_never_comes() {
        let now = clock::now();
        let mut schedule = Schedule::default();
        schedule.add(now, 1, task());
        schedule.remove(1);
        assert!(schedule.is_empty() && schedule.due.is_empty());
    }

    #[test]
    fn only_what_is_due_sooner_wakes_the_keeper() {
        let now = clock::now();
        let second = Duration::from_secs(1);
        let mut schedule = Schedule::default();
        assert_eq!(schedule.sleep_until(now + second * 10), now + second * 10);
        assert!(!schedule.add(now + second * 20, 1, task()));
        assert!(schedule.add(now + second, 2, task()));
        assert_eq!(schedule.sleep_until(now + second * 10), now + second);
    }
}
