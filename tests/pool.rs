//! Connections: few, never out of step, never in the way of a release.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::{self, ScopedJoinHandle},
};

use common::{Make, Proxy, Server, eventually};
use ground::{Ground, PATIENCE, builder, ms};
use leasehold::{
    ErrorKind, Lock, Retry,
    strategy::{Reentrant, Token},
};

#[test]
fn a_late_reply_never_answers_another_question() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url())
        .pool_size(1)
        .io_timeout(ms(100))
        .build()
        .unwrap();
    let (held, free) = (client.lock("held").unwrap(), client.lock("free").unwrap());
    let lease = held.acquire().unwrap();
    for round in 0..5 {
        assert!(held.is_locked().unwrap());
        let before = proxy.accepted();
        proxy.replies().of("GET").late(ms(200));
        assert!(held.holder().unwrap_err().is_unknown());
        for _ in 0..30 {
            assert!(!free.is_locked().unwrap(), "round {round}");
        }
        assert_eq!(proxy.accepted(), before + 1, "the connection is given up");
    }
    lease.release().unwrap();
}

#[test]
fn a_late_reply_to_a_release_is_not_taken_for_one_to_an_extension() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url())
        .pool_size(1)
        .io_timeout(ms(100))
        .build()
        .unwrap();
    let gone = client.lock("gone").unwrap().acquire().unwrap();
    gone.extend(ms(31_000)).unwrap(); // its script is known
    let first = client.lock("first").unwrap().acquire().unwrap();
    client
        .lock("other")
        .unwrap()
        .acquire()
        .unwrap()
        .release()
        .unwrap();
    ground.everywhere(&["DEL", "gone"]);
    proxy.replies().of("EVALSHA").late(ms(150));
    first
        .release()
        .expect("it is sent again, and was carried out");
    let error = gone.extend(ms(40_000)).unwrap_err();
    assert!(error.is_lost(), "a late 1 is not its answer: {error}");
}

#[test]
fn a_connection_that_was_cut_within_a_reply_is_not_used_again() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url()).pool_size(1).build().unwrap();
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    for bytes in 0..6 {
        proxy.replies().of("GET").cut_within(bytes);
        assert!(lock.holder().unwrap_err().is_unknown());
        assert!(lock.is_locked().unwrap());
    }
    lease.release().unwrap();
}

#[test]
fn waiters_hold_no_connection() {
    let ground = Ground::one(Make::Found);
    let client = ground
        .builder()
        .pool_size(1)
        .retry(Retry::fixed(ms(50)))
        .build()
        .unwrap();
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    let waiting = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                waiting.fetch_add(1, Ordering::Relaxed);
                let lock = client.lock("lock").unwrap();
                lock.acquire_within(PATIENCE).unwrap().release().unwrap();
            });
        }
        eventually(PATIENCE, "all wait", || {
            waiting.load(Ordering::Relaxed) == 16
        });
        for _ in 0..20 {
            let other = client.lock("other").unwrap();
            other.acquire_within(PATIENCE).unwrap().release().unwrap();
            assert!(ground.server().connected_clients() <= 2);
        }
        lease.release().unwrap();
    });
}

#[test]
fn a_crowd_has_no_more_connections_than_it_was_given() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url()).pool_size(3).build().unwrap();
    proxy.latency(ms(4)); // so that many questions are on their way at once
    let most = thread::scope(|scope| {
        let client = &client;
        let work = move |thread: usize| {
            for round in 0..5 {
                let lock = client.lock(format!("{thread} {round}")).unwrap();
                drop(lock.acquire_within(PATIENCE).unwrap());
            }
        };
        let crowd: Vec<_> = (0..12)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let mut most = 0;
        while !crowd.iter().all(ScopedJoinHandle::is_finished) {
            most = most.max(ground.server().connected_clients());
        }
        most
    });
    assert!((3..=4).contains(&most), "{most} connections of 3 and 1");
    drop(client);
    eventually(PATIENCE, "a dropped client has none", || {
        ground.server().connected_clients() == 0
    });
}

/// Says that something is done when it is dropped, by a panic too: whoever works until then ends.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Keeps the one common connection busy with questions that nobody answers.
fn keep_busy(lock: &Lock, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        let _ = lock.holder();
    }
}

#[test]
fn an_exhausted_pool_says_how_large_it_is_and_what_to_raise() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url())
        .pool_size(1)
        .io_timeout(ms(200))
        .build()
        .unwrap();
    let lock = client.lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    proxy.blackhole();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = Done(&done);
        for _ in 0..8 {
            scope.spawn(|| keep_busy(&lock, &done));
        }
        eventually(PATIENCE, "no connection comes free in time", || {
            let error = lock.try_acquire().unwrap_err();
            if error.kind() != ErrorKind::PoolExhausted {
                return false; // it had its turn, and was not answered
            }
            let text = error.to_string();
            assert!(text.contains("none of the 1 pooled"), "{text}");
            assert!(text.contains("`pool_size`"), "{text}");
            assert!(error.is_passing());
            true
        });
    });
    proxy.heal();
    lock.acquire().unwrap().release().unwrap();
}

