//! Who is done leaves no key behind.

use std::thread;

use crate::ground::{PATIENCE, ms};

#[test]
fn nothing_is_left_after_a_release() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    for name in ["lock", "{tagged}:lock"] {
        client
            .lock(name)
            .unwrap()
            .acquire()
            .unwrap()
            .release()
            .unwrap();
        drop(client.lock(name).unwrap().acquire().unwrap());
        let lease = client.lock(name).unwrap().acquire().unwrap();
        lease.extend(ms(40_000)).unwrap();
        lease.release().unwrap();
    }
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn who_waits_in_vain_leaves_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    assert!(other.try_acquire().unwrap().is_none());
    assert!(other.acquire_within(ms(30)).unwrap_err().is_timeout());
    lease.release().unwrap();
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_crowd_leaves_nothing() {
    let ground = super::start();
    let client = ground.client(super::strategy());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let lock = client.lock("lock").unwrap();
                    drop(lock.acquire_within(PATIENCE).unwrap());
                    let _ = lock.acquire_within(ms(1));
                }
            });
        }
    });
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn asking_who_holds_leaves_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    assert!(!lock.is_locked().unwrap());
    assert_eq!(ground.keys(), [""; 0]);
}
