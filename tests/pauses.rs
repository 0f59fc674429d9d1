//! A holder that is stopped for longer than its lease, by `SIGSTOP`, and what becomes of its late
//! writes: with `check` before each, with a fence, and with neither.
//!
//! The holder is a process of its own. It is stopped while it holds the lock, the test takes the
//! lock when the lease has ended and works, and only then the holder is woken, in the midst of what
//! it was about to do. Whatever it does next is late.

mod common;
mod ground;

use std::{path::Path, time::Duration};

use common::{
    Server, Worker, eventually,
    process::Scratch,
    worker::{self, Role},
};
use ground::{PATIENCE, builder, rounds};
use leasehold::{Client, Lease, Loss};
use rusqlite::{Connection, OptionalExtension, params};

/// The lease of a holder that will be late; it renews it at every third of it until it is stopped.
const SHORT: Duration = Duration::from_millis(700);

/// The lease of one who will not be, however busy the machine is.
const LONG: Duration = Duration::from_secs(30);

/// How a holder protects its write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    Check,
    Fence,
    Nothing,
}

impl Guard {
    fn named(name: &str) -> Guard {
        let all = [Guard::Check, Guard::Fence, Guard::Nothing];
        let named = all.into_iter().find(|guard| format!("{guard:?}") == name);
        named.expect("a guard has that name")
    }
}

/// Where the holder is when it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// It holds the lock and has not looked at the counter.
    BeforeItReads,
    /// It has read the counter and not written it.
    BeforeItWrites,
}

/// A counter in a row of SQLite: read, added to in memory, written.
struct Counter {
    sqlite: Connection,
}

impl Counter {
    fn at(path: &Path) -> Counter {
        let sqlite = Connection::open(path).expect("the file can be opened");
        sqlite.busy_timeout(PATIENCE).expect("it can be set");
        let table = "PRAGMA synchronous = OFF;
            CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, value INT, fence INT);
            INSERT OR IGNORE INTO counter VALUES (1, 0, 0);";
        sqlite.execute_batch(table).expect("the table is made");
        Counter { sqlite }
    }

    fn value(&self) -> i64 {
        let value = self
            .sqlite
            .query_row("SELECT value FROM counter", [], |row| row.get(0));
        value.expect("the row is there")
    }

    fn set(&self, value: i64) {
        let set = self
            .sqlite
            .execute("UPDATE counter SET value = ?1", [value]);
        assert_eq!(set, Ok(1));
    }

    /// The value, for a holder that is not late; it registers the fence, so that an older holder
    /// finds every access refused from now on, the read included.
    fn enter(&self, fence: i64) -> Option<i64> {
        let enter = "UPDATE counter SET fence = ?1 WHERE id = 1 AND fence <= ?1 RETURNING value";
        let row = self.sqlite.query_row(enter, [fence], |row| row.get(0));
        row.optional().expect("the row can be read")
    }

    /// Whether the value was written, for a holder that is not late.
    fn set_fenced(&self, value: i64, fence: i64) -> bool {
        let set = "UPDATE counter SET value = ?1 WHERE id = 1 AND fence = ?2";
        let set = self.sqlite.execute(set, params![value, fence]);
        set.expect("the row can be written") == 1
    }
}

fn client(url: &str, lease: Duration) -> Client {
    let builder = builder(url).lease(lease).fence(true).wait(PATIENCE);
    builder.build().expect("the settings are valid")
}

fn fence(lease: &Lease) -> i64 {
    let fence = lease.fence().expect("a fence was asked for").number();
    i64::try_from(fence).expect("it is below 2^53")
}

/// Reads the counter; `Err` says why the holder must not.
fn read(counter: &Counter, lease: &Lease, guard: Guard) -> Result<i64, String> {
    match guard {
        Guard::Check => lease
            .check()
            .map_err(|error| why(&error))
            .map(|()| counter.value()),
        Guard::Fence => counter.enter(fence(lease)).ok_or("refused".to_owned()),
        Guard::Nothing => Ok(counter.value()),
    }
}

/// Writes the counter; `Err` says why the holder must not.
fn write(counter: &Counter, lease: &Lease, guard: Guard, value: i64) -> Result<(), String> {
    match guard {
        Guard::Check => {
            lease.check().map_err(|error| why(&error))?;
            counter.set(value);
        }
        Guard::Fence if counter.set_fenced(value, fence(lease)) => {}
        Guard::Fence => return Err("refused".to_owned()),
        Guard::Nothing => counter.set(value),
    }
    Ok(())
}

fn why(error: &leasehold::Error) -> String {
    match error.loss() {
        Some(Loss::Expired { ago }) => format!("expired {}", ago.as_millis()),
        other => format!("{other:?}"),
    }
}

/// Works once for every line that names a pause; says what came of it.
#[test]
fn holder() {
    let Some(role) = worker::role("holder") else {
        return;
    };
    let counter = Counter::at(Path::new(&role.get("FILE")));
    let guard = Guard::named(&role.get("GUARD"));
    let lease = role.get("LEASE").parse().expect("milliseconds");
    let client = client(&role.get("URL"), Duration::from_millis(lease));
    let lock = client.lock("counter").unwrap();
    while let Some(pause) = role.hear() {
        let lease = lock.acquire().unwrap();
        let done = hold(&role, &counter, &lease, guard, &pause);
        role.say(done.err().unwrap_or_else(|| "wrote".to_owned()));
    }
}

