//! `redlock`, with one server.

use std::sync::Arc;

use redlock::RedLock;

use crate::text;
use crate::worker::{Contender, Kind};

/// What its documentation has in its example.
const TTL_MS: usize = 1_000;

pub struct Manager(Arc<RedLock>);

impl Manager {
    pub fn new(url: &str) -> Manager {
        Manager(Arc::new(RedLock::new(vec![url])))
    }
}

impl Kind for Manager {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Holder(Arc::clone(&self.0)))
    }

    fn settings(&self) -> String {
        format!("one server, TTL {TTL_MS} ms as in its example, tries again after 0 to 200 ms")
    }
}

struct Holder(Arc<RedLock>);

impl Contender for Holder {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let guard = self.0.acquire(name.as_bytes(), TTL_MS).map_err(text)?;
        inside();
        drop(guard); // it cannot say what came of it
        Ok(())
    }
}
