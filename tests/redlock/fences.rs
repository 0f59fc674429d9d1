//! The fences of a majority grow strictly, whichever majority it is.

use leasehold::Client;

use crate::{
    common::{Server, eventually},
    ground::{PATIENCE, ms, redlock, rounds},
};

fn client(servers: &[Server]) -> Client {
    let urls = servers.iter().map(Server::url);
    redlock(urls).fence(true).build().unwrap()
}

/// What the server stores as the last fence.
fn stored(server: &Server) -> u64 {
    server
        .command::<Option<u64>>(&["GET", "{lock}:fence"])
        .unwrap_or(0)
}

#[test]
fn a_majority_stores_a_fence_before_anybody_has_it() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let far = "9000000000000000"; // one server has given far more than the others
    let _: () = servers[0].command(&["SET", "{lock}:fence", far]);
    let lease = client(&servers).lock("lock").unwrap().acquire().unwrap();
    let fence = lease.fence().unwrap().number();
    assert_eq!(fence, 9_000_000_000_000_001);
    assert!(
        servers
            .iter()
            .filter(|server| stored(server) >= fence)
            .count()
            >= 2
    );
}

#[test]
fn fences_grow_whichever_server_is_missing() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let mut last = 0;
    for round in 0..usize::try_from(rounds(9, 60)).unwrap() {
        let missing = round % 3;
        if round % 2 == 0 {
            // The one that will be missing next gives much more than the others: only by the
            // writing back do they know of it then.
            let next = &servers[(round + 1) % 3];
            let ahead = (last + 10_000_000).max(2_000_000_000_000_000);
            let _: () = next.command(&["SET", "{lock}:fence", &ahead.to_string()]);
        }
        servers[missing].freeze();
        let client = client(&servers);
        let lease = client
            .lock("lock")
            .unwrap()
            .acquire_within(PATIENCE)
            .unwrap();
        let fence = lease.fence().unwrap().number();
        servers[missing].thaw();
        assert!(
            fence > last,
            "{fence} after {last} without server {missing}"
        );
        last = fence;
        lease.release().unwrap();
        eventually(PATIENCE, "it is free everywhere", || {
            servers
                .iter()
                .all(|server| !server.keys().contains(&"lock".to_owned()))
        });
    }
}

#[test]
fn a_fence_that_no_majority_stores_is_not_given() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let proxies: Vec<_> = servers.iter().map(crate::common::Proxy::of).collect();
    let builder = redlock(proxies.iter().map(crate::common::Proxy::url));
    let client = builder.fence(true).build().unwrap();
    drop(client.lock("warm").unwrap().acquire().unwrap());
    let far = "9000000000000000";
    let _: () = servers[0].command(&["SET", "{lock}:fence", far]);
    for proxy in &proxies[1..] {
        proxy.requests().of("EVALSHA").nth(2).lost(); // the first acquires, the second writes back
    }
    let lock = client.lock("lock").unwrap();
    let error = lock.acquire_within(ms(0)).unwrap_err();
    assert!(error.is_passing(), "{error}");
    eventually(PATIENCE, "nothing is locked", || {
        servers
            .iter()
            .all(|server| !server.keys().contains(&"lock".to_owned()))
    });
}
