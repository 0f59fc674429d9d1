//! Processes: they exclude each other, and what one leaves behind when it dies ends by itself.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{fmt::Write, fs, path::Path, thread};

use common::{Make, Worker, eventually, process::Scratch, worker};
use ground::{Any, Ground, PATIENCE, Wire, all, builder, fleeting, ms, rounds};
use leasehold::{Retry, strategy::Token};
use rustix::time::{ClockId, clock_gettime};

const PROCESSES: usize = 8;
const THREADS: usize = 4;

/// A clock that is the same in every process of this machine, in ns.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap() * 1_000_000_000 + nanos.unwrap()
}

/// From when to when somebody was inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stay {
    from: u64,
    to: u64,
}

/// Adds one to the number in the file, as somebody does who is alone.
fn add_one(file: &Path) {
    let read: u64 = fs::read_to_string(file).unwrap().parse().unwrap();
    thread::yield_now();
    fs::write(file, (read + 1).to_string()).unwrap();
}

/// Does nothing when it is run as a test among others.
#[test]
fn adder() {
    let Some(role) = worker::role("adder") else {
        return;
    };
    let strategy = match role.get("STRATEGY").as_str() {
        "commands" => Any::of(Token::commands()),
        name => Any::named(name),
    };
    let client = builder(role.get("URL"))
        .strategy(strategy)
        .retry(Retry::uniform(ms(20)))
        .build()
        .unwrap();
    let lock = client.lock("counter").unwrap();
    let (file, rounds) = (role.get("FILE"), role.get("ROUNDS").parse::<u32>().unwrap());
    role.say("ready");
    role.hear();
    let stays = thread::scope(|scope| {
        let work = || {
            let stay = || {
                let lease = lock.acquire_within(PATIENCE * 10).unwrap();
                let from = now();
                add_one(Path::new(&file));
                let to = now();
                lease.release().unwrap();
                Stay { from, to }
            };
            (0..rounds).map(|_| stay()).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let ends = threads.into_iter().map(|thread| thread.join().unwrap());
        ends.flatten().collect::<Vec<_>>()
    });
    let mut record = String::new();
    for Stay { from, to } in stays {
        write!(record, "{from}-{to} ").unwrap();
    }
    role.say(format!("done {record}"));
    role.hear();
}

fn stays(record: &str) -> Vec<Stay> {
    let stay = |text: &str| {
        let (from, to) = text.split_once('-').unwrap();
        Stay {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        }
    };
    record.split_whitespace().map(stay).collect()
}

fn count_in_a_file(make: Make, strategy: &str) {
    let ground = Ground::one(make);
    let scratch = Scratch::new();
    let file = scratch.path().join("counter");
    fs::write(&file, "0").unwrap();
    let rounds = rounds(5, 40);
    let variables = [
        ("URL", &*ground.server().url()),
        ("STRATEGY", strategy),
        ("FILE", file.to_str().unwrap()),
        ("ROUNDS", &rounds.to_string()),
    ];
    let mut workers: Vec<_> = (0..PROCESSES)
        .map(|_| Worker::spawn("adder", &variables))
        .collect();
    for worker in &mut workers {
        worker.expect("ready");
    }
    for worker in &mut workers {
        worker.say("go");
    }
    let mut all = Vec::new();
    for worker in &mut workers {
        let said = worker.says_within(PATIENCE * 10);
        let said = said.unwrap_or_else(|| worker.expect("done")); // or what has become of it
        all.extend(stays(said.trim_start_matches("done")));
    }
    for worker in workers {
        assert!(worker.finish().success());
    }
    let rounds = usize::try_from(rounds).unwrap();
    assert_eq!(all.len(), PROCESSES * THREADS * rounds);
    assert_eq!(fs::read_to_string(&file).unwrap(), all.len().to_string());
    all.sort_unstable();
    for pair in all.windows(2) {
        assert!(pair[0].to <= pair[1].from, "two were inside: {pair:?}");
    }
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn processes_count_through_tokens() {
    count_in_a_file(Make::Found, "token");
}

#[test]
fn processes_count_through_reentrant_locks() {
    count_in_a_file(Make::Found, "reentrant");
}

#[test]
fn processes_count_through_guarded_stamps() {
    count_in_a_file(Make::Found, "guarded-s");
    count_in_a_file(Make::Found, "guarded-ms");
}

#[test]
fn processes_count_through_classic_stamps() {
    count_in_a_file(Make::Found, "classic-s");
    count_in_a_file(Make::Found, "classic-ms");
}

#[test]
fn processes_count_through_tokens_without_scripts() {
    count_in_a_file(Make::Valkey, "commands");
}

/// Holds the lock until it is told otherwise.
#[test]
fn holder() {
    let Some(role) = worker::role("holder") else {
        return;
    };
    let strategy = Any::named(&role.get("STRATEGY"));
    let client = fleeting(builder(role.get("URL")).strategy(strategy), ms(700));
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    role.say("held");
    role.hear();
    match lease.check() {
        Ok(()) => role.say("still"),
        Err(error) => role.say(format!("error {error}")),
    }
    match lease.release() {
        Ok(_) => role.say("released"),
        Err(error) => role.say(format!("error {error}")),
    }
}

fn hold(ground: &Ground, strategy: &str) -> Worker {
    let variables = [("URL", &*ground.server().url()), ("STRATEGY", strategy)];
    let mut worker = Worker::spawn("holder", &variables);
    worker.expect("held");
    worker
}

#[test]
fn a_holder_that_is_killed_lets_go_at_the_end_of_its_lease() {
    for (name, _, strategy) in all() {
        let ground = Ground::one(Make::Found);
        let lock = ground.client(strategy).lock("lock").unwrap();
        let mut worker = hold(&ground, name);
        worker.kill();
        let lease = lock.acquire_within(PATIENCE);
        let lease = lease.unwrap_or_else(|error| panic!("{name}: {error}"));
        lease.release().unwrap();
        assert_eq!(ground.keys(), [""; 0], "{name}");
    }
}

#[test]
fn a_holder_that_stood_still_for_longer_than_its_lease_finds_it_lost() {
    for (name, _, strategy) in all() {
        if name.starts_with("classic") {
            continue; // it deletes the next holder's lock: see the row of its promises
        }
        let ground = Ground::one(Make::Found);
        let lock = ground.client(strategy).lock("lock").unwrap();
        let mut worker = hold(&ground, name);
        worker.freeze();
        let lease = lock.acquire_within(PATIENCE).unwrap();
        let picture = ground.picture();
        worker.thaw();
        worker.say("go on");
        for _ in 0..2 {
            let error = worker.expect("error");
            assert!(error.contains("is lost"), "{name}: {error}");
        }
        assert!(worker.finish().success());
        assert_eq!(ground.picture(), picture, "{name}");
        lease.check().unwrap();
        lease.release().unwrap();
    }
}

#[test]
fn a_waiter_that_is_killed_leaves_nothing() {
    let ground = Ground::one(Make::Found);
    ground.seize(Wire::Text, "counter", PATIENCE * 10);
    let theirs = ground.picture();
    let variables = [
        ("URL", &*ground.server().url()),
        ("STRATEGY", "token"),
        ("FILE", "/dev/null"),
        ("ROUNDS", "1"),
    ];
    let mut waiter = Worker::spawn("adder", &variables);
    waiter.expect("ready");
    waiter.say("go");
    let connected = || ground.server().connected_clients();
    eventually(PATIENCE, "it waits", || connected() > 0);
    waiter.kill();
    eventually(PATIENCE, "the server notices", || connected() == 0);
    assert_eq!(ground.picture(), theirs);
}
