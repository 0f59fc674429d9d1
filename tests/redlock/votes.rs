//! A majority decides, and a hold without one is lost.

use std::{sync::mpsc, time::Duration};

use leasehold::{ErrorKind, Loss};

use crate::{
    common::Server,
    ground::{PATIENCE, ms, redlock},
};

#[test]
fn a_hold_lasts_without_a_minority_and_is_lost_without_a_majority() {
    let mut servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let builder = redlock(servers.iter().map(Server::url)).lease(ms(900));
    let lease = builder.build().unwrap().lock("lock").unwrap();
    let lease = lease.acquire().unwrap();
    servers[0].kill();
    lease.extend(ms(1_000)).unwrap();
    let (tell, told) = mpsc::channel();
    lease.on_lost(move |loss| tell.send(loss).unwrap());
    assert!(
        told.recv_timeout(ms(1_500)).is_err(),
        "it is renewed by two"
    );
    servers[1].kill();
    assert_eq!(told.recv_timeout(PATIENCE), Ok(Loss::Unreachable));
    assert!(!lease.is_held());
}

#[test]
fn a_hold_that_a_majority_has_dropped_is_lost_at_the_next_renewal() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let builder = redlock(servers.iter().map(Server::url)).lease(ms(3_000));
    let lease = builder.build().unwrap().lock("lock").unwrap();
    let lease = lease.acquire().unwrap();
    let (tell, told) = mpsc::channel();
    lease.on_lost(move |loss| tell.send(loss).unwrap());
    let _: () = servers[0].command(&["FLUSHALL"]);
    lease.extend(ms(3_000)).unwrap();
    let _: () = servers[1].command(&["FLUSHALL"]);
    let before_its_end = lease.remaining();
    assert_eq!(told.recv_timeout(before_its_end), Ok(Loss::Deleted));
    assert!(lease.release().unwrap_err().is_lost());
}

#[test]
fn an_even_number_needs_more_than_half() {
    let mut servers: Vec<_> = (0..4).map(|_| Server::start()).collect();
    let client = redlock(servers.iter().map(Server::url)).build().unwrap();
    let lock = client.lock("lock").unwrap();
    servers[0].kill();
    drop(lock.acquire().unwrap());
    servers[1].kill();
    let error = lock.acquire_within(ms(100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoQuorum, "{error}");
    let text = error.to_string();
    assert!(text.contains("3 of 4 servers must agree"), "{text}");
    assert_eq!(text.matches("granted it").count(), 2, "{text}");
    assert!(servers[2].keys().is_empty() && servers[3].keys().is_empty());
}

#[test]
fn one_server_is_a_majority_of_itself() {
    let server = Server::start();
    let client = redlock([server.url()]).build().unwrap();
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    lease.extend(Duration::from_secs(60)).unwrap();
    lease.release().unwrap();
    assert_eq!(server.keys(), [""; 0]);
}

#[test]
fn a_shutdown_releases_on_every_server() {
    let servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = redlock(servers.iter().map(Server::url)).build().unwrap();
    let _a = client.lock("a").unwrap().acquire().unwrap();
    let _b = client.lock("b").unwrap().acquire().unwrap();
    let shutdown = client.shutdown(PATIENCE);
    assert_eq!(shutdown.released(), 2);
    assert!(shutdown.is_complete());
    assert!(servers.iter().all(|server| server.keys().is_empty()));
}

#[test]
fn the_doctor_looks_at_each() {
    let mut servers: Vec<_> = (0..3).map(|_| Server::start()).collect();
    let client = redlock(servers.iter().map(Server::url)).build().unwrap();
    servers[1].kill();
    let report = client.doctor().unwrap();
    let shown = report.to_string();
    assert!(shown.contains("cannot reach"), "{shown}");
    assert_eq!(shown.matches("a lock was acquired").count(), 2, "{shown}");
}
