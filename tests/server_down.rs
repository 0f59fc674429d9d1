//! A server that is not there, goes away, comes back, or stands still.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{thread, time::Duration};

use common::{Make, Proxy, eventually, server::free_port};
use ground::{Ground, IO_TIMEOUT, PATIENCE, Recorder, all, builder, ms, timed};
use leasehold::{Error, ErrorKind, Loss, strategy::Token};

#[test]
fn a_server_that_is_not_there_is_told_at_once_and_by_its_address() {
    let port = free_port();
    for (url, address) in [
        (
            format!("redis://127.0.0.1:{port}"),
            format!("127.0.0.1:{port}"),
        ),
        (
            "redis+unix:///nowhere/at-all.sock".to_owned(),
            "/nowhere/at-all.sock".to_owned(),
        ),
    ] {
        let strategy = Recorder::of(Token::default());
        let client = builder(url).strategy(strategy.clone()).build().unwrap();
        let lock = client.lock("lock").unwrap();
        let (result, took) = timed(|| lock.try_acquire());
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        assert!(error.is_unreachable() && error.is_passing());
        assert!(error.to_string().contains(&address), "{error}");
        assert!(took < IO_TIMEOUT, "{took:?}");
        assert_eq!(strategy.tries(), 1);
        assert!(lock.holder().unwrap_err().is_unreachable());
    }
}

#[test]
fn a_wait_for_a_server_that_is_not_there_ends_at_its_end() {
    let client = builder(format!("redis://127.0.0.1:{}", free_port()));
    let lock = client.build().unwrap().lock("lock").unwrap();
    let (result, took) = timed(|| lock.acquire_within(ms(150)));
    assert!(result.unwrap_err().is_unreachable());
    assert!(took >= ms(150) && took < ms(150) + IO_TIMEOUT, "{took:?}");
}

#[test]
fn a_server_killed_while_a_lock_is_waited_for_is_unreachable_at_the_waits_end() {
    for (_, _, strategy) in all() {
        let mut ground = Ground::one(Make::Found);
        let strategy = Recorder::of(strategy);
        let lock = ground.client(strategy.clone()).lock("lock").unwrap();
        let lease = lock.acquire().unwrap();
        let waiting = thread::spawn(move || timed(|| lock.acquire_within(ms(700))));
        eventually(PATIENCE, "it waits", || strategy.tries() > 1);
        ground.server_mut().kill();
        let (result, took) = waiting.join().unwrap();
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Unreachable);
        assert!(took >= ms(700) && took < ms(700) + IO_TIMEOUT, "{took:?}");
        std::mem::forget(lease);
    }
}

#[test]
fn a_server_that_comes_back_is_used_again() {
    for (_, _, strategy) in all() {
        let mut ground = Ground::one(Make::Found);
        let strategy = Recorder::of(strategy);
        let lock = ground.client(strategy.clone()).lock("lock").unwrap();
        std::mem::forget(lock.acquire().unwrap());
        let waiter = lock.clone();
        let waiting = thread::spawn(move || waiter.acquire_within(PATIENCE));
        eventually(PATIENCE, "it waits", || strategy.tries() > 1);
        ground.server_mut().kill();
        assert!(lock.try_acquire().is_err());
        ground.server_mut().restart();
        let lease = waiting.join().unwrap().expect("the server is back");
        lease.check().unwrap();
        lease.release().unwrap();
    }
}

#[test]
fn a_restart_between_two_acquires_is_not_noticed() {
    let mut ground = Ground::one(Make::Found);
    let lock = ground.client(Token::default()).lock("lock").unwrap();
    for _ in 0..3 {
        lock.acquire().unwrap().release().unwrap();
        ground.server_mut().restart();
    }
}

