//! Fences: numbers that grow strictly with every grant of a name, whatever befalls the server.

mod common;
mod ground;
mod watch;

use std::time::Duration;

use common::{Monitor, Proxy, Server, eventually};
use ground::{Any, PATIENCE, builder, instant, ms, rounds};
use leasehold::{Builder, Client, ErrorKind, Fence, Lease, Released, strategy::Token};
use watch::{Diary, lively};

/// Where the fence of the lock "job" stands.
const SIDE: &str = "{job}:fence";

/// The first number that a script cannot tell from the next, 2^53.
const TOO_LARGE: u64 = 9_007_199_254_740_992;

/// Every strategy that has fences.
const ALL: [&str; 4] = ["token", "reentrant", "guarded-s", "guarded-ms"];

fn fenced(server: &Server, strategy: &str) -> Builder {
    builder(server.url())
        .strategy(Any::named(strategy))
        .fence(true)
}

fn client(server: &Server, strategy: &str) -> Client {
    fenced(server, strategy).build().unwrap()
}

fn held(client: &Client) -> Lease {
    client.lock("job").unwrap().acquire().unwrap()
}

/// The fence of one more grant, which is given back.
fn grant(client: &Client) -> Fence {
    let lease = held(client);
    let fence = lease.fence().expect("a fence was asked for");
    assert_eq!(lease.release().unwrap(), Released::Freed);
    fence
}

/// What stands at the server as the last fence.
fn stored(server: &Server) -> String {
    let stored: Option<String> = server.command(&["GET", SIDE]);
    stored.expect("a fence is stored")
}

#[track_caller]
fn grows(fences: &[Fence], what: &str) {
    let strictly = fences.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(strictly, "{what}: {fences:?}");
}

#[test]
fn a_fence_grows_with_every_grant_of_every_client_through_everything() {
    for strategy in ALL {
        let mut server = Server::start();
        let clients: Vec<_> = (0..3).map(|_| client(&server, strategy)).collect();
        let mut fences = Vec::new();
        for round in 0..rounds(3, 20) {
            for _ in 0..5 {
                fences.extend(clients.iter().map(grant));
            }
            match round % 3 {
                0 => server.restart(), // kill -9, and nothing was on disk
                1 => drop(server.command::<redis::Value>(&["FLUSHALL"])),
                _ => drop(server.command::<redis::Value>(&["SCRIPT", "FLUSH"])),
            }
            fences.extend(clients.iter().map(grant));
            let _: i64 = server.command(&["PEXPIRE", SIDE, "1"]);
            eventually(PATIENCE, "the side key has expired", || {
                !server.keys().contains(&SIDE.to_owned())
            });
            fences.extend(clients.iter().map(grant));
        }
        grows(&fences, strategy);
    }
}

#[test]
fn a_fence_grows_with_the_lock_passed_on_by_expiry() {
    for strategy in ALL {
        let server = Server::start();
        let short = fenced(&server, strategy)
            .lease(ms(100))
            .renewal(leasehold::Renewal::Off);
        let short = short.build().unwrap();
        let mut fences = Vec::new();
        for _ in 0..3 {
            let lease = held(&short);
            fences.extend(lease.fence());
            ground::ended(&lease);
            std::mem::forget(lease);
        }
        assert_eq!(fences.len(), 3, "{strategy}");
        grows(&fences, strategy);
    }
}

#[test]
fn a_re_entry_is_a_grant_with_a_fence_of_its_own() {
    let server = Server::start();
    let client = client(&server, "reentrant");
    let lock = client.lock("job").unwrap();
    let lock = lock.owned_by(&client.owner()).unwrap();
    let mut fences = Vec::new();
    let outer = lock.acquire().unwrap();
    fences.extend(outer.fence());
    for _ in 0..3 {
        let inner = lock.acquire().unwrap();
        fences.extend(inner.fence());
        assert_eq!(inner.release().unwrap(), Released::StillHeld);
    }
    assert_eq!(fences.len(), 4);
    grows(&fences, "reentrant");
    assert_eq!(
        outer.fence(),
        fences.last().copied(),
        "the hold has the newest"
    );
    outer.extend(Duration::from_secs(30)).unwrap();
    assert_eq!(stored(&server), fences[3].to_string());
    outer.release().unwrap();
    assert!(grant(&client) > fences[3]);
}

