//! A release wakes who waits on the other side.

use std::{thread, time::Duration};

use super::{client, start};
use crate::{
    common::eventually,
    figures::Times,
    ground::{PATIENCE, rounds},
    neighbour::now,
    stage::Stage,
};

/// They listen on a channel, and a release of ours is told there.
const THEY_WAKE_WITHIN: Duration = Duration::from_millis(50);

/// Ours ask again after pauses of up to 100 ms. Once they listen on that channel too, this is to be
/// 50 ms as well.
const WE_WAKE_WITHIN: Duration = Duration::from_millis(150);

/// Without braces, with a tag, and with a brace that opens none: the channel's name differs.
const LOCKS: [(&str, &str); 3] = [
    ("woken", "redisson_lock__channel:{woken}"),
    ("{tag}:woken", "redisson_lock__channel:{tag}:woken"),
    ("wo{ken", "redisson_lock__channel:wo{ken"),
];

fn listeners(stage: &Stage, channel: &str) -> u64 {
    let (_, count): (String, u64) = stage.server().command(&["PUBSUB", "NUMSUB", channel]);
    count
}

#[test]
fn our_release_wakes_them() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let mut times = Vec::new();
    for (name, channel) in LOCKS {
        let lock = client.lock(name).unwrap();
        for _ in 0..rounds(10, 70) {
            let lease = lock.acquire().unwrap();
            let asked = stage.scripts_run();
            peer.tell(format!("tryLock {name} 30000 30000"));
            // It asks, listens, asks again, and waits to be told.
            eventually(PATIENCE, "it listens", || {
                listeners(&stage, channel) == 1 && stage.scripts_run() >= asked + 2
            });
            let released = now();
            lease.release().unwrap();
            let had = peer.hear();
            assert_eq!(had.text, "true");
            times.push(had.ended - released);
            peer.ask(format!("unlock {name}"));
        }
        stage.nothing_left(name);
    }
    let times = Times::of(times);
    stage.note("is woken by our release", times.in_words());
    assert!(
        times.percentile(90) < THEY_WAKE_WITHIN,
        "{}",
        times.in_words()
    );
}

#[test]
fn their_release_wakes_us() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let mut times = Vec::new();
    for (name, _) in LOCKS {
        let lock = client.lock(name).unwrap();
        for _ in 0..rounds(10, 40) {
            assert_eq!(peer.ask(format!("tryLock {name} 0 30000")), "true");
            let asked = stage.scripts_run();
            thread::scope(|scope| {
                let waiter = scope.spawn(|| {
                    let lease = lock.acquire_within(PATIENCE).unwrap();
                    (now(), lease)
                });
                eventually(PATIENCE, "we wait", || stage.scripts_run() > asked);
                peer.tell(format!("unlock {name}"));
                let released = peer.hear();
                let (had, lease) = waiter.join().unwrap();
                times.push(had - released.began);
                lease.release().unwrap();
            });
        }
        stage.nothing_left(name);
    }
    let times = Times::of(times);
    stage.note("releases, and we have it", times.in_words());
    assert!(
        times.percentile(90) < WE_WAKE_WITHIN,
        "{}",
        times.in_words()
    );
}
