//! A reply that a server gives for a while, and what every question of a lock makes of it.

use std::{fmt, panic::resume_unwind, sync::Arc, thread, time::Duration};

use leasehold::{
    Builder, Error, ErrorKind, Loss, Released, Renewal,
    observe::{Lost, Observer, RenewalFailed, Renewed},
};
use parking_lot::Mutex;

use crate::common::{Server, eventually, server::Options};
use crate::ground::{Any, PATIENCE, Recorder, all, builder, ms};

/// What is asked of a server about a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Acquire,
    Extend,
    Leave,
}

/// A reply that a server gives for a while.
pub(crate) struct Trouble {
    /// Of what the text holds one.
    pub(crate) codes: &'static [&'static str],
    /// What the caller is told.
    pub(crate) kind: ErrorKind,
    /// Whether it is worth waiting for its end.
    pub(crate) passes: bool,
    /// Which questions of a strategy get it.
    pub(crate) meets: fn(&str, Question) -> bool,
    /// Whether the server takes its time over it: the last try may find no time for its answer.
    pub(crate) slow: bool,
    pub(crate) options: Options,
    pub(crate) bring: Box<dyn Fn(&Server) + Send + Sync>,
    pub(crate) lift: Box<dyn Fn(&Server) + Send + Sync>,
}

impl Trouble {
    /// A passing reply to every question, brought and lifted by one command each.
    pub(crate) fn by(
        code: &'static str,
        bring: &'static [&'static str],
        lift: &'static [&'static str],
    ) -> Self {
        Self::with(code, command(bring), command(lift))
    }

    pub(crate) fn with(
        code: &'static str,
        bring: impl Fn(&Server) + Send + Sync + 'static,
        lift: impl Fn(&Server) + Send + Sync + 'static,
    ) -> Self {
        Self {
            codes: match code {
                // A plain write is told the one, a script the other.
                "MASTERDOWN" => &["MASTERDOWN", "READONLY"],
                "OOM" => &["OOM"],
                "NOREPLICAS" => &["NOREPLICAS"],
                "MISCONF" => &["MISCONF"],
                "READONLY" => &["READONLY"],
                "BUSY" => &["BUSY"],
                "CLUSTERDOWN" => &["CLUSTERDOWN"],
                "NOPERM" => &["NOPERM"],
                "MOVED" => &["MOVED"],
                "ASK" => &["ASK"],
                "TRYAGAIN" => &["TRYAGAIN"],
                other => panic!("{other} is not known here"),
            },
            kind: ErrorKind::Refused,
            passes: true,
            meets: |_, _| true,
            slow: false,
            options: Server::options(),
            bring: Box::new(bring),
            lift: Box::new(lift),
        }
    }

    /// Shows what every question of every strategy makes of it.
    pub(crate) fn is_met(&self) {
        each(|name, strategy| self.is_met_at(name, &strategy, &self.options.clone().start()));
    }

    /// The same, one strategy after the other.
    pub(crate) fn is_met_in_turn(&self) {
        in_turn(|name, strategy| self.is_met_at(name, &strategy, &self.options.clone().start()));
    }

    /// The same for one strategy at one server.
    pub(crate) fn is_met_at(&self, name: &str, strategy: &Any, server: &Server) {
        if (self.meets)(name, Question::Acquire) {
            if self.passes {
                self.is_waited_for(name, strategy, server);
            }
            self.is_told_to_who_acquires(name, strategy, server);
        }
        if (self.meets)(name, Question::Extend) {
            self.is_outlived_by_renewals(name, strategy, server);
            self.is_told_to_who_extends(name, strategy, server);
            self.ends_a_lease_that_it_outlives(name, strategy, server);
        }
        if (self.meets)(name, Question::Leave) {
            self.is_told_to_who_releases(name, strategy, server);
        }
    }

    #[track_caller]
    fn is_told(&self, name: &str, error: &Error) {
        if self.slow && error.is_unknown() {
            return;
        }
        assert_eq!(error.kind(), self.kind, "{name}: {error}");
        assert!(self.names(&error.to_string()), "{name}: {error}");
        assert_eq!(error.is_passing(), self.passes, "{name}: {error}");
    }

    fn names(&self, text: &str) -> bool {
        self.codes.iter().any(|code| text.contains(code))
    }

    /// Who waits is granted once it has passed.
    fn is_waited_for(&self, name: &str, strategy: &Any, server: &Server) {
        let strategy = Recorder::of(strategy.clone());
        let client = settings(server).strategy(strategy.clone()).build().unwrap();
        let lock = client.lock("lock").unwrap();
        (self.bring)(server);
        let lease = thread::scope(|scope| {
            let waiting = scope.spawn(|| lock.acquire_within(PATIENCE));
            eventually(PATIENCE, "it has tried", || strategy.tries() >= 3);
            (self.lift)(server);
            let waited = waiting.join().expect("nobody panics");
            waited.unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    }

    /// Who has waited long enough is told the reply, and holds nothing.
    fn is_told_to_who_acquires(&self, name: &str, strategy: &Any, server: &Server) {
        let client = settings(server).strategy(strategy.clone()).build().unwrap();
        let lock = client.lock("lock").unwrap();
        (self.bring)(server);
        let told = [
            lock.try_acquire().map(drop),
            lock.acquire_within(ms(80)).map(drop),
        ];
        (self.lift)(server);
        for told in told {
            self.is_told(name, &told.expect_err("it was granted nevertheless"));
        }
        eventually(PATIENCE, "nothing is held", || locks(server).is_empty());
        let lease = lock.acquire().unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    }

    /// A renewal is tried again, and the lease lives where it passes in time.
    fn is_outlived_by_renewals(&self, name: &str, strategy: &Any, server: &Server) {
        let told = Told::default();
        let client = settings(server)
            .strategy(strategy.clone())
            .observer(told.clone());
        let client = client
            .lease(Duration::from_secs(20))
            .renewal(Renewal::Every(ms(60)));
        let lease = client
            .build()
            .unwrap()
            .lock("lock")
            .unwrap()
            .acquire()
            .unwrap();
        (self.bring)(server);
        eventually(PATIENCE, "a renewal is told", || {
            told.failures().iter().any(|reason| self.names(reason))
        });
        (self.lift)(server);
        let renewed = told.renewals();
        eventually(PATIENCE, "the next renewal is not", || {
            told.renewals() > renewed
        });
        lease
            .check()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(told.losses(), 0, "{name}");
    }

    /// A lease that cannot be renewed ends when it would have, and not before.
    fn ends_a_lease_that_it_outlives(&self, name: &str, strategy: &Any, server: &Server) {
        let client = settings(server).strategy(strategy.clone()).lease(ms(1_200));
        let client = client.renewal(Renewal::Every(ms(60))).build().unwrap();
        let lease = client.lock("lock").unwrap().acquire().unwrap();
        let (tell, lost) = std::sync::mpsc::channel();
        lease.on_lost(move |loss| tell.send(loss).expect("it is waited for"));
        (self.bring)(server);
        assert!(lease.is_held(), "{name}: it was lost at once");
        let loss = lost.recv_timeout(PATIENCE).expect("it ends");
        assert_eq!(loss, Loss::Unreachable, "{name}");
        (self.lift)(server);
        assert!(lease.check().unwrap_err().is_lost(), "{name}");
        drop(lease);
        // A classic stamp that has passed is left where it is: that is the algorithm.
        eventually(PATIENCE, "its end has come at the server", || {
            name.starts_with("classic") || locks(server).is_empty()
        });
    }

    /// Who extends is told the reply, and the old end stays.
    fn is_told_to_who_extends(&self, name: &str, strategy: &Any, server: &Server) {
        let client = settings(server).strategy(strategy.clone()).wait(ms(80));
        let lease = client
            .build()
            .unwrap()
            .lock("lock")
            .unwrap()
            .acquire()
            .unwrap();
        let before = lease.remaining();
        (self.bring)(server);
        let error = lease.extend(Duration::from_secs(50)).unwrap_err();
        let (held, after) = (lease.is_held(), lease.remaining());
        (self.lift)(server);
        self.is_told(name, &error);
        assert!(held && after <= before, "{name}: {after:?} of {before:?}");
        eventually(PATIENCE, "it can be extended", || {
            lease.extend(Duration::from_secs(50)).is_ok()
        });
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    }

    /// Who releases is told the reply; and the lock is free soon after that has passed.
    fn is_told_to_who_releases(&self, name: &str, strategy: &Any, server: &Server) {
        let client = settings(server).strategy(strategy.clone()).wait(ms(80));
        let client = client.build().unwrap();
        let lease = client.lock("lock").unwrap().acquire().unwrap();
        (self.bring)(server);
        let result = lease.release();
        (self.lift)(server);
        let error = result.expect_err("it is no success");
        self.is_told(name, &error);
        eventually(PATIENCE, "it is released", || locks(server).is_empty());
    }
}

/// Does one command, once for each server.
pub(crate) fn command(words: &'static [&'static str]) -> impl Fn(&Server) + Send + Sync {
    |server| {
        let _: redis::Value = server.command(words);
    }
}

