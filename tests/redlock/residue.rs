//! A server that is down leaves no key behind, and nobody a validity that has passed.

use std::time::Duration;

use leasehold::Released;

use crate::{
    common::{Proxy, Server, eventually},
    ground::{PATIENCE, fleeting, ms, redlock, rounds, timed},
};

fn no_lock(server: &Server) -> bool {
    server.keys().iter().all(|key| key.contains(":gone:"))
}

#[test]
fn a_release_that_one_server_did_not_hear_reaches_it_when_it_is_back() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = redlock(servers.iter().map(Server::url)).build().unwrap();
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    servers[0].freeze();
    assert_eq!(lease.release().unwrap(), Released::Freed);
    servers[0].thaw();
    eventually(
        Duration::from_secs(10),
        "the third server frees it too",
        || servers.iter().all(no_lock),
    );
}

#[test]
fn what_a_frozen_server_grants_late_is_undone_behind_it() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = redlock(servers.iter().map(Server::url)).build().unwrap();
    for _ in 0..rounds(3, 20) {
        let lock = client.lock("lock").unwrap();
        eventually(PATIENCE, "all three are asked", || {
            drop(lock.acquire().unwrap());
            let lease = lock.acquire().unwrap();
            let all = servers.iter().all(|server| !no_lock(server));
            lease.release().unwrap();
            all
        });
        servers[2].freeze();
        let lease = lock.acquire().unwrap(); // a majority is enough
        servers[2].thaw();
        eventually(Duration::from_secs(10), "it is no part of the hold", || {
            no_lock(&servers[2])
        });
        assert_eq!(lease.release().unwrap(), Released::Freed);
        assert!(servers.iter().all(no_lock));
    }
}

#[test]
fn what_a_minority_granted_is_undone_at_once() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = redlock(servers.iter().map(Server::url)).build().unwrap();
    for server in &servers[..2] {
        let _: () = server.command(&["SET", "lock", "somebody's", "PX", "60000"]);
    }
    let lock = client.lock("lock").unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    let error = lock.acquire_within(ms(30)).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(servers[2].keys(), [""; 0]);
}

#[test]
fn no_more_is_believed_than_is_left_of_a_slow_grant() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let proxies: Vec<_> = servers.iter().map(Proxy::of).collect();
    let builder = redlock(proxies.iter().map(Proxy::url)).io_timeout(ms(900));
    let client = fleeting(builder, ms(1_000));
    drop(client.lock("warm").unwrap().acquire().unwrap());
    for late in [100, 300, 480] {
        for proxy in &proxies {
            proxy.latency(ms(late) / 2);
        }
        let (lease, took) = timed(|| client.lock("lock").unwrap().acquire().unwrap());
        assert!(took >= ms(late));
        assert!(lease.remaining() < ms(1_000).saturating_sub(ms(late)));
        assert!(lease.remaining() <= longest_ttl(&servers));
        drop(lease);
    }
}

fn longest_ttl(servers: &[Server]) -> Duration {
    let ttls = servers.iter().flat_map(Server::ttls);
    let longest = ttls.map(|(_, ttl)| ttl).max().unwrap();
    Duration::from_millis(u64::try_from(longest).unwrap())
}

#[test]
fn a_grant_that_took_as_long_as_its_lease_is_none() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let proxies: Vec<_> = servers.iter().map(Proxy::of).collect();
    let builder = redlock(proxies.iter().map(Proxy::url)).io_timeout(ms(290));
    let client = fleeting(builder, ms(300));
    drop(client.lock("warm").unwrap().acquire().unwrap());
    for proxy in &proxies {
        // An answer to PTTL or to a script: whatever comes, comes late.
        proxy.replies().of("EVALSHA").late(ms(270));
    }
    let result = client.lock("lock").unwrap().try_acquire();
    assert!(!matches!(&result, Ok(Some(lease)) if lease.remaining() > ms(40)));
    drop(result);
    eventually(PATIENCE, "nothing is locked", || {
        servers.iter().all(no_lock)
    });
}
