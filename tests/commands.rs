//! How many commands a lock costs, counted as the server receives them.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{thread, time::Duration};

use common::{Make, Monitor, Seen, Server};
use ground::{Ground, PATIENCE, ms};
use leasehold::{
    Client, Retry,
    strategy::{Dialect, LockStrategy, Reentrant, Timestamp, Token},
};

fn commands(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|seen| seen.command.as_str()).collect()
}

/// A client that has dialled, and whose scripts the server knows.
fn warm(ground: &Ground, strategy: impl LockStrategy + 'static) -> Client {
    let client = ground.client(strategy);
    let lease = client.lock("warm-up").unwrap().acquire().unwrap();
    lease.extend(ms(31_000)).unwrap();
    lease.release().unwrap();
    client
}

fn assert_two_commands(strategy: impl LockStrategy + 'static) {
    let ground = Ground::of(Server::options().tcp().start());
    let client = warm(&ground, strategy);
    let mut monitor = Monitor::of(ground.server());
    let lock = client.lock("lock").unwrap();
    lock.acquire().unwrap().release().unwrap();
    assert_eq!(commands(&monitor.take()), ["EVALSHA", "EVALSHA"]);

    drop(lock.try_acquire().unwrap());
    assert_eq!(commands(&monitor.take()), ["EVALSHA", "EVALSHA"]);

    for _ in 0..100 {
        lock.with(|_| ()).unwrap();
    }
    let seen = monitor.take();
    assert_eq!(seen.len(), 200, "{:?}", commands(&seen));
    assert!(seen.iter().all(|seen| seen.command == "EVALSHA"));
}

#[test]
fn a_token_costs_two_commands() {
    assert_two_commands(Token::default());
}

#[test]
fn a_reentrant_lock_costs_two_commands() {
    assert_two_commands(Reentrant::default());
}

#[test]
fn a_guarded_time_stamp_costs_two_commands() {
    for dialect in [Dialect::seconds(), Dialect::java_millis()] {
        assert_two_commands(Timestamp::guarded(dialect, Duration::from_secs(60)));
    }
}

#[test]
fn each_nested_hold_costs_two_commands() {
    let ground = Ground::one(Make::Found);
    let lock = warm(&ground, Reentrant::default()).lock("lock").unwrap();
    let monitor = Monitor::of(ground.server());
    let outer = lock.thread().acquire().unwrap();
    let inner = lock.thread().acquire().unwrap();
    inner.release().unwrap();
    outer.release().unwrap();
    assert_eq!(commands(&monitor.finish()), ["EVALSHA"; 4]);
}

#[test]
fn an_extension_and_a_failed_try_cost_one_command_each() {
    let ground = Ground::one(Make::Found);
    let lock = warm(&ground, Token::default()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let monitor = Monitor::of(ground.server());
    lease.extend(ms(40_000)).unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(commands(&monitor.finish()), ["EVALSHA"; 2]);
}

#[test]
fn checking_a_lease_asks_nobody() {
    let ground = Ground::one(Make::Found);
    let lease = warm(&ground, Token::default())
        .lock("lock")
        .unwrap()
        .acquire()
        .unwrap();
    let monitor = Monitor::of(ground.server());
    for _ in 0..1_000 {
        lease.check().unwrap();
        assert!(lease.is_held() && !lease.remaining().is_zero());
    }
    assert_eq!(commands(&monitor.finish()), [""; 0]);
}

#[test]
fn a_classic_time_stamp_costs_its_three_commands() {
    let ground = Ground::one(Make::Found);
    let lock = warm(&ground, Timestamp::classic(Dialect::seconds()))
        .lock("lock")
        .unwrap();
    let monitor = Monitor::of(ground.server());
    lock.acquire().unwrap().release().unwrap();
    assert_eq!(commands(&monitor.finish()), ["SETNX", "GET", "DEL"]);
}

#[test]
fn a_lock_without_scripts_costs_two_commands_and_calls_none() {
    let ground = Ground::one(Make::Valkey);
    let lock = warm(&ground, Token::commands()).lock("lock").unwrap();
    let mut monitor = Monitor::of(ground.server());
    lock.acquire().unwrap().release().unwrap();
    assert_eq!(commands(&monitor.take()), ["SET", "DELIFEQ"]);
    let lease = lock.acquire().unwrap();
    lease.extend(ms(40_000)).unwrap();
    assert!(lock.try_acquire().unwrap().is_none());
    assert_eq!(commands(&monitor.take()), ["SET", "SET", "SET", "PTTL"]);
}

#[test]
fn a_script_that_is_not_known_is_sent_once_by_its_source() {
    let ground = Ground::one(Make::Found);
    let client = ground.client(Token::default());
    let lock = client.lock("lock").unwrap();
    let mut monitor = Monitor::of(ground.server());
    lock.acquire().unwrap().release().unwrap();
    let first = monitor.take();
    assert_eq!(
        commands(&first),
        ["EVALSHA", "EVAL", "EVALSHA", "EVAL"],
        "and a first connection says nothing of itself"
    );
    lock.acquire().unwrap().release().unwrap();
    assert_eq!(commands(&monitor.take()), ["EVALSHA", "EVALSHA"]);
}

#[test]
fn a_waiter_asks_no_more_often_than_its_pauses_say() {
    let ground = Ground::one(Make::Found);
    let lock = warm(&ground, Token::default()).lock("lock").unwrap();
    let _lease = lock.acquire().unwrap();
    let patient = lock.clone().retry(Retry::fixed(ms(100)));
    let monitor = Monitor::of(ground.server());
    assert!(patient.acquire_within(ms(350)).unwrap_err().is_timeout());
    let asked = monitor.finish().len();
    assert!((2..=5).contains(&asked), "{asked} commands");
}

#[test]
fn waiters_of_a_crowd_send_nothing_but_their_questions() {
    let ground = Ground::one(Make::Found);
    let client = warm(&ground, Token::default());
    let monitor = Monitor::of(ground.server());
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let lock = client.lock("lock").unwrap();
                lock.acquire_within(PATIENCE).unwrap().release().unwrap();
            });
        }
    });
    let seen = monitor.finish();
    assert!(
        seen.iter().all(|seen| seen.command == "EVALSHA"),
        "{seen:?}"
    );
}
