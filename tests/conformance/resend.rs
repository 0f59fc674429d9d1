//! A question that is sent twice is answered twice and acted on once.

use leasehold::{
    Released,
    strategy::{Attempt, Kept, Left},
};

use crate::ground::{Recorder, ask, ms};

#[test]
fn a_resent_acquire_is_recognised() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let (keys, holder) = (ground.keys(), lock.holder().unwrap().unwrap());
    for _ in 0..2 {
        let attempt = ask(ground.server(), strategy.acquire_again());
        assert!(matches!(attempt, Attempt::Granted(_)), "{attempt:?}");
    }
    assert_eq!(ground.keys(), keys);
    assert_eq!(lock.holder().unwrap().unwrap().owner(), holder.owner());
    assert!(lock.is_held_by(lease.owner()).unwrap());
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(ground.keys(), [""; 0], "one release frees");
}

#[test]
fn a_resent_release_is_harmless() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    lock.acquire().unwrap().release().unwrap();
    assert_eq!(ask(ground.server(), strategy.leave_again()), Left::Gone);
    assert_eq!(ground.keys(), [""; 0]);

    let next = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = next.acquire().unwrap();
    let picture = ground.picture();
    assert_eq!(ask(ground.server(), strategy.leave_again()), Left::Taken);
    assert_eq!(ground.picture(), picture);
    lease.release().unwrap();
}

#[test]
fn a_resent_extension_is_harmless() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    lease.extend(ms(40_000)).unwrap();
    let kept = ask(ground.server(), strategy.extend_again());
    assert!(matches!(kept, Kept::Kept { .. }), "{kept:?}");
    lease.release().unwrap();
    assert_eq!(ask(ground.server(), strategy.extend_again()), Kept::Gone);
    assert_eq!(ground.keys(), [""; 0]);

    let next = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = next.acquire().unwrap();
    let picture = ground.picture();
    let kept = ask(ground.server(), strategy.extend_again());
    assert!(matches!(kept, Kept::Taken | Kept::Contested), "{kept:?}");
    assert_eq!(ground.picture(), picture);
    lease.release().unwrap();
}
