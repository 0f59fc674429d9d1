//! Acquire and release of a lock that nobody else wants, in turns with the same commands through a
//! bare connection and by hand: what the crate itself costs, as a ratio.

use leasehold::{Lock, Released, Retry};

use crate::args::Args;
use crate::record::{Record, Records};
use crate::support::bare::{Bare, Connection, Raw, Script};
use crate::support::harness::{Monitor, Server};
use crate::support::rows::{ROWS, Row, Servers, row};
use crate::support::{LEASE, client};
use crate::worker::now;

const NAME: &str = "pair";

/// Measures every strategy over both transports, then single steps.
pub fn measure(records: &mut Records, servers: &Servers, args: &Args) {
    for row in &ROWS {
        let Some(server) = servers.of(row) else {
            records.omit(row.id, "no server here has DELIFEQ or DELEX");
            continue;
        };
        for (transport, url) in [("tcp", server.url()), ("unix", server.socket_url())] {
            records.progress(&format!("{} over {transport}", row.title));
            cycle(records, server, row, transport, &url, args);
        }
        extend(records, server, row, args);
    }
    nested(records, servers.found(), args);
}

fn cycle(
    records: &mut Records,
    server: &Server,
    row: &Row,
    transport: &str,
    url: &str,
    args: &Args,
) {
    let lock = warm(url, row);
    let script = Script::overhear(server, &lock);
    let mut connection = Connection::new(url, &script);
    let mut raw = Raw::new(url, &script);
    assert_holds(server, &lock, &mut connection, &mut raw);
    let mut contenders: [Box<dyn FnMut()>; 3] = [
        Box::new(|| held_and_freed(&lock)),
        Box::new(|| both(&mut connection)),
        Box::new(|| both(&mut raw)),
    ];
    let times = interleave(&mut contenders, args.pick(1_500, 15_000));
    drop(contenders);
    let [ours, connection, raw] = times.each_ref().map(|times| sorted(times));
    let of_connection = ratios(&times[0], &times[1]);
    let record = Record::new("cycle")
        .shown("id", row.id)
        .text("title", row.title)
        .shown("transport", transport)
        .figure("one_script", f64::from(u8::from(row.one_script)))
        .figure("cycles", times[0].len() as f64)
        .figure("commands", script.len() as f64)
        .told("p50_us", quantile(&ours, 0.5) / 1e3)
        .figure("p99_us", quantile(&ours, 0.99) / 1e3)
        .figure("connection_p50_us", quantile(&connection, 0.5) / 1e3)
        .figure("raw_p50_us", quantile(&raw, 0.5) / 1e3)
        .told("ratio_connection", quantile(&of_connection, 0.5))
        .figure("ratio_connection_p25", quantile(&of_connection, 0.25))
        .figure("ratio_connection_p75", quantile(&of_connection, 0.75))
        .told("ratio_raw", quantile(&ratios(&times[0], &times[2]), 0.5));
    records.add(&record);
}

/// Runs each once a round, beginning with another one each time; how long each took, in
/// nanoseconds.
fn interleave(contenders: &mut [Box<dyn FnMut() + '_>; 3], rounds: usize) -> [Vec<f64>; 3] {
    let mut times = [const { Vec::new() }; 3];
    for round in 0..rounds + rounds / 10 {
        for turn in 0..3 {
            let at = (round + turn) % 3;
            let began = now();
            contenders[at]();
            let took = (now() - began) as f64;
            if round >= rounds / 10 {
                times[at].push(took); // the first tenth warms up
            }
        }
    }
    times
}

fn extend(records: &mut Records, server: &Server, row: &Row, args: &Args) {
    let lock = warm(&server.url(), row);
    let lease = lock.acquire().expect("the lock is free");
    lease.extend(LEASE).expect("the lease lasts"); // and the server knows the script
    let mut monitor = Monitor::of(server);
    lease.extend(LEASE).expect("the lease lasts");
    let commands = monitor.take().len();
    drop(monitor);
    let times = repeat(args.pick(1_000, 10_000), || {
        lease.extend(LEASE).expect("the lease lasts");
    });
    assert!(lease.is_held() && is_locked(server));
    lease.release().expect("the lease has lasted");
    assert!(!is_locked(server));
    records.add(&step("extend", row, commands, &times));
}

fn nested(records: &mut Records, server: &Server, args: &Args) {
    let row = row("reentrant");
    let lock = warm(&server.url(), &row);
    let outer = lock.thread().acquire().expect("the lock is free");
    let inner = || {
        let inner = lock.thread().acquire().expect("the thread holds it");
        let released = inner.release().expect("the lease lasts");
        assert_eq!(released, Released::StillHeld);
    };
    let mut monitor = Monitor::of(server);
    inner();
    let commands = monitor.take().len();
    drop(monitor);
    let times = repeat(args.pick(1_000, 10_000), inner);
    assert!(is_locked(server));
    assert_eq!(outer.release().expect("it has lasted"), Released::Freed);
    assert!(!is_locked(server));
    records.add(&step("nested", &row, commands, &times));
}

fn step(step: &str, row: &Row, commands: usize, times: &[f64]) -> Record {
    let times = sorted(times);
    Record::new("step")
        .shown("step", step)
        .shown("id", row.id)
        .text("title", row.title)
        .figure("commands", commands as f64)
        .told("p50_us", quantile(&times, 0.5) / 1e3)
        .figure("p99_us", quantile(&times, 0.99) / 1e3)
}

fn repeat(times: usize, mut work: impl FnMut()) -> Vec<f64> {
    let mut timed = || {
        let began = now();
        work();
        (now() - began) as f64
    };
    for _ in 0..times / 10 {
        timed();
    }
    (0..times).map(|_| timed()).collect()
}

/// The lock, used once: the client has dialled, and the server knows the scripts.
fn warm(url: &str, row: &Row) -> Lock {
    let lock = client(url, row, Retry::default()).lock(NAME);
    let lock = lock.expect("the name is one");
    held_and_freed(&lock);
    lock
}

fn held_and_freed(lock: &Lock) {
    let lease = lock.acquire().expect("the lock is free");
    assert!(lease.is_held());
    let released = lease.release().expect("the lease lasts");
    assert_eq!(released, Released::Freed);
}

fn both(bare: &mut dyn Bare) {
    bare.acquire();
    bare.release();
}

/// That each of them holds the lock where it says so, and that it is gone afterwards.
fn assert_holds(server: &Server, lock: &Lock, connection: &mut Connection, raw: &mut Raw) {
    let lease = lock.acquire().expect("the lock is free");
    assert!(is_locked(server));
    lease.release().expect("the lease lasts");
    assert!(!is_locked(server));
    let bares: [&mut dyn Bare; 2] = [connection, raw];
    for bare in bares {
        bare.acquire();
        assert!(is_locked(server));
        bare.release();
        assert!(!is_locked(server));
    }
}

fn is_locked(server: &Server) -> bool {
    server.command(&["EXISTS", NAME])
}

/// What each of `ours` is to the one of `theirs` of the same round, sorted.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    let pairs = ours.iter().zip(theirs);
    let ratios: Vec<_> = pairs.map(|(ours, theirs)| ours / theirs).collect();
    sorted(&ratios)
}

pub fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The number below which that share of the sorted `numbers` lies; not a number of none.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length is an index"
)]
pub fn quantile(numbers: &[f64], share: f64) -> f64 {
    let last = numbers.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    numbers.get(at).copied().unwrap_or(f64::NAN)
}
