//! The end of a client, and of a lease that is dropped: bounded, and told.

mod common;
mod ground;
mod watch;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use common::{Monitor, Proxy, Server, eventually};
use ground::{Any, PATIENCE, all, builder, ms, timed};
use leasehold::{
    Builder, Client, ErrorKind, Lease, Loss, Released, Renewal, Retry,
    strategy::{Reentrant, Timestamp, Token},
};
use watch::{Diary, Event, KEEPER, Losses, alone, threads};

fn watched(url: String) -> (Builder, Arc<Diary>) {
    let diary = Diary::new();
    (builder(url).observer(Arc::clone(&diary)), diary)
}

fn held(client: &Client, name: &str) -> Lease {
    client.lock(name).unwrap().acquire().unwrap()
}

fn names(names: &[leasehold::Name]) -> Vec<String> {
    let mut names: Vec<_> = names.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

/// How a release was told: what came of it, and whether it was a drop.
fn released(diary: &Diary) -> Vec<(Result<Released, ErrorKind>, bool)> {
    let told = |event| match event {
        Event::Released {
            result, dropped, ..
        } => Some((result, dropped)),
        _ => None,
    };
    diary.events().into_iter().filter_map(told).collect()
}

// --- shutdown -----------------------------------------------------------------------------

#[test]
fn a_shutdown_releases_what_every_strategy_holds() {
    for (strategy, _, any) in all() {
        let server = Server::start();
        let (builder, diary) = watched(server.url());
        let client = builder.strategy(any).build().unwrap();
        let leases = ["a", "b", "c"].map(|name| held(&client, name));
        let shutdown = client.shutdown(PATIENCE);
        assert_eq!(
            (shutdown.released(), shutdown.lost().len()),
            (3, 0),
            "{strategy}"
        );
        assert!(shutdown.is_complete(), "{strategy}: {shutdown:?}");
        assert_eq!(server.keys(), [""; 0], "{strategy}");
        for lease in &leases {
            assert_eq!(
                lease.check().unwrap_err().loss(),
                Some(Loss::ShutDown),
                "{strategy}"
            );
        }
        assert_eq!(diary.losses().len(), 3, "{strategy}");
        let mut monitor = Monitor::of(&server);
        drop(leases);
        assert_eq!(
            monitor.take(),
            [],
            "{strategy}: there is nothing left to release"
        );
    }
}

#[test]
fn a_shutdown_releases_what_clones_and_other_strategies_of_a_client_hold() {
    let server = Server::start();
    let client = builder(server.url()).build().unwrap();
    let stamps = Timestamp::guarded(leasehold::strategy::Dialect::seconds(), PATIENCE * 9);
    let others = [
        client.clone(),
        client.with_strategy(Reentrant::default()).unwrap(),
        client.with_strategy(stamps).unwrap(),
    ];
    let leases: Vec<_> = others
        .iter()
        .zip(["a", "b", "c"])
        .map(|(c, n)| held(c, n))
        .collect();
    let shutdown = others[0].shutdown(PATIENCE);
    assert_eq!((shutdown.released(), shutdown.is_complete()), (3, true));
    assert_eq!(server.keys(), [""; 0]);
    assert!(!leases.iter().any(Lease::is_held));
    for client in [&client, &others[1], &others[2]] {
        let error = client.lock("d").unwrap().acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShutDown);
    }
}

#[test]
fn a_shutdown_releases_a_nested_hold_whole() {
    let server = Server::start();
    let client = builder(server.url())
        .strategy(Reentrant::default())
        .build()
        .unwrap();
    let lock = client
        .lock("job")
        .unwrap()
        .owned_by(&client.owner())
        .unwrap();
    let leases: Vec<_> = (0..3).map(|_| lock.acquire().unwrap()).collect();
    let shutdown = client.shutdown(PATIENCE);
    assert_eq!((shutdown.released(), shutdown.is_complete()), (1, true));
    assert_eq!(server.keys(), [""; 0]);
    for lease in leases {
        assert_eq!(lease.release().unwrap_err().loss(), Some(Loss::ShutDown));
    }
}