#[test]
fn a_release_has_a_connection_while_all_others_are_busy() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url())
        .pool_size(2)
        .io_timeout(PATIENCE)
        .build()
        .unwrap();
    let lock = client.lock("lock").unwrap();
    let leases: Vec<_> = (0..5)
        .map(|name| client.lock(name.to_string()).unwrap().acquire().unwrap())
        .collect();
    let held = [
        proxy.replies().of("GET").held(),
        proxy.replies().of("GET").held(),
    ];
    thread::scope(|scope| {
        let busy = [scope.spawn(|| lock.holder()), scope.spawn(|| lock.holder())];
        for held in &held {
            held.caught();
        }
        for lease in leases {
            lease.release().unwrap();
        }
        assert_eq!(ground.keys(), [""; 0]);
        for held in held {
            held.deliver();
        }
        for asking in busy {
            assert!(asking.join().unwrap().unwrap().is_none());
        }
    });
}

/// How long each of the client's connections has been idle, in whole seconds, as the server says.
fn idle(server: &Server) -> Vec<u64> {
    let list: String = server.command(&["CLIENT", "LIST"]);
    let theirs = list.lines().filter(|line| !line.contains("cmd=client"));
    theirs
        .filter_map(|line| {
            let field = line
                .split(' ')
                .find_map(|field| field.strip_prefix("idle="));
            field?.parse().ok()
        })
        .collect()
}

#[test]
fn an_idle_connection_that_the_server_has_closed_is_replaced_unseen() {
    let ground = Ground::one(Make::Found);
    let client = ground.client(Token::default());
    let lock = client.lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    eventually(PATIENCE, "the connection is idle", || {
        let idle = idle(ground.server());
        !idle.is_empty() && idle.iter().all(|seconds| *seconds >= 2)
    });
    ground.everywhere(&["CLIENT", "KILL", "TYPE", "normal"]);
    assert_eq!(ground.server().connected_clients(), 0);
    let lease = lock.try_acquire().expect("nobody notices");
    lease.unwrap().release().unwrap();
}

#[test]
fn connections_that_are_closed_under_a_crowd_cost_tries_and_no_lock() {
    let ground = Ground::one(Make::Found);
    let client = ground.client(Token::default());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let lock = client.lock("lock").unwrap();
                        let lease = lock.acquire_within(PATIENCE).unwrap();
                        lease.check().unwrap();
                        let released = lease.release();
                        assert!(released.is_ok(), "{released:?}");
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ground.everywhere(&["CLIENT", "KILL", "TYPE", "normal"]);
                thread::yield_now();
            }
        });
        let ends: Vec<_> = workers.into_iter().map(ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ends.iter().all(Result::is_ok));
    });
    let lock = client.lock("lock").unwrap();
    lock.acquire_within(PATIENCE).unwrap().release().unwrap();
    assert!(!lock.is_locked().unwrap());
}

#[test]
fn a_connection_says_who_it_is_and_nothing_else() {
    let server = Server::options().tcp().password("hunter2").start();
    let ground = Ground::of(server);
    let proxy = Proxy::of(ground.server());
    let lock = |url: String| builder(url).build().unwrap().lock("lock").unwrap();
    drop(lock(proxy.url()).acquire().unwrap());
    let seen = proxy.seen();
    let login = seen.iter().take_while(|command| *command != "EVALSHA");
    assert_eq!(login.collect::<Vec<_>>(), ["AUTH"], "{seen:?}");
    drop(lock(format!("{}/3", proxy.url())).acquire().unwrap());
    let others: Vec<_> = proxy
        .seen()
        .into_iter()
        .filter(|command| !command.starts_with("EVAL"))
        .collect();
    assert_eq!(others, ["AUTH", "AUTH", "SELECT"]);
}

#[test]
fn a_client_that_is_not_used_does_not_connect() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url()).build().unwrap();
    let lock = client.lock("lock").unwrap();
    let same = client.with_strategy(Reentrant::default()).unwrap();
    assert_eq!(proxy.accepted(), 0);
    drop(lock.acquire().unwrap());
    drop(same.lock("other").unwrap().acquire().unwrap());
    assert_eq!(proxy.accepted(), 1, "clients of one pool share it");
}

/// Finds the client's sockets among the descriptors of this process, and asks a copy of each.
#[cfg(target_os = "linux")]
#[test]
fn what_is_sent_goes_at_once() {
    use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
    use std::{fs, net::TcpStream};

    let ground = Ground::of(Server::options().tcp().start());
    let client = ground.client(Token::default());
    drop(client.lock("lock").unwrap().acquire().unwrap());
    let this = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    let mut found = 0;
    for entry in fs::read_dir("/proc/self/fd").unwrap() {
        let path = entry.unwrap().path();
        let is_socket = fs::read_link(&path)
            .is_ok_and(|target| target.to_string_lossy().starts_with("socket:"));
        if !is_socket {
            continue;
        }
        let number = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let Ok(copy) = pidfd_getfd(&this, number, PidfdGetfdFlags::empty()) else {
            continue; // another test has closed it meanwhile
        };
        let stream = TcpStream::from(copy);
        let to_server = stream
            .peer_addr()
            .is_ok_and(|address| Some(address.port()) == ground.server().port());
        if to_server {
            assert!(stream.nodelay().unwrap());
            found += 1;
        }
    }
    assert_eq!(found, 1);
}