/// One hold, stopped at the pause until the test says a word.
fn hold(
    role: &Role,
    counter: &Counter,
    lease: &Lease,
    guard: Guard,
    pause: &str,
) -> Result<(), String> {
    let here = |at: Pause| {
        if pause == format!("{at:?}") {
            role.say("holds");
            role.hear();
        }
    };
    here(Pause::BeforeItReads);
    let value = read(counter, lease, guard)?;
    here(Pause::BeforeItWrites);
    write(counter, lease, guard, value + 1)
}

/// A holder in a process of its own.
fn spawn(server: &Server, file: &Path, guard: Guard, lease: Duration) -> Worker {
    let variables = [
        ("URL", &*server.url()),
        ("FILE", file.to_str().expect("a path in UTF-8")),
        ("GUARD", &*format!("{guard:?}")),
        ("LEASE", &*lease.as_millis().to_string()),
    ];
    Worker::spawn("holder", &variables)
}

/// What came of a run.
#[derive(Debug, Default)]
struct Outcome {
    /// How many writes were acknowledged to whoever made them.
    acknowledged: i64,
    /// What the counter says.
    counted: i64,
    /// What the woken holder said, round by round.
    late: Vec<String>,
}

/// Stops the holder so often for longer than its lease.
fn run(guard: Guard, pauses: u32) -> Outcome {
    let (server, scratch) = (Server::start(), Scratch::new());
    let file = scratch.path().join("counter");
    let counter = Counter::at(&file);
    let mut holder = spawn(&server, &file, guard, SHORT);
    let lock = client(&server.url(), LONG).lock("counter").unwrap();
    let mut outcome = Outcome::default();
    for round in 0..pauses {
        let pause = if round % 2 == 0 {
            Pause::BeforeItWrites
        } else {
            Pause::BeforeItReads
        };
        holder.say(format!("{pause:?}"));
        while holder.expect("") != "holds" {
            holder.say(format!("{pause:?}")); // a busy machine has stopped it before we did
        }
        if round % 4 >= 2 {
            is_renewed(&server); // stopped in its second lease rather than in its first
        }
        holder.freeze();
        let next = lock.acquire().unwrap(); // when the holder's lease has ended
        let value = read(&counter, &next, guard).expect("the next holder is in time");
        holder.say("go on");
        holder.thaw();
        outcome.late.push(holder.expect(""));
        // It is awake, and has done what it would do, while the next one holds.
        next.check().expect("the next holder holds");
        write(&counter, &next, guard, value + 1).expect("the next holder is in time");
        next.release().unwrap();
        outcome.acknowledged += 1;
    }
    let wrote = outcome.late.iter().filter(|late| *late == "wrote").count();
    outcome.acknowledged += i64::try_from(wrote).unwrap();
    outcome.counted = counter.value();
    outcome
}

/// Waits until the lock's life has been made longer, or has ended: a busy machine stops a holder too.
fn is_renewed(server: &Server) {
    let life = || server.command::<i64>(&["PTTL", "counter"]);
    let mut least = life();
    eventually(PATIENCE, "the holder renews its lease", || {
        let now = life();
        let renewed = now > least || now < 0;
        least = now;
        renewed
    });
}

#[test]
fn a_stopped_holder_finds_check_failing_at_its_first_step_and_no_update_is_lost() {
    let outcome = run(Guard::Check, rounds(8, 60));
    for late in &outcome.late {
        assert!(late.starts_with("expired "), "{outcome:?}");
    }
    assert_eq!(outcome.counted, outcome.acknowledged, "{outcome:?}");
    assert_eq!(outcome.acknowledged, i64::from(rounds(8, 60)));
}

#[test]
fn a_fenced_row_refuses_every_access_of_a_late_holder() {
    let outcome = run(Guard::Fence, rounds(8, 60));
    assert!(
        outcome.late.iter().all(|late| late == "refused"),
        "{outcome:?}"
    );
    assert_eq!(outcome.counted, outcome.acknowledged, "{outcome:?}");
    assert_eq!(outcome.acknowledged, i64::from(rounds(8, 60)));
}

#[test]
fn without_check_and_without_a_fence_the_same_run_loses_updates() {
    let outcome = run(Guard::Nothing, rounds(8, 60));
    assert!(
        outcome.late.iter().all(|late| late == "wrote"),
        "{outcome:?}"
    );
    assert!(outcome.counted < outcome.acknowledged, "{outcome:?}");
}

#[test]
fn a_pause_shorter_than_the_lease_costs_nothing() {
    let server = Server::start();
    let scratch = Scratch::new();
    let file = scratch.path().join("counter");
    let counter = Counter::at(&file);
    let mut holder = spawn(&server, &file, Guard::Check, LONG);
    holder.say("BeforeItWrites");
    holder.expect("holds");
    holder.freeze();
    holder.say("go on");
    holder.thaw();
    assert_eq!(holder.expect(""), "wrote");
    assert_eq!(counter.value(), 1);
}