#[test]
fn a_shutdown_of_many_leases_takes_few_round_trips() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let client = builder(proxy.url()).build().unwrap();
    let leases: Vec<_> = (0..600)
        .map(|n| held(&client, &format!("job:{n}")))
        .collect();
    proxy.latency(ms(50)); // one by one they would take a minute
    let (shutdown, took) = timed(|| client.shutdown(PATIENCE * 3));
    proxy.latency(ms(0));
    assert_eq!((shutdown.released(), shutdown.is_complete()), (600, true));
    assert!(took < PATIENCE, "{took:?}");
    assert_eq!(server.keys(), [""; 0]);
    drop(leases);
}

#[test]
fn a_shutdown_ends_the_waits_of_other_threads() {
    let server = Server::start();
    let _: redis::Value = server.command(&["SET", "job", "somebody else"]);
    let (builder, diary) = watched(server.url());
    // They would look again long after the test.
    let builder = builder.wait(PATIENCE * 9).retry(Retry::fixed(PATIENCE * 9));
    let waiting = builder.build().unwrap();
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let lock = waiting.lock("job").unwrap();
            thread::spawn(move || timed(|| lock.acquire()))
        })
        .collect();
    let contended = |event: &Event| matches!(event, Event::Contended { .. });
    eventually(PATIENCE, "all of them wait", || diary.count(contended) >= 4);
    assert!(waiting.shutdown(PATIENCE).is_complete());
    for waiter in waiters {
        let (result, took) = waiter.join().unwrap();
        assert_eq!(result.unwrap_err().kind(), ErrorKind::ShutDown);
        assert!(took < PATIENCE, "{took:?}");
    }
}

#[test]
fn an_acquisition_in_flight_is_shut_down_too_and_leaves_nothing() {
    for renewal in [Renewal::Third, Renewal::Off] {
        let server = Server::start();
        let proxy = Proxy::of(&server);
        let client = builder(proxy.url()).renewal(renewal).build().unwrap();
        held(&client, "warm").release().unwrap();
        let lock = client.lock("job").unwrap();
        let grant = proxy.replies().of("EVALSHA").held();
        let acquiring = thread::spawn(move || lock.acquire());
        grant.caught();
        client.shutdown(PATIENCE);
        grant.deliver();
        let error = acquiring.join().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ShutDown, "{renewal:?}: {error}");
        let gone = || !server.keys().contains(&"job".to_owned());
        eventually(PATIENCE, "what was granted is undone", gone);
    }
}

#[test]
fn a_shutdown_stops_the_keeper() {
    alone("a_shutdown_stops_the_keeper", |_| {
        let server = Server::start();
        let client = builder(server.url()).build().unwrap();
        let lease = held(&client, "job");
        watch::threads_become(KEEPER, 1);
        assert!(client.shutdown(PATIENCE).is_complete());
        assert_eq!(threads(KEEPER), 0, "it has ended when the call returns");
        drop(lease);
        assert_eq!(threads(KEEPER), 0);
        eventually(PATIENCE, "its connections are closed", || {
            server.connected_clients() <= 1
        });
    });
}

#[test]
fn a_shutdown_says_what_turned_out_to_be_lost() {
    let server = Server::start();
    let client = builder(server.url()).build().unwrap();
    let leases = ["gone", "kept", "taken"].map(|name| held(&client, name));
    let _: i64 = server.command(&["DEL", "gone"]);
    let _: redis::Value = server.command(&["SET", "taken", "somebody else"]);
    let shutdown = client.shutdown(PATIENCE);
    assert_eq!(names(shutdown.lost()), ["gone", "taken"]);
    assert_eq!((shutdown.released(), shutdown.unreleased().len()), (1, 0));
    assert!(!shutdown.is_complete());
    assert_eq!(server.keys(), ["taken"], "what is somebody else's stays");
    drop(leases);
}

