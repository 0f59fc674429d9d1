//! A question of a nested hold that is sent twice counts once.

use leasehold::{
    Released,
    strategy::{Attempt, Left},
};

use crate::ground::{Recorder, ask};

#[test]
fn a_resent_inner_acquire_counts_once() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    let outer = lock.thread().acquire().unwrap();
    let inner = lock.thread().acquire().unwrap();
    let picture = ground.picture();
    let attempt = ask(ground.server(), strategy.acquire_again());
    assert!(matches!(attempt, Attempt::Granted(_)), "{attempt:?}");
    assert_eq!(ground.picture(), picture);
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    assert_eq!(outer.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_resent_inner_release_counts_once() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    let outer = lock.thread().acquire().unwrap();
    let middle = lock.thread().acquire().unwrap();
    let inner = lock.thread().acquire().unwrap();
    inner.release().unwrap();
    let picture = ground.picture();
    assert_eq!(
        ask(ground.server(), strategy.leave_again()),
        Left::StillHeld
    );
    assert_eq!(ground.picture(), picture);
    assert_eq!(middle.release().unwrap(), Released::StillHeld);
    assert_eq!(outer.release().unwrap(), Released::Freed);
}
