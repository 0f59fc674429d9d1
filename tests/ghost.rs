//! No ghost: an acquisition that ended unknown leaves no lock that nobody holds.
//!
//! Hundreds of acquisitions whose answer does not come in time, in every way that makes a lock
//! without a holder where one measure is left out; and the same without each of the measures, to
//! show that these ways find it out. `LEASEHOLD_SEED` repeats the times of a run.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;
#[path = "ghost/mutant.rs"]
mod mutant;

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, scope},
    time::Duration,
};

use common::{Message, Proxy, Server, faults::Held};
use fastrand::Rng;
use ground::{Any, PATIENCE, builder, instant, ms, rounds};
use leasehold::{
    Client, Lease, Renewal,
    strategy::{Dialect, LockStrategy, Reentrant, Timestamp, Token},
};
use mutant::{Left, Mutant};

/// How long a client waits for an answer, and for an undo.
const TIMEOUT: Duration = Duration::from_millis(40);

/// Long enough that no ghost ends by itself within a test.
const LEASE: Duration = Duration::from_secs(60);

/// How many acquisitions one client makes.
const BATCH: u32 = 24;

/// How many batches go on at once: they mostly wait.
const AT_ONCE: u32 = 4;

/// Why the answer does not come in time.
#[derive(Debug, Clone, Copy)]
enum Hazard {
    /// It is late.
    Late,
    /// The server stands still, for some time.
    Frozen,
    /// It does not come, and the server does not know the script of the undo.
    Forgotten,
    /// The question comes after its undo, when nobody is there any more.
    Overtaken,
}

const HAZARDS: [Hazard; 4] = [
    Hazard::Late,
    Hazard::Frozen,
    Hazard::Forgotten,
    Hazard::Overtaken,
];

#[test]
fn no_token_is_left_that_nobody_holds() {
    no_ghost(&Any::of(Token::default()));
}

#[test]
fn no_hash_is_left_that_nobody_holds() {
    no_ghost(&Any::of(Reentrant::default()));
}

#[test]
fn no_stamp_is_left_that_nobody_holds() {
    no_ghost(&stamps());
}

#[test]
fn an_undo_by_sha_would_leave_ghosts() {
    ghosts_without(Left::Source);
}

#[test]
fn an_undo_without_a_tombstone_would_leave_ghosts() {
    ghosts_without(Left::Tombstone);
}

#[test]
fn no_undo_would_leave_ghosts() {
    ghosts_without(Left::Undo);
}

fn stamps() -> Any {
    Any::of(Timestamp::guarded(Dialect::seconds(), LEASE))
}

fn no_ghost(strategy: &Any) {
    let batches = rounds(60, 1_000).div_ceil(BATCH);
    let seed = seed();
    scope(|scope| {
        for first in 0..AT_ONCE.min(batches) {
            scope.spawn(move || {
                for batch in (first..batches).step_by(AT_ONCE as usize) {
                    let seed = seed + u64::from(batch);
                    let ghosts = run(strategy, strategy.clone(), seed, PATIENCE);
                    assert_eq!(ghosts, [""; 0], "{strategy:?} of LEASEHOLD_SEED={seed}");
                }
            });
        }
    });
}

/// Shows that the hazards find out what is missing.
fn ghosts_without(what: Left) {
    let seed = seed();
    let strategies = [
        Any::of(Token::default()),
        Any::of(Reentrant::default()),
        stamps(),
    ];
    scope(|scope| {
        for strategy in strategies {
            scope.spawn(move || {
                let shown = format!("{strategy:?}");
                let mutant = Mutant::of(strategy.clone(), what);
                let ghosts = run(&strategy, mutant, seed, ms(300));
                println!(
                    "{shown} without its {what:?}: {} keys are left",
                    ghosts.len()
                );
                assert!(!ghosts.is_empty(), "{shown} does not need its {what:?}");
            });
        }
    });
}

/// One batch of acquisitions by one client at one server, by `strategy`, which is `sound` or should
/// be; the locks that are left when nobody holds any.
fn run(
    sound: &Any,
    strategy: impl LockStrategy + 'static,
    seed: u64,
    patience: Duration,
) -> Vec<String> {
    let mut rng = Rng::with_seed(seed);
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let client = builder(proxy.url())
        .strategy(strategy)
        .lease(LEASE)
        .renewal(Renewal::Off)
        .io_timeout(TIMEOUT)
        .drop_timeout(TIMEOUT)
        .build()
        .expect("the settings are valid");
    let mut overtaken = Vec::new();
    let mut hazards: Vec<_> = HAZARDS.into_iter().cycle().take(BATCH as usize).collect();
    rng.shuffle(&mut hazards);
    hazards.extend([Hazard::Forgotten; 2]); // nothing is released after them: it stays forgotten
    for (number, hazard) in hazards.into_iter().enumerate() {
        let name = format!("ghost-{number}");
        match hazard {
            Hazard::Late => late(&proxy, &client, &name, &mut rng),
            Hazard::Frozen => frozen(&server, &client, &name, &mut rng),
            Hazard::Forgotten => forgotten(&server, &proxy, &client, &name),
            Hazard::Overtaken => {
                let question = overtake(&proxy, &client, &name);
                overtaken.extend(question.map(|question| (question, name)));
            }
        }
        proxy.heal();
    }
    // As long as the client lives it goes on undoing. Then it is gone, and the questions come.
    let begun = instant();
    while !is_settled(&server, &overtaken) && begun.elapsed() < patience {
        pause(ms(2));
    }
    drop(client);
    know_scripts(&server, sound.clone());
    let late: Vec<_> = overtaken
        .into_iter()
        .map(|(question, _)| question)
        .collect();
    deliver(&server, late);
    for (key, ttl) in server.ttls() {
        assert!(ttl >= 0, "{key} is left for ever");
    }
    locks(&server)
}

