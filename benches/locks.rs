//! What a lock costs that nobody else wants, beside the same commands without the crate.
//!
//! ```text
//! cargo bench --bench locks                      everything
//! cargo bench --bench locks -- cycle/tcp/token   one of them
//! ```
//!
//! `cycle` acquires and releases, over TCP and over a unix socket: through the crate, through a bare
//! `redis::Connection`, and by hand over a socket. `nested` does so inside an outer hold, `extend`
//! extends what is held. Times say nothing on a machine that others use; what stands beside each
//! other can be compared, and for ratios there is `cargo bench --bench contention`, which takes
//! turns cycle by cycle.

#![allow(missing_docs, reason = "criterion's macros make public items")]

mod support;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use leasehold::{Lock, Released, Retry};

use support::bare::{Bare, Connection, Raw, Script};
use support::harness::Server;
use support::rows::{ROWS, Row, Servers, row};
use support::{LEASE, client};

fn main() {
    let servers = Servers::start();
    let mut criterion = Criterion::default().configure_from_args();
    for row in &ROWS {
        let Some(server) = servers.of(row) else {
            println!("{}: not run, no server here understands it", row.title);
            continue;
        };
        cycles(&mut criterion, server, row, "tcp", &server.url());
        cycles(&mut criterion, server, row, "unix", &server.socket_url());
        extensions(&mut criterion, server, row);
    }
    nested(&mut criterion, servers.found());
    criterion.final_summary();
}

/// Acquires and releases.
fn cycles(criterion: &mut Criterion, server: &Server, row: &Row, transport: &str, url: &str) {
    let mut group = criterion.benchmark_group(format!("cycle/{transport}/{}", row.id));
    let lock = lock(url, row);
    assert_holds(server, &lock);
    group.bench_function("leasehold", |bencher| {
        bencher.iter(|| {
            let lease = lock.acquire().expect("the lock is free");
            assert!(lease.is_held());
            assert_eq!(
                lease.release().expect("the lease lasts"),
                Released::Freed,
                "somebody else holds"
            );
        });
    });
    let script = Script::overhear(server, &lock);
    bare(
        &mut group,
        server,
        "connection",
        Connection::new(url, &script),
    );
    bare(&mut group, server, "raw", Raw::new(url, &script));
    group.finish();
}

fn bare(group: &mut BenchmarkGroup<'_, WallTime>, server: &Server, id: &str, mut bare: impl Bare) {
    bare.acquire();
    assert!(is_locked(server), "{id} acquires");
    bare.release();
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            bare.acquire();
            bare.release();
        });
    });
    assert!(!is_locked(server), "{id} releases");
}

/// Extends what is held.
fn extensions(criterion: &mut Criterion, server: &Server, row: &Row) {
    let lock = lock(&server.url(), row);
    let lease = lock.acquire().expect("the lock is free");
    let mut group = criterion.benchmark_group(format!("extend/{}", row.id));
    group.bench_function("leasehold", |bencher| {
        bencher.iter(|| lease.extend(LEASE).expect("the lease lasts"));
    });
    group.finish();
    assert!(lease.is_held() && is_locked(server));
    lease.release().expect("the lease has lasted");
    assert!(!is_locked(server));
}

/// Acquires and releases inside an outer hold of the same thread.
fn nested(criterion: &mut Criterion, server: &Server) {
    let lock = lock(&server.url(), &row("reentrant"));
    let outer = lock.thread().acquire().expect("the lock is free");
    let mut group = criterion.benchmark_group("nested/reentrant");
    group.bench_function("leasehold", |bencher| {
        bencher.iter(|| {
            let inner = lock.thread().acquire().expect("the thread holds it");
            let released = inner.release().expect("the lease lasts");
            assert_eq!(released, Released::StillHeld);
        });
    });
    group.finish();
    assert!(outer.is_held() && is_locked(server));
    assert_eq!(outer.release().expect("it has lasted"), Released::Freed);
    assert!(!is_locked(server));
}

const NAME: &str = "bench";

/// The lock, used once: the client has dialled, and the server knows the scripts.
fn lock(url: &str, row: &Row) -> Lock {
    let lock = client(url, row, Retry::default()).lock(NAME);
    let lock = lock.expect("the name is one");
    lock.with(|_| ()).expect("the lock is free");
    lock
}

fn assert_holds(server: &Server, lock: &Lock) {
    let lease = lock.acquire().expect("the lock is free");
    assert!(is_locked(server), "nothing stands under the name");
    assert!(lock.try_acquire().expect("it can be asked").is_none());
    lease.release().expect("the lease has lasted");
    assert!(!is_locked(server), "something stands under the name");
}

fn is_locked(server: &Server) -> bool {
    server.command(&["EXISTS", NAME])
}
