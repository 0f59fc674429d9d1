//! Five servers that are killed, frozen, cut off and restarted empty, at random: there are never two
//! holders at once.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::Duration,
};

use leasehold::{Client, Lease};
use parking_lot::Mutex;

use crate::{
    common::{Proxy, Server, eventually},
    ground::{PATIENCE, ms, redlock, rounds},
};

/// Numbers that look random, and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// Everybody who holds the lock, as far as he knows.
#[derive(Default)]
struct Holders(Mutex<Vec<(usize, std::sync::Arc<Lease>)>>);

impl Holders {
    /// Enters; looks whether somebody else believes to hold it too.
    fn enter(&self, who: usize, lease: Lease) -> std::sync::Arc<Lease> {
        let lease = std::sync::Arc::new(lease);
        let mut inside = self.0.lock();
        let other = inside.iter().find(|(_, other)| other.is_held());
        if let Some((other, held)) = other.filter(|_| lease.is_held()) {
            // What is left here is looked at last: if it is something, both held it just now.
            let left = held.remaining();
            assert!(
                left.is_zero(),
                "{who} and {other} hold it, for {left:?} still"
            );
        }
        inside.push((who, std::sync::Arc::clone(&lease)));
        lease
    }

    fn leave(&self, lease: std::sync::Arc<Lease>) {
        self.0
            .lock()
            .retain(|(_, other)| !std::sync::Arc::ptr_eq(other, &lease));
        let lease = std::sync::Arc::into_inner(lease).expect("nobody else has it");
        let _ = lease.release(); // it may be lost: that is what this is about
    }
}

fn seed() -> u64 {
    let given = std::env::var("LEASEHOLD_SEED").ok();
    let given = given.and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| RandomState::new().hash_one("a new one"))
}

fn client(proxies: &[Proxy]) -> Client {
    redlock(proxies.iter().map(Proxy::url))
        .lease(ms(500))
        .quarantine(ms(500))
        .io_timeout(ms(60))
        .connect_timeout(ms(60))
        .build()
        .unwrap()
}

#[test]
fn no_two_hold_it_whatever_befalls_the_servers() {
    let seed = seed();
    println!("LEASEHOLD_SEED={seed}");
    let mut dice = Dice(seed);
    let mut servers: Vec<_> = (0..5).map(|_| Server::start()).collect();
    let proxies: Vec<_> = servers.iter().map(Proxy::of).collect();
    let (holders, over) = (Holders::default(), AtomicBool::new(false));
    let grants = AtomicU32::new(0);
    let faults = rounds(20, 200);
    thread::scope(|scope| {
        for who in 0..4 {
            let (client, holders, over, grants) = (client(&proxies), &holders, &over, &grants);
            scope.spawn(move || {
                let lock = client.lock("lock").unwrap();
                while !over.load(Ordering::Relaxed) {
                    let Ok(lease) = lock.acquire_within(ms(300)) else {
                        continue;
                    };
                    let lease = holders.enter(who, lease);
                    grants.fetch_add(1, Ordering::Relaxed);
                    thread::yield_now();
                    holders.leave(lease);
                }
            });
        }
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..faults {
                let before = grants.load(Ordering::Relaxed);
                eventually(
                    PATIENCE,
                    "somebody is granted it between two faults",
                    || grants.load(Ordering::Relaxed) > before,
                );
                befall(&mut servers, &proxies, &mut dice);
            }
        }));
        over.store(true, Ordering::Relaxed);
        passed.expect("the run goes on");
    });
    let grants = grants.into_inner();
    println!("{grants} grants, {faults} faults");
    assert!(grants >= faults);
}

/// One or two servers are killed and come back empty, are frozen for longer than a lease or for
/// less, or are cut off for a while.
fn befall(servers: &mut [Server], proxies: &[Proxy], dice: &mut Dice) {
    let first = usize::try_from(dice.below(5)).unwrap();
    let second = usize::try_from(dice.below(5)).unwrap();
    let pause = Duration::from_millis(20 + dice.below(600));
    for victim in [first, second] {
        match dice.below(4) {
            0 => {
                servers[victim].kill();
                servers[victim].restart();
            }
            1 => {
                servers[victim].freeze();
                wait(pause);
                servers[victim].thaw();
            }
            2 => {
                proxies[victim].blackhole();
                wait(pause);
                proxies[victim].heal();
                proxies[victim].cut();
            }
            _ => proxies[victim].cut(),
        }
    }
}

/// A fault lasts for a time, and for nothing else.
fn wait(pause: Duration) {
    let then = crate::ground::instant() + pause;
    eventually(PATIENCE, "the fault has lasted", || {
        crate::ground::instant() >= then
    });
}
