//! A server that forgot a script has not run it.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
};

use leasehold::{Released, Renewal};

use crate::common::eventually;
use crate::ground::{PATIENCE, ms, rounds};
use crate::stage::{Stage, each};

#[test]
fn scripts_forgotten_before_every_single_command_change_nothing() {
    each(|name, strategy| {
        let stage = Stage::new();
        let flush = || {
            let _: String = stage.server.command(&["SCRIPT", "FLUSH", "SYNC"]);
        };
        let lock = stage.lock(strategy.clone()).fence(true).unwrap();
        let nested = lock.thread();
        for _ in 0..3 {
            flush();
            let lease = nested.acquire().unwrap();
            flush();
            lease.extend(ms(30_000)).unwrap();
            flush();
            assert!(nested.is_held().unwrap(), "{name}");
            flush();
            let other = lock.try_acquire().unwrap();
            assert!(other.is_none(), "{name}: {other:?}");
            flush();
            lease.commit(|| ()).unwrap();
            flush();
            assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
            flush();
            assert_eq!(lock.holder().unwrap(), None, "{name}");
        }
        assert_eq!(stage.locks(), [""; 0], "{name}");
        assert_eq!(
            stage.told.of("Undone"),
            [""; 0],
            "{name}: nothing was in doubt"
        );
    });
}

#[test]
fn an_undo_whose_script_was_forgotten_still_undoes() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let reply = stage.proxy.replies().of("EVALSHA").held();
        let error = thread::scope(|scope| {
            let trying = scope.spawn(|| lock.try_acquire());
            reply.caught();
            let _: String = stage.server.command(&["SCRIPT", "FLUSH", "SYNC"]);
            trying.join().unwrap().unwrap_err()
        });
        assert!(error.is_unknown(), "{name}: {error}");
        eventually(PATIENCE, "it is undone", || stage.locks().is_empty());
    });
}

#[test]
fn scripts_forgotten_all_the_time_change_nothing() {
    each(|name, strategy| {
        let stage = Stage::new();
        let client = stage.builder().strategy(strategy).io_timeout(ms(5_000));
        let client = client
            .drop_timeout(ms(5_000))
            .renewal(Renewal::Every(ms(1)));
        let client = client.build().unwrap();
        let cycles = rounds(40, 400);
        let (done, holders) = (AtomicBool::new(false), AtomicU32::new(0));
        thread::scope(|scope| {
            let flusher = scope.spawn(|| {
                let mut flushes = 0;
                while !done.load(Ordering::Relaxed) {
                    let _: String = stage.server.command(&["SCRIPT", "FLUSH", "SYNC"]);
                    flushes += 1;
                }
                flushes
            });
            let workers = [0; 2].map(|_| {
                scope.spawn(|| {
                    let lock = client.lock("lock").unwrap();
                    for _ in 0..cycles {
                        let lease = lock.acquire_within(PATIENCE).unwrap();
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "{name}");
                        lease.extend(ms(30_000)).unwrap();
                        assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1, "{name}");
                        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
                    }
                })
            });
            let worked = workers.map(thread::ScopedJoinHandle::join);
            done.store(true, Ordering::Relaxed);
            assert!(flusher.join().unwrap() > 10, "{name}");
            assert!(worked.iter().all(Result::is_ok), "{name}");
        });
        assert_eq!(stage.locks(), [""; 0], "{name}");
        assert_eq!(stage.told.of("Lost"), [""; 0], "{name}");
    });
}
