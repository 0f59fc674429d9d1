//! `rlock`, by its blocking interface.

use std::time::Duration;

use rlock::AcquireOptions;
use rlock::sync_lock::RLock;

use crate::text;
use crate::worker::{Contender, Kind};

/// Long enough that nobody's wait runs out.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// One for the process, as its documentation has it.
pub struct Manager {
    rlock: RLock,
    options: AcquireOptions,
    timeout: Option<Duration>,
}

impl Manager {
    pub fn new(url: &str, timeout: Option<Duration>) -> Manager {
        let options = match timeout {
            None => AcquireOptions::default(),
            timeout => AcquireOptions::builder()
                .lock_timeout(timeout)
                .build()
                .expect("the options are valid"),
        };
        Manager {
            rlock: RLock::new(url).expect("the url is one"),
            options,
            timeout,
        }
    }
}

impl Kind for Manager {
    fn contender(&self) -> Box<dyn Contender> {
        Box::new(Holder(self.rlock.clone(), self.options.clone()))
    }

    fn settings(&self) -> String {
        let wait = match self.timeout {
            None => "no time-out".to_owned(),
            Some(timeout) => format!("lock_timeout {timeout:?}, which takes a thread each"),
        };
        format!("its defaults: 10 s TTL, renewed at half of it, polls every 100 ms; {wait}")
    }
}

struct Holder(RLock, AcquireOptions);

impl Contender for Holder {
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String> {
        let guard = self.0.acquire_mutex_with_options(name, self.1.clone());
        let mut guard = guard.map_err(text)?;
        inside();
        guard.release().map_err(text)
    }
}
