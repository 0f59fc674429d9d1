//! What is left after many lives of locks in a world that fails at random: nothing.
//!
//! One test alone: it counts the threads and the descriptors of this process. `LEASEHOLD_SEED`
//! repeats the order of the faults, though not what each of them hits.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{
    collections::BTreeMap,
    env, fs,
    net::{Ipv4Addr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::Duration,
};

use common::{Proxy, Server, eventually, proxy::Target};
use fastrand::Rng;
use ground::{Any, PATIENCE, builder, instant, ms, rounds};
use leasehold::{
    Client, Lock, Released, Renewal,
    strategy::{Dialect, Reentrant, Timestamp, Token},
};

const THREADS: u32 = 8;
const POOL: u32 = 4;
const LEASE: Duration = Duration::from_millis(600);
/// How soon after its client a thread must have ended.
const SOON: Duration = Duration::from_secs(5);

/// For how long the keys of a stamp outlive it, as a clean-up.
const GRACE: i64 = 61_000;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A client's connections: its pool, the one kept back for releases, the keeper's, and one fresh
/// one for the undo of each thread.
const CONNECTIONS: usize = (POOL + 1 + 1 + THREADS) as usize;

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_thousand_lives_leave_nothing_behind() {
    silence_expected_panics();
    let seed = seed();
    let mut server = Server::options().tcp().start();
    let _ = server.keys();
    let before = Counts {
        threads: threads().len(),
        descriptors: descriptors().len(),
    };
    let lives = rounds(3_000, 100_000);
    for (number, strategy) in [
        Any::of(Token::default()),
        Any::of(Reentrant::default()),
        Any::of(Timestamp::guarded(Dialect::java_millis(), LEASE)),
    ]
    .into_iter()
    .enumerate()
    {
        let rng = Rng::with_seed(seed + number as u64);
        many_lives(&mut server, &strategy, lives / 3, rng);
        ends_with_the_client("threads", before.threads, threads);
        ends_with_the_client("descriptors", before.descriptors, descriptors);
        eventually(PATIENCE, "its connections are closed", || {
            server.connected_clients() == 0
        });
    }
    println!("{lives} lives; threads and descriptors {before:?} before and after");
}

/// So many lives of locks, by several threads, of one client, at a server that has a hard time.
fn many_lives(server: &mut Server, strategy: &Any, lives: u32, mut rng: Rng) {
    let port = server.port().expect("it listens by TCP");
    let proxy = Proxy::to(Target::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    let client = builder(proxy.url())
        .strategy(strategy.clone())
        .pool_size(POOL)
        .lease(LEASE)
        .wait(ms(60))
        .io_timeout(ms(50))
        .drop_timeout(ms(50))
        .build()
        .expect("the settings are valid");
    let (left, done) = (AtomicU32::new(lives), AtomicBool::new(false));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|_| {
                let (client, left, mut rng) = (&client, &left, rng.fork());
                let countdown = |left: u32| left.checked_sub(1);
                scope.spawn(move || {
                    while left
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, countdown)
                        .is_ok()
                    {
                        live(client, &mut rng);
                    }
                })
            })
            .collect();
        let faults = scope.spawn(|| {
            let mut faults = BTreeMap::new();
            while !done.load(Ordering::Relaxed) {
                *faults.entry(trouble(server, &proxy, &mut rng)).or_insert(0) += 1;
                everything_has_an_end(server, strategy);
            }
            println!("{strategy:?}: {faults:?}");
        });
        for worker in workers {
            worker
                .join()
                .expect("no life panics but where it is meant to");
        }
        done.store(true, Ordering::Relaxed);
        faults.join().expect("faults can be made");
    });
    proxy.heal();
    assert!(
        server.connected_clients() <= CONNECTIONS,
        "{} connections",
        server.connected_clients()
    );
    every_lease_has_ended(server, strategy);
    for name in NAMES {
        let lock = client
            .lock(name)
            .expect("a name")
            .wait(PATIENCE)
            .expect("a wait");
        let lease = lock.acquire().expect("the server is well again");
        assert_eq!(lease.release().expect("and answers"), Released::Freed);
    }
    nothing_is_left(server, strategy);
}

/// One life of a lock, to one of its ends.
fn live(client: &Client, rng: &mut Rng) {
    let lock = client
        .lock(rng.choice(NAMES).expect("there are some"))
        .expect("a name");
    match rng.u8(..12) {
        0..3 => {
            if let Ok(lease) = lock.acquire() {
                let _ = lease.release();
            }
        }
        3..5 => drop(lock.acquire()),
        5..7 => drop(lock.try_acquire()),
        7 => panics(&lock),
        8 => drop(lock.with(|lease| drop(lease.extend(LEASE)))),
        9 => drop(lock.renewal(Renewal::Off).expect("it may be off").acquire()),
        10 => {
            // The owner re-enters, where that is possible, and leaves in the wrong order.
            let outer = lock.thread().acquire();
            let inner = lock.thread().try_acquire();
            drop(outer);
            drop(inner);
        }
        _ => {
            if let Ok(lease) = lock.acquire() {
                pause(ms(rng.u64(..30)));
                let _ = lease.commit(|| ());
                lease.on_lost(|_| ());
            }
        }
    }
}

