//! An extension without an answer: the old end stays, and it is asked again.

use std::time::Duration;

use leasehold::{ErrorKind, Released, Renewal};

use crate::common::eventually;
use crate::ground::{PATIENCE, ms};
use crate::stage::{Stage, TIMEOUT, each};

#[test]
fn an_extension_whose_reply_was_lost_is_asked_again() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let lease = lock.acquire().unwrap();
        stage.proxy.replies().of("EVALSHA").lost();
        lease.extend(ms(50_000)).unwrap();
        assert!(lease.remaining() > ms(40_000), "{name}");
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    });
}

#[test]
fn an_extension_without_any_answer_keeps_the_old_end() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).wait(TIMEOUT * 2).unwrap();
        let lease = lock.acquire().unwrap();
        let before = lease.remaining();
        stage.proxy.replies().all().lost(); // they are all carried out
        let error = lease.extend(ms(50_000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        assert!(lease.is_held(), "{name}");
        assert!(
            lease.remaining() < before,
            "{name}: it believes in what nobody said"
        );
        stage.proxy.heal();
        lease.extend(ms(50_000)).unwrap();
        assert!(lease.remaining() > ms(40_000), "{name}");
    });
}

#[test]
fn an_extension_whose_reply_was_lost_before_the_server_was_is_unknown() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).wait(TIMEOUT * 3).unwrap();
        let lease = lock.acquire().unwrap();
        let reply = stage.proxy.replies().of("EVALSHA").held();
        let error = std::thread::scope(|scope| {
            let extending = scope.spawn(|| lease.extend(ms(50_000)));
            reply.caught();
            stage.proxy.refuse();
            stage.proxy.cut();
            extending.join().unwrap().unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        assert!(lease.is_held() && lease.remaining() <= ms(20_000), "{name}");
    });
}

#[test]
fn a_step_is_not_taken_where_no_answer_came() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).wait(TIMEOUT).unwrap();
        let lease = lock.acquire().unwrap();
        stage.proxy.replies().all().lost();
        let mut taken = false;
        let error = lease.commit(|| taken = true).unwrap_err();
        assert!(error.is_unknown() && !taken, "{name}: {error}");
    });
}

#[test]
fn a_renewal_whose_reply_was_lost_is_asked_again_within_the_lease() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).lease(ms(1_500)).unwrap();
        let lock = lock.renewal(Renewal::Third).unwrap();
        stage.proxy.replies().of("EVALSHA").nth(2).lost(); // the first is the acquire's
        let lease = lock.acquire().unwrap();
        eventually(PATIENCE, "a renewal stays without an answer", || {
            !stage.told.of("RenewalFailed").is_empty()
        });
        eventually(PATIENCE, "the next is answered", || {
            !stage.told.of("Renewed").is_empty()
        });
        assert!(lease.is_held(), "{name}");
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.told.of("Lost"), [""; 0], "{name}");
    });
}

#[test]
fn renewals_that_are_never_answered_let_the_lease_end_when_it_would_have() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).lease(ms(900)).unwrap();
        let lock = lock.renewal(Renewal::Third).unwrap();
        let lease = lock.acquire().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        lease.on_lost(move |loss| tell.send(loss).unwrap());
        stage.proxy.replies().all().lost(); // they are all carried out
        let left = lease.remaining();
        let loss = told.recv_timeout(left + Duration::from_secs(10)).unwrap();
        assert_eq!(loss, leasehold::Loss::Unreachable, "{name}");
        assert!(!lease.is_held(), "{name}: it believes in what nobody said");
        stage.proxy.heal();
        assert!(lease.release().unwrap_err().is_lost(), "{name}");
    });
}
