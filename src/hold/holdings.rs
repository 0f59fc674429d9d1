//! Everything that a client holds, in one place.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::Held;
use crate::clock::Moment;
use crate::loss::Loss;
use crate::name::{Name, Owner};

type Key = (Name, Owner);

/// Everything that a client holds.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    held: Mutex<HashMap<Key, Arc<Held>>>,
    entering: Mutex<HashSet<Key>>,
    entered: Condvar,
}

/// The entry of one who acquires as an owner that others may be as well.
#[derive(Debug)]
pub(crate) struct Entry<'a>(&'a Holdings, Key);

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.0.entering.lock().remove(&self.1);
        self.0.entered.notify_all();
    }
}

impl Holdings {
    /// Enters as one who acquires, alone among those who are the same owner: the second finds
    /// what the first was given. Waits until `until` at the latest.
    pub(crate) fn enter(&self, name: &Name, owner: &Owner, until: Moment) -> Option<Entry<'_>> {
        let key = (name.clone(), *owner);
        let mut entering = self.entering.lock();
        while !entering.insert(key.clone()) {
            let left = until.remaining();
            if left.is_zero() {
                return None;
            }
            self.entered.wait_for(&mut entering, left);
        }
        Some(Entry(self, key))
    }

    pub(crate) fn find(&self, name: &Name, owner: &Owner) -> Option<Arc<Held>> {
        self.held.lock().get(&(name.clone(), *owner)).cloned()
    }

    /// Adds a hold; one that the same owner had of the same name is lost.
    pub(crate) fn add(&self, held: &Arc<Held>) {
        let key = (held.name.clone(), held.owner);
        let before = self.held.lock().insert(key, Arc::clone(held));
        if let Some(before) = before {
            before.lose(Loss::Deleted);
        }
    }

    pub(crate) fn remove(&self, held: &Arc<Held>) {
        let mut holdings = self.held.lock();
        let key = (held.name.clone(), held.owner);
        if holdings
            .get(&key)
            .is_some_and(|current| Arc::ptr_eq(current, held))
        {
            holdings.remove(&key);
        }
    }

    /// Takes everything out.
    pub(crate) fn drain(&self) -> Vec<Arc<Held>> {
        self.held.lock().drain().map(|(_, held)| held).collect()
    }
}
