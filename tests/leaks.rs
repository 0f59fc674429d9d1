//! What a client has started ends with it.
//!
//! One test alone: it counts the threads and the descriptors of this process.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{fs, thread};

use common::{Make, eventually};
use ground::{Ground, PATIENCE};
use leasehold::strategy::{Reentrant, Token};

fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux");
    let name = |task: std::io::Result<fs::DirEntry>| {
        fs::read_to_string(task.ok()?.path().join("comm")).ok()
    };
    tasks.filter_map(name).collect()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd")
        .expect("this is Linux")
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_is_dropped_leaves_neither_threads_nor_connections() {
    let ground = Ground::one(Make::Found);
    let _ = ground.keys();
    let (before, open) = (threads().len(), descriptors());
    for _ in 0..10 {
        let client = ground.client(Token::default());
        let nested = client.with_strategy(Reentrant::default()).unwrap();
        thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                let (client, nested) = (&client, &nested);
                scope.spawn(move || {
                    drop(client.lock(name).unwrap().acquire().unwrap());
                    drop(nested.lock("x").unwrap().thread().acquire().unwrap());
                });
            }
        });
        let ours: Vec<_> = threads()
            .into_iter()
            .filter(|name| name.starts_with("leasehold"))
            .collect();
        assert!(!ours.is_empty(), "our threads have names");
    }
    eventually(PATIENCE, "the threads have ended", || {
        threads().len() <= before
    });
    eventually(PATIENCE, "the descriptors are closed", || {
        descriptors() <= open
    });
}
