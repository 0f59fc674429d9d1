//! A wait has an end, and says what it was for.

use std::thread;

use leasehold::{ErrorKind, Retry};

use crate::ground::{IO_TIMEOUT, PATIENCE, Recorder, instant, ms, timed};

#[test]
fn a_wait_that_runs_out_says_who_holds_and_for_how_long() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("orders:42").unwrap();
    let _lease = lock.acquire().unwrap();
    let other = ground.client(super::strategy()).lock("orders:42").unwrap();
    let error = other.acquire_within(ms(50)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.is_timeout() && error.is_passing());
    let left = error.holder().unwrap().remaining().unwrap();
    assert!(left > ms(20_000) && left < ms(36_000), "{left:?}");
    let text = error.to_string();
    let parts = [
        "\"orders:42\" is held by ",
        " for another ",
        " s; waited ",
        " ms",
    ];
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn a_wait_ends_neither_before_its_time_nor_an_answer_later() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let _lease = lock.acquire().unwrap();
    for wait in [ms(0), ms(1), ms(70), ms(150)] {
        let (result, took) = timed(|| lock.acquire_within(wait));
        assert!(result.unwrap_err().is_timeout());
        assert!(took >= wait, "{took:?} of {wait:?}");
        assert!(took <= wait + IO_TIMEOUT, "{took:?} of {wait:?}");
    }
}

#[test]
fn a_wait_of_zero_is_one_try() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    let lease = lock.acquire_within(ms(0)).unwrap();
    assert_eq!(strategy.tries(), 1);
    let error = lock.acquire_within(ms(0)).unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(strategy.tries(), 2);
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(strategy.tries(), 3);
    assert!(lock.acquire_until(instant()).unwrap_err().is_timeout());
    assert_eq!(strategy.tries(), 4);
    let lock = lock.wait(ms(0)).unwrap();
    assert!(lock.acquire().unwrap_err().is_timeout());
    assert_eq!(strategy.tries(), 5);
    lease.release().unwrap();
    drop(lock.acquire_until(instant()).unwrap());
    assert_eq!(strategy.tries(), 6);
}

#[test]
fn the_last_try_comes_at_the_deadline() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let client = ground
        .builder()
        .strategy(strategy.clone())
        .retry(Retry::fixed(PATIENCE * 100))
        .build()
        .unwrap();
    let other = client.lock("lock").unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| timed(|| other.acquire_within(ms(500))));
        crate::common::eventually(PATIENCE, "it has tried once", || strategy.tries() == 1);
        lease.release().unwrap();
        let (result, took) = waiter.join().unwrap();
        drop(result.expect("the lock was free at the deadline"));
        assert!(took <= ms(500) + IO_TIMEOUT, "{took:?}");
    });
    // One at once, one at the deadline; one between them where the first saw the holder leave.
    let tries = strategy.tries();
    assert!((2..=3).contains(&tries), "{tries} tries");
}

#[test]
fn a_limit_of_tries_ends_the_wait() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    let _lease = lock.acquire().unwrap();
    let before = strategy.tries();
    let retry = Retry::fixed(ms(1)).limit(3);
    let (result, took) = timed(|| lock.clone().retry(retry).acquire_within(PATIENCE));
    assert!(result.unwrap_err().is_timeout());
    assert!(took < PATIENCE);
    let first = strategy.tries() - before;
    assert!((3..=4).contains(&first), "{first} tries");
    let again = lock.retry(retry).acquire_within(PATIENCE);
    assert!(again.unwrap_err().is_timeout());
    let second = strategy.tries() - before - first;
    assert_eq!(first, second, "the limit is one of each wait");
}

#[test]
fn who_waits_says_so_and_who_tries_does_not() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    drop(lock.try_acquire().unwrap());
    assert!(!strategy.last_claim().waits());
    drop(lock.acquire_within(ms(50)).unwrap());
    assert!(strategy.last_claim().waits());
}
