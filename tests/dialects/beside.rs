//! A legacy client of each dialect in another process, and ours here, on one lock and one counter.

use std::{
    thread,
    time::{Duration, Instant},
};

use leasehold::strategy::{Dialect, Timestamp};

use crate::{
    common::{Server, Worker, worker},
    ground::{PATIENCE, builder, instant, ms, rounds},
    legacy::Legacy,
};

/// What everybody holds the lock for at most. Nobody needs more than a thousandth of it.
const LEASE: Duration = Duration::from_secs(2);

/// How many pairs are at it at once.
const AT_ONCE: usize = 6;

/// Reads, and writes one more: what is lost when somebody else does the same.
fn add_one(client: &mut Legacy) {
    let read: u64 = client.ask::<Option<u64>>("GET", &[b"counter"]).unwrap_or(0);
    let next = (read + 1).to_string();
    let () = client.ask("SET", &[b"counter", next.as_bytes()]);
}

/// Takes the lock and adds, until it is told to end; says how often.
#[test]
fn legacy() {
    let Some(role) = worker::role("beside::legacy") else {
        return;
    };
    let server = redis::Client::open(role.get("URL")).unwrap();
    let end = instant() + ms(role.get("MILLIS").parse().unwrap());
    let (dialect, skew) = (role.get("DIALECT"), role.get("SKEW").parse().unwrap());
    let lease: f64 = role.get("LEASE").parse().unwrap();
    role.say("ready");
    let clients = (0..2).map(|_| {
        let connection = server.get_connection().unwrap();
        let lease = Duration::from_secs_f64(lease);
        let client = Legacy::new(&dialect, connection, lease, skew);
        thread::spawn(move || add_until(client, lease, end))
    });
    let clients: Vec<_> = clients.collect();
    let added: u64 = clients.into_iter().map(|it| it.join().unwrap()).sum();
    role.say(format_args!("added {added}"));
}

fn add_until(mut client: Legacy, lease: Duration, end: Instant) -> u64 {
    let mut added = 0;
    while instant() < end || added == 0 && instant() < end + PATIENCE {
        let begun = instant();
        if !client.take(b"lock") {
            thread::yield_now();
            continue;
        }
        // A machine that stood still for half a lease is no matter of dialects.
        if begun.elapsed() > lease / 2 {
            continue;
        }
        add_one(&mut client);
        added += 1;
        if begun.elapsed() > lease / 2 {
            continue;
        }
        if added % 5 == 0 {
            client.die_long_ago(b"lock");
        } else {
            client.release(b"lock");
        }
    }
    added
}

struct Outcome {
    legacy: u64,
    ours: u64,
    counted: u64,
}

/// Has both sides add for `bound`, the clock of the legacy side being ahead by `skew` seconds.
fn contend(dialect: &Dialect, lease: Duration, skew: f64, bound: Duration) -> Outcome {
    let server = Server::start();
    let (url, millis) = (server.url(), bound.as_millis().to_string());
    let (skew, seconds) = (skew.to_string(), lease.as_secs_f64().to_string());
    let variables = [
        ("URL", &*url),
        ("DIALECT", dialect.name()),
        ("MILLIS", &millis),
        ("SKEW", &skew),
        ("LEASE", &seconds),
    ];
    let mut worker = Worker::spawn("beside::legacy", &variables);
    worker.expect("ready");
    let end = instant() + bound;
    let ours = thread::scope(|scope| {
        let adders: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| add_beside(&server, dialect, lease, end)))
            .collect();
        adders.into_iter().map(|adder| adder.join().unwrap()).sum()
    });
    let legacy = worker.expect("added").parse().unwrap();
    assert!(worker.finish().success());
    Outcome {
        legacy,
        ours,
        counted: server.command(&["GET", "counter"]),
    }
}

fn add_beside(server: &Server, dialect: &Dialect, lease: Duration, end: Instant) -> u64 {
    let strategy = Timestamp::guarded(dialect.clone(), lease).margin(ms(200));
    let client = builder(server.url()).strategy(strategy).lease(lease);
    let lock = client
        .retry(leasehold::Retry::uniform(ms(1)))
        .build()
        .unwrap();
    let lock = lock.lock("lock").unwrap();
    let mut counter = Legacy::new(dialect.name(), server.connection(), lease, 0.0);
    let mut added = 0;
    while instant() < end || added == 0 {
        // A loser's stamp that was left behind may have to pass first.
        let lease = lock.acquire_within(PATIENCE).expect("it comes free");
        if lease.check().is_ok() {
            add_one(&mut counter);
            added += 1;
        }
        let _ = lease.release(); // a loser's stamp in its place is no error of this test
    }
    added
}

/// Runs `test` for every dialect, a few at once, and shows what it gave.
fn for_each_dialect(test: impl Fn(&Dialect) -> String + Sync) {
    for few in Dialect::all().chunks(AT_ONCE) {
        thread::scope(|scope| {
            for dialect in few {
                let test = &test;
                scope.spawn(move || println!("{:30} {}", dialect.name(), test(dialect)));
            }
        });
    }
}

#[test]
fn at_zero_skew_no_update_is_lost() {
    let bound = ms(rounds(1_200, 10_000).into());
    for_each_dialect(|dialect| {
        let Outcome {
            legacy,
            ours,
            counted,
        } = contend(dialect, LEASE, 0.0, bound);
        assert_eq!(legacy + ours, counted, "{}", dialect.name());
        assert!(
            legacy > 0 && ours > 0,
            "{}: {legacy} and {ours}",
            dialect.name()
        );
        format!("{legacy:6} by legacy clients {ours:6} by ours, none lost")
    });
}

/// What clocks that are ahead cost is no promise of ours: it is shown.
#[test]
fn under_skew_what_is_lost_is_shown() {
    let bound = ms(rounds(600, 6_000).into());
    for_each_dialect(|dialect| {
        // The legacy clock is ahead by more than lease, slack and margin.
        let Outcome {
            legacy,
            ours,
            counted,
        } = contend(dialect, ms(1_000), 5.0, bound);
        let lost = legacy + ours - counted;
        format!("5 s ahead: {legacy:6} by legacy clients {ours:6} by ours, {lost} lost")
    });
}
