//! The crate's threads: their names, how many there are, and that they end.
//!
//! Each test runs in a process of its own, in which nothing else has threads.

#![cfg(target_os = "linux")]

mod common;
mod ground;
mod watch;

use std::{fs, sync::mpsc::channel, thread};

use common::{Server, eventually};
use ground::{PATIENCE, builder, rounds};
use leasehold::{Client, Lease, Renewal};
use watch::{Diary, KEEPER, LOST, POOL, all_threads, alone, lively, threads, threads_become};

fn client(server: &Server) -> Client {
    builder(server.url()).build().unwrap()
}

fn held(client: &Client, name: &str) -> Lease {
    client.lock(name).unwrap().acquire().unwrap()
}

/// How many files this process has open.
fn files() -> usize {
    fs::read_dir("/proc/self/fd")
        .expect("Linux lists files")
        .count()
}

#[test]
fn threads_have_names_and_there_is_one_of_each() {
    alone("threads_have_names_and_there_is_one_of_each", |_| {
        let server = Server::start();
        let client = client(&server);
        let leases: Vec<_> = (0..50)
            .map(|n| held(&client, &format!("job:{n}")))
            .collect();
        threads_become(KEEPER, 1); // a thread names itself once it runs
        assert_eq!((threads(POOL), threads(LOST)), (1, 0));
        let (block, blocked) = channel::<()>();
        leases[0].on_lost(move |_| {
            let _ = blocked.recv();
        });
        client.shutdown(PATIENCE);
        threads_become(LOST, 1);
        drop(block);
        threads_become(LOST, 0);
    });
}

#[test]
fn many_threads_of_one_client_share_one_keeper() {
    alone("many_threads_of_one_client_share_one_keeper", |_| {
        let server = Server::start();
        let client = client(&server);
        let take = |n: u32| held(&client, &format!("job:{n}"));
        let leases: Vec<_> = thread::scope(|scope| {
            let takers: Vec<_> = (0..20).map(|n| scope.spawn(move || take(n))).collect();
            takers
                .into_iter()
                .map(|taker| taker.join().unwrap())
                .collect()
        });
        threads_become(KEEPER, 1);
        assert_eq!((leases.len(), threads(POOL)), (20, 1));
    });
}

#[test]
fn without_renewal_there_is_no_keeper() {
    alone("without_renewal_there_is_no_keeper", |_| {
        let server = Server::start();
        let client = builder(server.url()).renewal(Renewal::Off).build().unwrap();
        let lease = held(&client, "job");
        assert_eq!(threads(KEEPER), 0);
        lease.release().unwrap();
        assert_eq!(threads(KEEPER), 0);
    });
}

#[test]
fn the_keeper_ends_with_the_last_handle_and_not_before() {
    alone(
        "the_keeper_ends_with_the_last_handle_and_not_before",
        |_| {
            let server = Server::start();
            let diary = Diary::new();
            let client = builder(server.url()).observer(diary.clone());
            let client = lively(client).build().unwrap();
            let lock = client.lock("job").unwrap();
            let lease = lock.acquire().unwrap();
            drop((client, lock));
            eventually(PATIENCE, "the lease alone is renewed", || {
                diary.renewals("job") > 5
            });
            assert_eq!(threads(KEEPER), 1);
            drop(lease);
            // It would have lingered for half of this time.
            eventually(PATIENCE / 4, "the keeper ends", || threads(KEEPER) == 0);
        },
    );
}

#[test]
fn the_thread_of_the_pool_ends_with_the_last_handle() {
    alone("the_thread_of_the_pool_ends_with_the_last_handle", |_| {
        let server = Server::start();
        let client = client(&server);
        held(&client, "job").release().unwrap();
        drop(client);
        eventually(PATIENCE / 4, "the pool's thread ends", || {
            threads(POOL) == 0
        });
    });
}

#[test]
fn many_clients_leave_no_thread_no_connection_and_no_file() {
    alone(
        "many_clients_leave_no_thread_no_connection_and_no_file",
        |_| {
            let server = Server::start();
            drop(server.connection()); // whatever is opened once is open
            let (files_before, many) = (files(), rounds(20, 100) as usize);
            let clients: Vec<_> = (0..many).map(|_| client(&server)).collect();
            let each = clients.iter().enumerate();
            let leases: Vec<_> = each
                .map(|(n, client)| held(client, &format!("job:{n}")))
                .collect();
            threads_become(KEEPER, many);
            assert_eq!(threads(POOL), many);
            drop(clients);
            assert_eq!(threads(KEEPER), many, "leases are handles");
            drop(leases);
            threads_become(KEEPER, 0);
            eventually(PATIENCE, "every connection is closed", || {
                server.connected_clients() == 0
            });
            eventually(PATIENCE, "every file is closed", || files() <= files_before);
            threads_become(POOL, 0);
            assert_eq!((all_threads(), server.keys().len()), (0, 0));
        },
    );
}

#[test]
fn a_callback_that_blocks_does_not_keep_the_client_alive() {
    alone(
        "a_callback_that_blocks_does_not_keep_the_client_alive",
        |_| {
            let server = Server::start();
            let client = lively(builder(server.url())).build().unwrap();
            let lease = held(&client, "job");
            let (block, blocked) = channel::<()>();
            lease.on_lost(move |_| {
                let _ = blocked.recv();
            });
            let _: i64 = server.command(&["DEL", "job"]);
            threads_become(LOST, 1);
            drop((lease, client));
            threads_become(KEEPER, 0);
            assert_eq!(threads(LOST), 1, "the callback goes on");
            drop(block);
            threads_become(LOST, 0);
        },
    );
}