#[test]
fn a_lease_is_believed_while_the_server_is_away_and_no_longer() {
    let mut ground = Ground::one(Make::Found);
    let client = ground.fleeting(Token::default(), ms(1_000));
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    ground.server_mut().kill();
    lease.check().unwrap();
    let error = lease.extend(ms(5_000)).unwrap_err();
    assert!(
        error.is_unreachable() || error.is_unknown() || error.is_lost(),
        "{error}"
    );
    ground::ended(&lease);
    assert!(matches!(
        lease.check().unwrap_err().loss(),
        Some(Loss::Expired { .. })
    ));
}

fn is_not_known(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unreachable | ErrorKind::Unknown)
}

#[test]
fn a_release_at_a_server_that_is_away_ends_with_the_wait() {
    let mut ground = Ground::one(Make::Found);
    let client = ground.builder().wait(ms(200)).build().unwrap();
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    let dropped = client.lock("dropped").unwrap().acquire().unwrap();
    ground.server_mut().kill();
    let (result, took) = timed(|| lease.release());
    let error = result.unwrap_err();
    assert!(is_not_known(&error), "{error}");
    assert!(took < ms(200) + 2 * IO_TIMEOUT, "{took:?}");
    let ((), took) = timed(|| drop(dropped));
    assert!(took < IO_TIMEOUT, "{took:?}");
}

#[test]
fn a_release_waits_for_a_server_that_comes_back_in_time() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url()).wait(PATIENCE).build().unwrap();
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    proxy.refuse();
    proxy.cut();
    thread::scope(|scope| {
        let releasing = scope.spawn(|| lease.release());
        proxy.heal();
        releasing.join().unwrap().expect("there was time enough");
    });
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn a_server_that_stands_still_hangs_nothing() {
    let ground = Ground::one(Make::Found);
    let brief = ms(200);
    let client = ground
        .builder()
        .io_timeout(brief)
        .connect_timeout(brief)
        .wait(brief)
        .build()
        .unwrap();
    let lock = client.lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    let dropped = client.lock("dropped").unwrap().acquire().unwrap();
    let kept = client.lock("kept").unwrap().acquire().unwrap();
    ground.server().freeze();
    let bound: Duration = ms(3_000); // a few times what any of them may take
    let took_bounded = |what: &str, took: Duration| assert!(took < bound, "{what}: {took:?}");

    let (result, took) = timed(|| client.lock("other").unwrap().try_acquire());
    assert!(is_not_known(&result.unwrap_err()));
    took_bounded("try_acquire", took);
    let (result, took) = timed(|| client.lock("other").unwrap().acquire_within(ms(500)));
    assert!(is_not_known(&result.unwrap_err()));
    took_bounded("acquire", took);
    let (result, took) = timed(|| lock.holder());
    assert!(is_not_known(&result.unwrap_err()));
    took_bounded("holder", took);
    let (result, took) = timed(|| kept.extend(PATIENCE));
    assert!(is_not_known(&result.unwrap_err()));
    took_bounded("extend", took);
    kept.check().expect("what is not known is not lost");
    let (result, took) = timed(|| lease.release());
    assert!(is_not_known(&result.unwrap_err()));
    took_bounded("release", took);
    let ((), took) = timed(|| drop(dropped));
    took_bounded("drop", took);

    ground.server().thaw();
    kept.extend(PATIENCE * 2).unwrap();
    kept.release().unwrap();
    let lease = client.lock("other").unwrap().acquire_within(PATIENCE);
    lease
        .expect("what was not answered is undone")
        .release()
        .unwrap();
}

#[test]
fn an_exchange_of_several_questions_has_one_bound() {
    let ground = Ground::one(Make::Found);
    let proxy = Proxy::of(ground.server());
    let client = builder(proxy.url()).io_timeout(ms(400)).build().unwrap();
    let lock = client.lock("lock").unwrap();
    let _lease = lock.acquire().unwrap();
    lock.holder().unwrap().unwrap(); // two questions
    proxy.latency(ms(140));
    let error = lock
        .holder()
        .expect_err("two answers of 280 ms are later than 400 ms");
    assert!(error.is_unknown(), "{error}");
}
