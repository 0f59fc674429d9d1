//! Several servers take as long as one, and a silent one is waited for once.

use std::time::Duration;

use leasehold::{Client, ErrorKind};

use crate::{
    common::{Proxy, Server, eventually},
    ground::{PATIENCE, SHARE, ms, redlock, timed},
};

fn urls<'a>(servers: impl IntoIterator<Item = &'a Server>) -> Vec<String> {
    servers.into_iter().map(Server::url).collect()
}

fn cycle(client: &Client) {
    client
        .lock("lock")
        .unwrap()
        .acquire()
        .unwrap()
        .release()
        .unwrap();
}

#[test]
fn five_servers_are_asked_at_once_and_twice_a_cycle() {
    let servers: Vec<_> = (0..5).map(|_| Server::start()).collect();
    let proxies: Vec<_> = servers.iter().map(Proxy::of).collect();
    let client = redlock(proxies.iter().map(Proxy::url))
        .io_timeout(ms(2_000))
        .build()
        .unwrap();
    cycle(&client); // connections are made, scripts are known
    for proxy in &proxies {
        proxy.latency(ms(20));
    }
    let before: Vec<_> = proxies.iter().map(|proxy| proxy.seen().len()).collect();
    let ((), took) = timed(|| cycle(&client));
    for (proxy, before) in proxies.iter().zip(before) {
        assert_eq!(proxy.seen()[before..], ["EVALSHA", "EVALSHA"]);
    }
    let round_trip = ms(40);
    assert!(took >= round_trip * 2, "{took:?}");
    assert!(
        took < round_trip * 5,
        "{took:?}: one after the other is {:?}",
        round_trip * 10
    );
}

#[test]
fn a_hanging_server_is_waited_for_once() {
    let share = ms(400);
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = redlock(urls(&servers)).io_timeout(share).build().unwrap();
    cycle(&client);
    servers[1].freeze();
    let ((), first) = timed(|| cycle(&client));
    assert!(first >= share, "{first:?}");
    let ((), others) = timed(|| (0..20).for_each(|_| cycle(&client)));
    assert!(others < share, "20 cycles took {others:?}");
    servers[1].thaw();
    eventually(PATIENCE, "it counts again", || {
        cycle(&client);
        let lease = client.lock("other").unwrap().acquire().unwrap();
        let held = servers[1].keys().contains(&"other".to_owned());
        lease.release().unwrap();
        held
    });
}

#[test]
fn two_dead_and_two_hanging_of_five_fail_inside_the_wait_and_leave_nothing() {
    let mut servers: Vec<_> = (0..5).map(|_| Server::start()).collect();
    let client = redlock(urls(&servers)).wait(ms(600)).build().unwrap();
    cycle(&client);
    let (dead, others) = servers.split_at_mut(2);
    dead.iter_mut().for_each(Server::kill);
    others[..2].iter().for_each(Server::freeze);
    let (result, took) = timed(|| client.lock("lock").unwrap().acquire());
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoQuorum, "{error}");
    assert!(error.is_passing());
    for server in &servers {
        let address = server.url().rsplit_once("://").unwrap().1.to_owned();
        let address = address.split('?').next().unwrap().to_owned();
        assert!(error.to_string().contains(&address), "{address}: {error}");
    }
    // A last try at the deadline, and the undoing of it, each with its share for each that hangs.
    assert!(took < ms(600) + SHARE * 8, "{took:?}");
    servers[2..4].iter().for_each(Server::thaw);
    for server in &servers[2..] {
        eventually(Duration::from_secs(5), "nothing is locked", || {
            server.keys().iter().all(|key| key.contains(":gone:"))
        });
    }
}
