//! Ten thousand leases on one client: all kept by one thread over one connection.
//!
//! A binary of its own, with one test, because it counts the threads and the memory of its process.

#![cfg(target_os = "linux")]

mod common;
mod ground;
mod watch;

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::channel,
    },
    time::Duration,
};

use common::{Server, eventually};
use ground::{builder, instant, rounds};
use leasehold::{
    Client, Lease,
    observe::{Lost, Observer, Renewed},
};
use watch::{KEEPER, LOST, POOL, threads};

const LEASE: Duration = Duration::from_secs(3);

/// How long it may take on a busy machine until everything was renewed so often.
const BOUND: Duration = Duration::from_secs(300);

/// Counts, and keeps nothing: what it kept would be taken for the leases' memory.
#[derive(Debug, Default)]
struct Count {
    renewed: AtomicU64,
    lost: AtomicU64,
}

impl Observer for Count {
    fn renewed(&self, _: &Renewed<'_>) {
        self.renewed.fetch_add(1, Ordering::Relaxed);
    }

    fn lost(&self, _: &Lost<'_>) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// How much memory this process has in use, in bytes.
fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux says it");
    let pages = statm.split_whitespace().nth(1).expect("the second field");
    pages.parse::<u64>().expect("a number") * 4096
}

/// How long the keeper's thread was on a processor so far.
fn keepers_work() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux lists threads");
    let paths = tasks.map(|task| task.expect("a thread").path());
    let is_keeper = |path: &PathBuf| {
        let comm = fs::read_to_string(path.join("comm")).unwrap_or_default();
        comm.trim_end() == KEEPER
    };
    let keeper = paths.into_iter().find(is_keeper).expect("a keeper");
    let stat = fs::read_to_string(keeper.join("schedstat")).expect("Linux says it");
    let nanos = stat.split_whitespace().next().expect("the first field");
    Duration::from_nanos(nanos.parse().expect("a number"))
}

fn acquire(client: &Client, count: u32) -> Vec<Lease> {
    let take = |number| {
        let lock = client.lock(format!("lock:{number}")).unwrap();
        lock.try_acquire().unwrap().expect("it is free")
    };
    (0..count).map(take).collect()
}

#[test]
fn ten_thousand_leases_are_kept_by_one_thread_while_a_callback_blocks() {
    let server = Server::start();
    let count = Arc::new(Count::default());
    let client = builder(server.url())
        .lease(LEASE)
        .observer(Arc::clone(&count));
    let client = client.build().unwrap();
    let (leases, renewals) = (rounds(2_000, 10_000), u64::from(rounds(8, 30)));

    // Whatever is there once is there before the count begins.
    let warm = acquire(&client, 500);
    let renewed = || count.renewed.load(Ordering::Relaxed);
    eventually(BOUND, "the keeper is warm", || renewed() >= 1_500);
    drop(warm);
    let victim = client.lock("victim").unwrap().acquire().unwrap();
    let (block, blocked) = channel::<()>();
    let (tell, told) = channel();
    victim.on_lost(move |loss| {
        tell.send(loss).expect("the test listens");
        let _ = blocked.recv(); // until the test ends
    });
    let _: i64 = server.command(&["DEL", "victim"]);
    told.recv_timeout(BOUND).expect("the loss is told");

    let before = resident();
    let held = acquire(&client, leases);
    let begun = (instant(), keepers_work());
    let goal = renewed() + u64::from(leases) * renewals;
    eventually(BOUND, "every lease was renewed so often", || {
        assert_eq!(
            count.lost.load(Ordering::Relaxed),
            1,
            "only the victim is lost"
        );
        renewed() >= goal
    });
    let (span, work) = (begun.0.elapsed(), keepers_work().saturating_sub(begun.1));
    let each = resident().saturating_sub(before) / u64::from(leases);

    assert!(held.iter().all(Lease::is_held), "a lease is lost");
    assert_eq!(
        count.lost.load(Ordering::Relaxed),
        1,
        "only the victim is lost"
    );
    assert_eq!(server.command::<u32>(&["DBSIZE"]), leases);
    assert_eq!((threads(KEEPER), threads(LOST), threads(POOL)), (1, 1, 1));
    assert_eq!(
        server.connected_clients(),
        2,
        "one for the test's thread, one for the keeper"
    );
    println!(
        "{leases} leases of {LEASE:?} held for {span:.1?}: the keeper took {:.1} % of a core, \
         a lease {each} bytes",
        100.0 * work.as_secs_f64() / span.as_secs_f64()
    );
    assert!(each < 1024, "{each} bytes a lease");

    let shutdown = client.shutdown(BOUND);
    assert_eq!(shutdown.released(), leases as usize);
    assert_eq!(server.keys(), [""; 0]);
    drop(block);
}
