//! Everything that a client holds, in one place.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Held;
use crate::loss::Loss;
use crate::name::{Name, Owner};

/// Everything that a client holds.
#[derive(Debug, Default)]
pub(crate) struct Holdings(Mutex<HashMap<(Name, Owner), Arc<Held>>>);

impl Holdings {
    pub(crate) fn find(&self, name: &Name, owner: &Owner) -> Option<Arc<Held>> {
        self.0.lock().get(&(name.clone(), *owner)).cloned()
    }

    /// Adds a hold; one that the same owner had of the same name is lost.
    pub(crate) fn add(&self, held: &Arc<Held>) {
        let key = (held.name.clone(), held.owner);
        let before = self.0.lock().insert(key, Arc::clone(held));
        if let Some(before) = before {
            before.lose(Loss::Deleted);
        }
    }

    /// Whether `held` is what its owner holds, and no later hold took its place.
    pub(crate) fn contains(&self, held: &Arc<Held>) -> bool {
        self.find(&held.name, &held.owner)
            .is_some_and(|current| Arc::ptr_eq(&current, held))
    }

    pub(crate) fn remove(&self, held: &Arc<Held>) {
        let mut holdings = self.0.lock();
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
        self.0.lock().drain().map(|(_, held)| held).collect()
    }
}