/// The answer comes, but later than anybody waits for it.
fn late(proxy: &Proxy, client: &Client, name: &str, rng: &mut Rng) {
    let by = TIMEOUT + ms(rng.u64(1..=60));
    proxy.replies().of("EVALSHA").late(by);
    leave(try_once(client, name));
}

/// The server stands still from some time before the question to some time after it.
fn frozen(server: &Server, client: &Client, name: &str, rng: &mut Rng) {
    let freeze = ms(rng.u64(0..=2));
    let thaw = ms(rng.u64(1..=120));
    scope(|scope| {
        let trying = scope.spawn(|| leave(try_once(client, name)));
        pause(freeze);
        server.freeze();
        pause(thaw);
        server.thaw();
        trying.join().expect("nobody panics");
    });
}

/// The lock is granted unheard to a question by source, and the server knows no other script.
fn forgotten(server: &Server, proxy: &Proxy, client: &Client, name: &str) {
    let _: String = server.command(&["SCRIPT", "FLUSH", "SYNC"]);
    proxy
        .requests()
        .of("EVAL")
        .matching(about(name))
        .cut_after();
    leave(try_once(client, name));
}

/// The question is on its way until it is delivered; the undo behind it is lost, and the one on
/// another connection is not. `None` where there was no connection to ask it on.
fn overtake(proxy: &Proxy, client: &Client, name: &str) -> Option<Held> {
    let asked = Arc::new(AtomicBool::new(false));
    let is_about = about(name);
    let noted = Arc::clone(&asked);
    let question = proxy.requests().of("EVALSHA").matching(move |message| {
        noted.fetch_or(is_about(message), Ordering::SeqCst);
        is_about(message)
    });
    let question = question.held();
    proxy.requests().of("EVAL").matching(about(name)).lost();
    leave(try_once(client, name));
    asked.load(Ordering::SeqCst).then_some(question)
}

/// Whether a request is about the lock of that name, and not what the keeper still has to do.
fn about(name: &str) -> impl Fn(&Message) -> bool + Send + use<> {
    let name = name.to_owned();
    move |message| message.words.contains(&name)
}

fn try_once(client: &Client, name: &str) -> Option<Lease> {
    let lock = client.lock(name).expect("a name");
    lock.try_acquire().ok().flatten()
}

/// Leaves what was granted in time after all; what comes of it is the keeper's to see to.
fn leave(lease: Option<Lease>) {
    if let Some(lease) = lease {
        let _ = lease.release();
    }
}

/// Whether nothing is held, and every question that is still on its way will be refused.
fn is_settled(server: &Server, overtaken: &[(Held, String)]) -> bool {
    let keys = server.keys();
    let is_refused = |name: &str| {
        keys.iter()
            .any(|key| key.starts_with(&format!("{{{name}}}:gone:")))
    };
    locks(server).is_empty() && overtaken.iter().all(|(_, name)| is_refused(name))
}

/// Has the server know the scripts: a question by the SHA of one it does not know does nothing.
fn know_scripts(server: &Server, strategy: Any) {
    let client = builder(server.url())
        .strategy(strategy)
        .renewal(Renewal::Off);
    let client = client.build().expect("the settings are valid");
    let lock = client.lock("known").expect("a name");
    lock.with(|_| ()).expect("the server answers");
}

/// Delivers questions when nobody waits for their answers, and waits until they were answered.
fn deliver(server: &Server, questions: Vec<Held>) {
    let asked = |server: &Server| -> u64 {
        let info: String = server.command(&["INFO", "commandstats"]);
        let calls = info
            .lines()
            .find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
        let calls = calls.and_then(|calls| calls.split(',').next()?.parse().ok());
        calls.unwrap_or_default()
    };
    for question in questions {
        let before = asked(server);
        question.deliver();
        common::eventually(PATIENCE, "the late question is asked", || {
            asked(server) > before
        });
    }
}

fn locks(server: &Server) -> Vec<String> {
    let mut keys = server.keys();
    keys.retain(|key| !key.contains(":gone:"));
    keys
}

fn seed() -> u64 {
    let seed = env::var("LEASEHOLD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    println!("LEASEHOLD_SEED={seed}");
    seed
}

#[allow(
    clippy::disallowed_methods,
    reason = "a fault lasts for a time, and none of the crate's"
)]
fn pause(time: Duration) {
    thread::sleep(time);
}
