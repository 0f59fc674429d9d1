//! A lease ends when it ends, and its holder is told.

use leasehold::{ErrorKind, Loss};

use crate::ground::{PATIENCE, ended, ms};

#[test]
fn a_lease_that_ran_out_frees_the_lock() {
    let ground = super::start();
    let mortal = ground.fleeting(super::strategy(), ms(100));
    let lease = mortal.lock("lock").unwrap().acquire().unwrap();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let next = lock.acquire_within(PATIENCE).unwrap();
    assert!(!lease.is_held(), "two believe that they hold the lock");
    next.check().unwrap();
    next.release().unwrap();
}

#[test]
fn a_lease_that_ran_out_is_lost() {
    let ground = super::start();
    let client = ground.fleeting(super::strategy(), ms(100));
    let lease = client.lock("lock").unwrap().acquire().unwrap();
    assert!(lease.is_held() && lease.remaining() <= ms(100));
    ended(&lease);
    assert!(lease.remaining().is_zero());
    for error in [
        lease.check().unwrap_err(),
        lease.extend(ms(500)).unwrap_err(),
        lease.check().unwrap_err(),
        lease.release().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(
            matches!(error.loss(), Some(Loss::Expired { .. })),
            "{error}"
        );
        assert!(error.to_string().contains("the lease of \"lock\" is lost"));
    }
}

#[test]
fn with_fails_when_the_lease_ran_out_under_the_work() {
    let ground = super::start();
    let client = ground.fleeting(super::strategy(), ms(100));
    let mut done = false;
    let result = client.lock("lock").unwrap().with(|lease| {
        ended(lease);
        done = true;
    });
    assert!(result.unwrap_err().is_lost());
    assert!(done);
}

#[test]
fn a_holder_never_believes_longer_than_the_server() {
    let ground = super::start();
    let lock = ground
        .fleeting(super::strategy(), ms(2_000))
        .lock("lock")
        .unwrap();
    let lease = lock.acquire().unwrap();
    for _ in 0..20 {
        let server = lock.holder().unwrap().unwrap().remaining().unwrap();
        let here = lease.remaining();
        assert!(here <= server, "{here:?} here, {server:?} there");
    }
    lease.extend(ms(3_000)).unwrap();
    let server = lock.holder().unwrap().unwrap().remaining().unwrap();
    assert!(lease.remaining() <= server);
    lease.release().unwrap();
}