#[test]
fn a_fence_costs_no_command() {
    for strategy in ALL {
        let server = Server::start();
        let client = client(&server, strategy);
        grant(&client); // scripts are sent by source once
        let mut monitor = Monitor::of(&server);
        for _ in 0..10 {
            grant(&client);
        }
        let seen = monitor.take();
        assert_eq!(seen.len(), 20, "{strategy}: {seen:?}");
        assert!(
            seen.iter().all(|seen| seen.command == "EVALSHA"),
            "{seen:?}"
        );
    }
}

#[test]
fn who_asks_for_no_fence_gets_none_and_stores_none() {
    for strategy in ALL {
        let server = Server::start();
        let plain = builder(server.url())
            .strategy(Any::named(strategy))
            .build()
            .unwrap();
        let lease = held(&plain);
        assert_eq!(lease.fence(), None, "{strategy}");
        lease.extend(Duration::from_secs(30)).unwrap();
        assert!(
            !server.keys().contains(&SIDE.to_owned()),
            "{strategy}: {:?}",
            server.keys()
        );
        lease.release().unwrap();
        // The lock alone may ask for one.
        let lock = plain.lock("job").unwrap().fence(true).unwrap();
        assert!(lock.acquire().unwrap().fence().is_some(), "{strategy}");
    }
}

#[test]
fn a_fence_outlives_every_lease_by_far() {
    for strategy in ALL {
        let server = Server::start();
        let client = client(&server, strategy);
        let hours = |key: &str| server.command::<i64>(&["PTTL", key]) / 3_600_000;
        grant(&client);
        assert!(
            (12..=48).contains(&hours(SIDE)),
            "{strategy}: {}",
            hours(SIDE)
        );
        let lease = held(&client);
        let _: i64 = server.command(&["PEXPIRE", SIDE, "60000"]);
        lease.extend(Duration::from_secs(60)).unwrap();
        assert!(
            (12..=48).contains(&hours(SIDE)),
            "{strategy}: {}",
            hours(SIDE)
        );
    }
    let server = Server::start();
    let lease = held(&client(&server, "token"));
    lease.extend(Duration::from_secs(1_000_000)).unwrap();
    assert!(
        server.command::<i64>(&["TTL", SIDE]) > 1_000_000,
        "longer than the lease"
    );
}

#[test]
fn a_fence_is_a_plain_number_that_follows_the_clock() {
    for strategy in ALL {
        let server = Server::start();
        let client = client(&server, strategy);
        let before = ground::wire::wall().as_micros();
        let fence = grant(&client);
        let after = ground::wire::wall().as_micros();
        assert!(
            (before..=after).contains(&u128::from(fence.number())),
            "{strategy}: {fence}"
        );
        assert_eq!(
            stored(&server),
            fence.to_string(),
            "{strategy}: digits alone"
        );
        // A last one that lies ahead of the clock counts, not the clock.
        let ahead = TOO_LARGE - 1_000;
        let _: redis::Value = server.command(&["SET", SIDE, &ahead.to_string()]);
        let next = [grant(&client), grant(&client)].map(Fence::number);
        assert_eq!(next, [ahead + 1, ahead + 2], "{strategy}");
        assert_eq!(stored(&server), (ahead + 2).to_string(), "{strategy}");
    }
}

#[test]
fn a_stored_fence_that_cannot_be_is_refused_before_anything_is_written() {
    let last = (TOO_LARGE - 1).to_string();
    let too_large = TOO_LARGE.to_string();
    let nonsense = [
        "",
        "x",
        "-1",
        "1.5",
        "nan",
        "inf",
        "1e300",
        "12 13",
        "\0",
        &last,
        &too_large,
        "99999999999999999999999999",
    ];
    for strategy in ALL {
        let server = Server::start();
        let client = fenced(&server, strategy).wait(PATIENCE).build().unwrap();
        let lock = client.lock("job").unwrap();
        for bad in nonsense {
            let _: redis::Value = server.command(&["SET", SIDE, bad]);
            let begun = instant();
            let error = lock.acquire().unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::Refused,
                "{strategy}, {bad:?}: {error}"
            );
            assert!(error.to_string().contains("fence"), "{error}");
            assert!(
                begun.elapsed() < PATIENCE,
                "{strategy}: this does not pass by waiting"
            );
            assert_eq!(server.keys(), [SIDE], "{strategy}, {bad:?}: it was written");
            assert_eq!(stored(&server), bad, "{strategy}");
        }
        let largest = (TOO_LARGE - 2).to_string();
        let _: redis::Value = server.command(&["SET", SIDE, &largest]);
        assert_eq!(
            grant(&client).number(),
            TOO_LARGE - 1,
            "{strategy}: the last one there is"
        );
    }
}

