//! A server behind a network that fails, a client there, and what it is told.

use std::{fmt, panic::resume_unwind, sync::Arc, thread, time::Duration};

use leasehold::{
    Builder, Client, Lock, Renewal,
    observe::{
        Contended, Granted, Lost, Observer, Reconnected, Released, RenewalFailed, Renewed, Undone,
        Waited,
    },
    strategy::LockStrategy,
};
use parking_lot::Mutex;

use crate::common::{Proxy, Server, eventually};
use crate::ground::{Any, PATIENCE, all, builder, ms};

/// How long a client of these tests waits for an answer.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(200);

/// One server, and a proxy before it.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) proxy: Proxy,
    pub(crate) told: Told,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::of(Server::start())
    }

    pub(crate) fn of(server: Server) -> Self {
        Self {
            proxy: Proxy::of(&server),
            server,
            told: Told::default(),
        }
    }

    /// The settings of a client behind the proxy, whose leases are 20 s and not renewed.
    pub(crate) fn builder(&self) -> Builder {
        builder(self.proxy.url())
            .io_timeout(TIMEOUT)
            .drop_timeout(TIMEOUT)
            .lease(Duration::from_secs(20))
            .renewal(Renewal::Off)
            .observer(self.told.clone())
    }

    pub(crate) fn client(&self, strategy: impl LockStrategy + 'static) -> Client {
        self.builder()
            .strategy(strategy)
            .build()
            .expect("the settings are valid")
    }

    /// A lock of a client whose scripts the server knows.
    pub(crate) fn lock(&self, strategy: impl LockStrategy + 'static) -> Lock {
        let client = self.client(strategy);
        rehearse(&client);
        self.told.forget();
        client.lock("lock").expect("a name")
    }

    /// A client that reaches the same server without the proxy.
    pub(crate) fn neighbour(&self, strategy: impl LockStrategy + 'static) -> Client {
        builder(self.server.socket_url())
            .strategy(strategy)
            .renewal(Renewal::Off)
            .build()
            .expect("the settings are valid")
    }

    /// Every key but those that may outlive a lock: tombstones and fences.
    pub(crate) fn locks(&self) -> Vec<String> {
        locks(&self.server)
    }

    /// The tombstones, and how long each will stand.
    pub(crate) fn tombstones(&self) -> Vec<(String, i64)> {
        let mut ttls = self.server.ttls();
        ttls.retain(|(key, _)| key.contains(":gone:"));
        ttls
    }

    /// How many scripts the server was asked to run.
    pub(crate) fn scripts_run(&self) -> u64 {
        let info: String = self.server.command(&["INFO", "commandstats"]);
        let calls = |line: &str| {
            let (_, rest) = line.split_once(":calls=")?;
            rest.split(',').next()?.parse::<u64>().ok()
        };
        info.lines()
            .filter(|line| line.starts_with("cmdstat_eval"))
            .filter_map(calls)
            .sum()
    }

    /// Has `deliver` bring one more script to the server, and waits until it ran.
    #[track_caller]
    pub(crate) fn runs_one_more(&self, deliver: impl FnOnce()) {
        let before = self.scripts_run();
        deliver();
        eventually(PATIENCE, "what was late is carried out", || {
            self.scripts_run() > before
        });
    }
}

pub(crate) fn locks(server: &Server) -> Vec<String> {
    let mut keys = server.keys();
    keys.retain(|key| !key.contains(":gone:") && !key.ends_with(":fence"));
    keys
}

/// Uses every script once, so that none of the test's own questions meets NOSCRIPT.
pub(crate) fn rehearse(client: &Client) {
    let lock = client.lock("rehearsal").expect("a name");
    let lease = lock.acquire().expect("the server answers");
    lease.extend(ms(20_000)).expect("the server answers");
    lock.holder().expect("the server answers");
    lease.release().expect("the server answers");
}

/// Runs `test` with every strategy that promises what these tests ask for, the ones of one script
/// each, at the same time.
pub(crate) fn each(test: impl Fn(&str, Any) + Sync) {
    let scripted = all()
        .into_iter()
        .filter(|(name, _, _)| !name.starts_with("classic"));
    thread::scope(|scope| {
        let test = &test;
        let tests: Vec<_> = scripted
            .map(|(name, _, strategy)| scope.spawn(move || test(name, strategy)))
            .collect();
        let failed = tests.into_iter().filter_map(|test| test.join().err());
        if let Some(panic) = failed.last() {
            resume_unwind(panic);
        }
    });
}

/// Everything that a client told its observer, in words.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn note(&self, event: &dyn fmt::Debug) {
        self.0.lock().push(format!("{event:?}"));
    }

    fn forget(&self) {
        self.0.lock().clear();
    }

    /// The events of that kind.
    pub(crate) fn of(&self, kind: &str) -> Vec<String> {
        let mut told = self.0.lock().clone();
        told.retain(|event| event.split(' ').next() == Some(kind));
        told
    }
}

impl Observer for Told {
    fn granted(&self, event: &Granted<'_>) {
        self.note(event);
    }
    fn contended(&self, event: &Contended<'_>) {
        self.note(event);
    }
    fn waited(&self, event: &Waited<'_>) {
        self.note(event);
    }
    fn renewed(&self, event: &Renewed<'_>) {
        self.note(event);
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        self.note(event);
    }
    fn lost(&self, event: &Lost<'_>) {
        self.note(event);
    }
    fn released(&self, event: &Released<'_>) {
        self.note(event);
    }
    fn undone(&self, event: &Undone<'_>) {
        self.note(event);
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        self.note(event);
    }
}