/// A life that ends by a panic of the one who holds.
fn panics(lock: &Lock) {
    let ends = AssertUnwindSafe(|| {
        let _lease = lock.acquire();
        std::panic::resume_unwind(Box::new("meant to"));
    });
    assert!(catch_unwind(ends).is_err());
}

/// One fault; its name.
fn trouble(server: &mut Server, proxy: &Proxy, rng: &mut Rng) -> &'static str {
    pause(ms(rng.u64(1..20)));
    let bring = |server: &Server, words: &[&str]| {
        let _: redis::Value = server.command(words);
    };
    match rng.u8(..24) {
        0..3 => {
            proxy.replies().lost();
            "reply lost"
        }
        3..6 => {
            proxy.replies().late(ms(rng.u64(1..150)));
            "reply late"
        }
        6..9 => {
            proxy.requests().late(ms(rng.u64(1..150)));
            "request late"
        }
        9..11 => {
            proxy.requests().cut_before();
            "cut before"
        }
        11..13 => {
            proxy.requests().cut_after();
            "cut after"
        }
        13..15 => {
            proxy.requests().cut_within(rng.usize(1..60));
            "cut within"
        }
        15 => {
            proxy.cut();
            "all cut"
        }
        16..19 => {
            bring(server, &["CLIENT", "KILL", "TYPE", "normal"]);
            "clients killed"
        }
        19..22 => {
            bring(server, &["SCRIPT", "FLUSH"]);
            "scripts flushed"
        }
        22 => {
            server.freeze();
            pause(ms(rng.u64(1..120)));
            server.thaw();
            "frozen"
        }
        _ => {
            server.restart();
            "killed and restarted"
        }
    }
}

/// Waits until nobody holds anything any more, though nobody releases.
fn every_lease_has_ended(server: &Server, strategy: &Any) {
    let observer = builder(server.url())
        .strategy(strategy.clone())
        .lease(LEASE);
    let observer = observer.build().expect("the settings are valid");
    for name in NAMES {
        let lock = observer.lock(name).expect("a name");
        eventually(PATIENCE, "a lease has ended", || {
            !lock.is_locked().expect("the server answers")
        });
    }
    everything_has_an_end(server, strategy);
}

fn everything_has_an_end(server: &Server, strategy: &Any) {
    for (key, ttl) in server.ttls() {
        assert!(ttl != -1, "{strategy:?}: {key} stands for ever");
        assert!(ttl <= GRACE, "{strategy:?}: {key} stands for {ttl} ms");
    }
}

/// Waits until the last tombstone has gone, and so whatever might bring something back.
fn nothing_is_left(server: &Server, strategy: &Any) {
    eventually(PATIENCE, "no tombstone stands", || {
        let keys = server.keys();
        assert!(
            !keys.iter().any(|key| is_lock(key)),
            "{strategy:?}: {keys:?} are left or back"
        );
        keys.is_empty()
    });
}

fn is_lock(key: &str) -> bool {
    !key.contains(":gone:")
}

/// How many of each this process had at the beginning.
#[derive(Debug, Clone, Copy)]
struct Counts {
    threads: usize,
    descriptors: usize,
}

/// The threads of this process, by their names.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let name = |task: std::io::Result<fs::DirEntry>| {
        fs::read_to_string(task.ok()?.path().join("comm")).ok()
    };
    tasks
        .filter_map(name)
        .map(|name| name.trim().to_owned())
        .collect()
}

/// The descriptors of this process, by what they lead to.
fn descriptors() -> Vec<String> {
    let open = fs::read_dir("/proc/self/fd").expect("this is Linux");
    let target = |open: std::io::Result<fs::DirEntry>| fs::read_link(open.ok()?.path()).ok();
    open.filter_map(target)
        .map(|target| target.display().to_string())
        .collect()
}

/// Waits until there are no more than before.
#[track_caller]
fn ends_with_the_client(what: &str, before: usize, list: fn() -> Vec<String>) {
    let begun = instant();
    while list().len() > before {
        assert!(
            begun.elapsed() < SOON,
            "{what}, of which there were {before}: {:?}",
            list()
        );
        pause(ms(1));
    }
}

/// Panics that are meant to happen are not printed.
fn silence_expected_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload().downcast_ref::<&str>() != Some(&"meant to") {
            print(panic);
        }
    }));
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