#[test]
fn something_else_in_the_place_of_a_fence_is_left_alone() {
    for strategy in ALL {
        let server = Server::start();
        let client = client(&server, strategy);
        let _: i64 = server.command(&["RPUSH", SIDE, "x"]);
        let error = client.lock("job").unwrap().try_acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{strategy}: {error}");
        assert_eq!(server.command::<String>(&["TYPE", SIDE]), "list");
        let left: Vec<_> = server
            .keys()
            .into_iter()
            .filter(|key| !key.contains("gone"))
            .collect();
        assert_eq!(left, [SIDE], "{strategy}");
    }
}

#[test]
fn an_extension_writes_a_lost_fence_back_and_lowers_none() {
    for strategy in ALL {
        let server = Server::start();
        let client = client(&server, strategy);
        let lease = held(&client);
        let fence = lease.fence().unwrap();
        let _: i64 = server.command(&["DEL", SIDE]);
        lease.extend(Duration::from_secs(30)).unwrap();
        assert_eq!(stored(&server), fence.to_string(), "{strategy}: lost");
        let _: redis::Value = server.command(&["SET", SIDE, "7"]);
        lease.commit(|| ()).unwrap();
        assert_eq!(stored(&server), fence.to_string(), "{strategy}: too low");
        let higher = (fence.number() + 1_000_000).to_string();
        let _: redis::Value = server.command(&["SET", SIDE, &higher]);
        lease.extend(Duration::from_secs(30)).unwrap();
        assert_eq!(stored(&server), higher, "{strategy}: lowered");
        assert_eq!(
            lease.fence(),
            Some(fence),
            "{strategy}: a hold keeps its own"
        );
        lease.release().unwrap();
        assert!(
            grant(&client).number() > fence.number() + 1_000_000,
            "{strategy}"
        );
    }
}

#[test]
fn a_renewal_writes_a_lost_fence_back() {
    for strategy in ALL {
        let server = Server::start();
        let client = lively(fenced(&server, strategy)).observer(Diary::new());
        let lease = held(&client.build().unwrap());
        let _: i64 = server.command(&["DEL", SIDE]);
        eventually(PATIENCE, "it is back", || {
            server.keys().contains(&SIDE.to_owned())
        });
        assert_eq!(
            stored(&server),
            lease.fence().unwrap().to_string(),
            "{strategy}"
        );
    }
}

#[test]
fn a_grant_whose_answer_was_lost_leaves_a_later_fence_with_the_next() {
    for strategy in ALL {
        let server = Server::start();
        let proxy = Proxy::of(&server);
        let through = builder(proxy.url())
            .strategy(Any::named(strategy))
            .fence(true);
        let through = through.io_timeout(ms(300)).build().unwrap();
        let mut fences = vec![grant(&through)];
        proxy.replies().of("EVALSHA").lost();
        let lease = held(&through); // the second try of the same acquisition
        fences.extend(lease.fence());
        assert_eq!(
            stored(&server),
            fences[1].to_string(),
            "{strategy}: the newest is ours"
        );
        lease.release().unwrap();
        fences.push(grant(&client(&server, strategy)));
        grows(&fences, strategy);
    }
}

#[test]
fn a_strategy_without_fences_says_so_at_once() {
    for client in [
        Client::builder("redis://127.0.0.1/").strategy(Token::commands()),
        Client::builder("redis://127.0.0.1/").strategy(Any::named("classic-s")),
        Client::builder("redis://127.0.0.1/").strategy(Any::named("classic-ms")),
    ] {
        let error = client.fence(true).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.to_string().contains("`fence` = true"), "{error}");
    }
}