#[test]
fn a_shutdown_without_a_server_is_bounded_and_says_what_it_could_not_release() {
    for frozen in [true, false] {
        let mut server = Server::start();
        let client = builder(server.url())
            .io_timeout(PATIENCE * 3)
            .build()
            .unwrap();
        let leases = ["a", "b"].map(|name| held(&client, name));
        if frozen {
            server.freeze();
        } else {
            server.kill();
        }
        let (shutdown, took) = timed(|| client.shutdown(ms(300)));
        assert_eq!(names(shutdown.unreleased()), ["a", "b"]);
        assert_eq!(shutdown.released(), 0);
        assert!(!shutdown.is_complete());
        assert!(took < PATIENCE / 2, "{took:?}");
        assert!(
            !leases.iter().any(Lease::is_held),
            "nobody renews them any more"
        );
        let ((), took) = timed(|| drop(leases));
        assert!(took < PATIENCE / 2, "{took:?}");
    }
}

#[test]
fn a_second_shutdown_does_not_claim_what_the_first_could_not_do() {
    let server = Server::start();
    let client = builder(server.url())
        .io_timeout(PATIENCE * 3)
        .build()
        .unwrap();
    let lease = held(&client, "job");
    server.freeze();
    assert!(!client.shutdown(ms(50)).is_complete());
    let second = client.shutdown(ms(50));
    assert!(!second.is_complete(), "the lock is held still: {second:?}");
    drop(lease);
}

#[test]
fn a_shutdown_uses_its_patience_for_a_server_that_answers_late() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let client = builder(proxy.url()).io_timeout(ms(200)).build().unwrap();
    let lease = held(&client, "job");
    proxy.blackhole();
    let before = proxy.accepted();
    let ending = thread::spawn(move || client.shutdown(PATIENCE));
    let tried = || proxy.accepted() > before || ending.is_finished();
    eventually(PATIENCE, "it tries", tried);
    let more = || proxy.accepted() > before + 1 || ending.is_finished();
    eventually(
        PATIENCE,
        "it tries again, as its first try has timed out",
        more,
    );
    proxy.heal();
    let shutdown = ending.join().unwrap();
    assert_eq!(
        (shutdown.released(), shutdown.unreleased().len()),
        (1, 0),
        "{shutdown:?}"
    );
    assert_eq!(server.keys(), [""; 0]);
    drop(lease);
}

#[test]
fn a_shutdown_sees_to_what_was_dropped_and_not_released_yet() {
    let server = Server::start();
    let client = builder(server.url()).drop_timeout(ms(50)).build().unwrap();
    server.freeze();
    let lock = client.lock("job").unwrap();
    server.thaw();
    let lease = lock.acquire().unwrap();
    server.freeze();
    drop(lease); // the keeper is to release it once the server answers
    let shutdown = client.shutdown(ms(100));
    assert_eq!(names(shutdown.unreleased()), ["job"], "{shutdown:?}");
    assert!(!shutdown.is_complete());
}

#[test]
fn a_shut_down_client_takes_no_lock_and_starts_no_thread() {
    alone(
        "a_shut_down_client_takes_no_lock_and_starts_no_thread",
        |_| {
            let server = Server::start();
            let client = builder(server.url()).build().unwrap();
            assert!(
                client.shutdown(PATIENCE).is_complete(),
                "there was nothing to do"
            );
            let mut monitor = Monitor::of(&server);
            let lock = client.lock("job").unwrap();
            for error in [
                lock.acquire().map(drop).unwrap_err(),
                lock.try_acquire().map(drop).unwrap_err(),
                lock.with(|_| panic!("it runs")).unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::ShutDown, "{error}");
            }
            assert_eq!((monitor.take(), threads(KEEPER)), (vec![], 0));
        },
    );
}

// --- dropping -----------------------------------------------------------------------------

#[test]
fn a_drop_releases() {
    for (strategy, _, any) in all() {
        let server = Server::start();
        let (builder, diary) = watched(server.url());
        let client = builder.strategy(any).build().unwrap();
        drop(held(&client, "job"));
        assert_eq!(server.keys(), [""; 0], "{strategy}");
        assert_eq!(
            released(&diary),
            [(Ok(Released::Freed), true)],
            "{strategy}"
        );
    }
}