/// The settings of a client whose leases are not renewed.
pub(crate) fn settings(server: &Server) -> Builder {
    builder(server.url())
        .io_timeout(ms(600))
        .renewal(Renewal::Off)
        .lease(Duration::from_secs(20))
}

/// Every key but tombstones and fences.
pub(crate) fn locks(server: &Server) -> Vec<String> {
    let mut keys = server.keys();
    keys.retain(|key| !key.contains(":gone:") && !key.ends_with(":fence") && key.contains("lock"));
    keys
}

/// Runs `test` with every strategy at the same time.
pub(crate) fn each(test: impl Fn(&str, Any) + Sync) {
    thread::scope(|scope| {
        let test = &test;
        let tests = all().map(|(name, _, strategy)| scope.spawn(move || test(name, strategy)));
        let failed = tests.into_iter().filter_map(|test| test.join().err());
        if let Some(panic) = failed.last() {
            resume_unwind(panic);
        }
    });
}

/// Runs `test` with one strategy after the other.
pub(crate) fn in_turn(test: impl Fn(&str, Any)) {
    for (name, _, strategy) in all() {
        test(name, strategy);
    }
}

/// What an observer was told of renewals.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Renewals>>);

#[derive(Debug, Default)]
struct Renewals {
    failures: Vec<String>,
    renewed: usize,
    lost: usize,
}

impl Told {
    pub(crate) fn failures(&self) -> Vec<String> {
        self.0.lock().failures.clone()
    }

    pub(crate) fn renewals(&self) -> usize {
        self.0.lock().renewed
    }

    pub(crate) fn losses(&self) -> usize {
        self.0.lock().lost
    }
}

impl Observer for Told {
    fn renewed(&self, _: &Renewed<'_>) {
        self.0.lock().renewed += 1;
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        self.0.lock().failures.push(event.reason.to_string());
    }
    fn lost(&self, _: &Lost<'_>) {
        self.0.lock().lost += 1;
    }
}

impl fmt::Debug for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trouble")
            .field("codes", &self.codes)
            .finish_non_exhaustive()
    }
}
