//! An acquisition whose answer stayed out is undone before its caller hears of it, and a question
//! of it that comes in later is refused.

use leasehold::{
    ErrorKind,
    strategy::{Attempt, LockStrategy},
};

use crate::{
    common::{Proxy, eventually},
    ground::{PATIENCE, Recorder, ask, builder, ms},
};

fn client(proxy: &Proxy, strategy: impl LockStrategy + 'static) -> leasehold::Client {
    builder(proxy.url())
        .strategy(strategy)
        .io_timeout(ms(200))
        .build()
        .unwrap()
}

#[test]
fn a_lock_whose_grant_was_not_heard_is_held_by_nobody() {
    let ground = super::start();
    let proxy = Proxy::of(ground.server());
    let strategy = Recorder::of(super::strategy());
    let lock = client(&proxy, strategy.clone()).lock("lock").unwrap();
    drop(lock.acquire().unwrap()); // the scripts are known from here on
    proxy.replies().of("EVALSHA").lost();
    let error = lock.try_acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown);
    let other = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = other.try_acquire().unwrap().expect("nobody holds the lock");
    lease.release().unwrap();
}

#[test]
fn a_grant_that_was_not_heard_is_undone_when_the_connection_breaks_too() {
    let ground = super::start();
    let proxy = Proxy::of(ground.server());
    let lock = client(&proxy, super::strategy()).lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    proxy.requests().of("EVALSHA").cut_after();
    let error = lock.try_acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown);
    // The server may still be reading what came before the end of the connection.
    eventually(PATIENCE, "nobody holds the lock", || {
        !lock.is_locked().unwrap()
    });
}

#[test]
fn a_question_that_comes_after_its_undo_takes_nothing() {
    let ground = super::start();
    let proxy = Proxy::of(ground.server());
    let strategy = Recorder::of(super::strategy());
    let lock = client(&proxy, strategy.clone()).lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    proxy.replies().of("EVALSHA").lost();
    assert!(lock.try_acquire().unwrap_err().is_unknown());
    let late = ask(ground.server(), strategy.acquire_again());
    assert!(matches!(late, Attempt::Withdrawn), "{late:?}");
    assert!(!lock.is_locked().unwrap());
    assert!(
        lock.try_acquire().unwrap().is_some(),
        "a new ticket is free to try"
    );
}

#[test]
fn a_wait_goes_on_where_a_grant_was_not_heard() {
    let ground = super::start();
    let proxy = Proxy::of(ground.server());
    let lock = client(&proxy, super::strategy()).lock("lock").unwrap();
    drop(lock.acquire().unwrap());
    proxy.replies().of("EVALSHA").lost();
    let lease = lock.acquire_within(PATIENCE).expect("it is its own");
    lease.check().unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    lease.release().unwrap();
    assert!(!lock.is_locked().unwrap());
}