#[test]
fn a_drop_before_a_frozen_server_is_bounded_and_told_and_made_good_later() {
    for renewal in [Renewal::Third, Renewal::Off] {
        let server = Server::start();
        let proxy = Proxy::of(&server);
        let (builder, diary) = watched(proxy.url());
        let client = builder
            .io_timeout(PATIENCE)
            .renewal(renewal)
            .build()
            .unwrap();
        let lease = held(&client, "job");
        proxy.blackhole(); // what is sent now never arrives
        let ((), took) = timed(|| drop(lease));
        assert!(took >= ms(200), "it was tried for {took:?} only");
        assert!(took < PATIENCE / 4, "a drop blocks for {took:?}");
        assert_eq!(released(&diary), [(Err(ErrorKind::Unknown), true)]);
        assert_eq!(server.keys(), ["job"]);
        proxy.heal();
        proxy.cut();
        let begun = server.command::<i64>(&["PTTL", "job"]);
        assert!(begun > 10_000, "not by its end: {begun}");
        eventually(PATIENCE / 2, "the keeper releases it", || {
            server.keys().is_empty()
        });
    }
}

#[test]
fn a_drop_is_bounded_as_the_builder_says() {
    let server = Server::start();
    let builder = builder(server.url()).drop_timeout(ms(1_000));
    let client = builder.io_timeout(PATIENCE).build().unwrap();
    let lease = held(&client, "job");
    server.freeze();
    let ((), took) = timed(|| drop(lease));
    assert!(took >= ms(900) && took < PATIENCE / 2, "{took:?}");
}

#[test]
fn a_drop_is_bounded_while_the_keeper_is_at_work_on_the_lease() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.io_timeout(PATIENCE).lease(Duration::from_secs(60));
    let client = client.renewal(Renewal::Every(ms(50))).build().unwrap();
    let lease = held(&client, "job");
    eventually(PATIENCE, "it is renewed", || diary.renewals("job") > 1);
    server.freeze();
    let mut last = diary.renewals("job");
    let stuck = || {
        let now = diary.renewals("job");
        let same = now == last;
        last = now;
        thread::yield_now();
        same
    };
    eventually(PATIENCE, "the keeper waits for an answer", stuck);
    let ((), took) = timed(|| drop(lease));
    assert!(took < PATIENCE / 4, "{took:?}");
    server.thaw();
    eventually(PATIENCE, "it is released", || server.keys().is_empty());
    assert_eq!(diary.losses(), []);
}

#[test]
fn a_drop_never_panics_also_while_its_thread_does() {
    let mut server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.build().unwrap();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _lease = held(&client, "job");
        panic!("made by the test");
    }));
    assert!(unwound.is_err());
    assert_eq!(server.keys(), [""; 0], "a panic releases");
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _lease = held(&client, "job");
        server.kill();
        panic!("made by the test");
    }));
    assert!(unwound.is_err(), "and does not abort");
    let told = released(&diary);
    assert_eq!((told.len(), told[0]), (2, (Ok(Released::Freed), true)));
    assert!(matches!(told[1], (Err(_), true)), "{told:?}");
}

#[test]
fn a_release_says_what_a_drop_cannot() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let builder = builder(proxy.url()).io_timeout(ms(300)).wait(ms(600));
    let client = builder.strategy(Token::default()).build().unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    proxy.blackhole();
    let error = lease.release().unwrap_err();
    assert!(error.is_unknown(), "{error}");
    proxy.heal();
    proxy.cut();
    eventually(PATIENCE / 2, "the keeper releases it", || {
        server.keys().is_empty()
    });
    assert!(losses.never(), "a lease that was given back is not lost");
}

#[test]
fn every_strategy_releases_later_what_it_could_not_at_once() {
    for (strategy, _, _) in all() {
        let server = Server::start();
        let proxy = Proxy::of(&server);
        let builder = builder(proxy.url()).strategy(Any::named(strategy));
        let client = builder.io_timeout(ms(300)).build().unwrap();
        let lease = held(&client, "job");
        proxy.blackhole();
        drop(lease);
        proxy.heal();
        proxy.cut();
        let gone = || server.keys().is_empty();
        eventually(PATIENCE / 2, &format!("{strategy} is released"), gone);
    }
}
