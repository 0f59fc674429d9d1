//! Nothing takes longer than it says: neither a try, a drop and a shutdown, nor the keeper; and a
//! deadline may be as late as can be.

mod common;
mod ground;
mod watch;

use std::{
    thread,
    time::{Duration, Instant},
};

use common::{Proxy, Server, eventually};
use ground::{PATIENCE, builder, fleeting, instant, ms, timed};
use leasehold::{Renewal, strategy::Token};
use watch::{Diary, lively};
#[cfg(target_os = "linux")]
use watch::{KEEPER, alone, threads, threads_become};

/// Waits until every connection was idle for so long that it is not trusted any more.
fn grown_stale(server: &Server) {
    let idle = |line: &str| -> u64 {
        let (_, rest) = line.split_once(" idle=").expect("a client is idle");
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    eventually(PATIENCE, "the connections are idle", || {
        let list: String = server.command(&["CLIENT", "LIST"]);
        let ours = list.lines().filter(|line| !line.contains("cmd=client"));
        ours.map(idle).all(|seconds| seconds >= 2)
    });
}

#[test]
fn a_drop_is_bounded_also_where_its_connection_must_be_tried_first() {
    let server = Server::start();
    let builder = builder(server.url()).io_timeout(PATIENCE);
    let client = fleeting(builder.drop_timeout(ms(1_500)), PATIENCE);
    let lease = client.lock("job").unwrap().acquire().unwrap();
    grown_stale(&server);
    server.freeze();
    let ((), took) = timed(|| drop(lease));
    assert!(took < ms(2_500), "{took:?}, and 1.5 s were promised");
}

#[test]
fn a_try_is_bounded_also_where_its_connection_must_be_tried_first() {
    let server = Server::start();
    let builder = builder(server.url()).io_timeout(ms(1_500));
    let client = fleeting(builder.drop_timeout(ms(100)), PATIENCE);
    let lock = client.lock("job").unwrap();
    lock.acquire().unwrap().release().unwrap();
    grown_stale(&server);
    server.freeze();
    let (answer, took) = timed(|| lock.try_acquire());
    assert!(answer.is_err());
    assert!(took < ms(2_600), "{took:?}, and 1.6 s were promised");
}

#[test]
fn a_drop_is_bounded_also_where_it_looks_why_the_lock_is_gone() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let builder = builder(proxy.url()).io_timeout(PATIENCE);
    let client = fleeting(builder.drop_timeout(ms(500)), PATIENCE);
    let lease = client.lock("job").unwrap().acquire().unwrap();
    let _: i64 = server.command(&["DEL", "job"]);
    proxy.requests().of("INFO").all().lost();
    let ((), took) = timed(|| drop(lease));
    assert!(took < PATIENCE / 2, "{took:?}, and 0.5 s were promised");
}

#[test]
fn an_extension_that_waits_for_a_connection_keeps_nobody_from_renewing() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let diary = Diary::new();
    let builder = lively(builder(proxy.url())).observer(diary.clone());
    let builder = builder.pool_size(1).io_timeout(PATIENCE);
    let client = builder.build().unwrap();
    let lease = client.lock("job").unwrap().acquire().unwrap();
    let busy = proxy.replies().of("GET").held();
    thread::scope(|scope| {
        scope.spawn(|| client.lock("other").unwrap().is_locked());
        busy.caught();
        let extending = scope.spawn(|| lease.extend(ms(10_000)));
        let before = diary.renewals("job");
        eventually(PATIENCE, "it is renewed", || {
            diary.renewals("job") > before + 10
        });
        assert!(!extending.is_finished(), "it had a connection");
        busy.deliver();
        extending.join().unwrap().unwrap();
    });
    lease.check().unwrap();
}

#[test]
fn a_deadline_may_be_as_late_as_can_be() {
    let server = Server::start();
    let client = fleeting(builder(server.url()), PATIENCE);
    let lock = client.lock("job").unwrap();
    lock.acquire_until(latest()).unwrap().release().unwrap();
}

/// The latest moment that the clock of `std` can say.
fn latest() -> Instant {
    let mut latest = instant();
    let mut step = Duration::from_secs(1 << 62);
    while !step.is_zero() {
        match latest.checked_add(step) {
            Some(later) => latest = later,
            None => step /= 2,
        }
    }
    latest
}

#[test]
fn a_shutdown_is_not_complete_before_the_keeper_has_ended() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let often = Renewal::Every(ms(50));
    let builder = builder(proxy.url()).lease(Duration::from_secs(60));
    let client = builder.io_timeout(PATIENCE).renewal(often).build().unwrap();
    let look = proxy.replies().of("INFO").held();
    let lease = client.lock("job").unwrap().acquire().unwrap();
    look.caught(); // by which the keeper looks at its server, once
    for time in ["first", "second"] {
        let shutdown = client.shutdown(ms(500));
        assert!(!shutdown.is_complete(), "the {time} time: {shutdown:?}");
    }
    look.deliver();
    let last = client.shutdown(PATIENCE);
    assert!(last.is_complete(), "{last:?}");
    drop(lease);
}

#[test]
fn a_shutdown_is_not_complete_before_what_was_dropped_is_released() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let builder = builder(proxy.url()).drop_timeout(ms(50));
    let client = builder.strategy(Token::default()).build().unwrap();
    let lock = client.lock("job").unwrap();
    lock.acquire().unwrap().release().unwrap();
    let lease = lock.acquire().unwrap();
    proxy.requests().of("EVALSHA").lost();
    drop(lease); // the keeper is to release it
    let shutdown = client.shutdown(PATIENCE);
    assert!(shutdown.is_complete(), "{shutdown:?}");
    assert_eq!(server.keys(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_keeper_does_not_linger_for_a_lease_that_was_released() {
    alone(
        "the_keeper_does_not_linger_for_a_lease_that_was_released",
        |_| {
            let server = Server::start();
            let builder = builder(server.url()).lease(PATIENCE * 20);
            let client = builder.build().unwrap();
            let lease = client.lock("job").unwrap().acquire().unwrap();
            threads_become(KEEPER, 1);
            lease.release().unwrap();
            eventually(PATIENCE, "the keeper ends", || threads(KEEPER) == 0);
        },
    );
}
