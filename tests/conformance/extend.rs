//! An extension lengthens a lease that is held, and nothing else.

use leasehold::{ErrorKind, Loss};

use crate::ground::{ended, ms};

#[test]
fn an_extension_lengthens_the_lease() {
    let ground = super::start();
    let lock = ground
        .fleeting(super::strategy(), ms(5_000))
        .lock("lock")
        .unwrap();
    let lease = lock.acquire().unwrap();
    lease.extend(ms(60_000)).unwrap();
    assert!(lease.remaining() > ms(50_000));
    assert!(lock.holder().unwrap().unwrap().remaining().unwrap() > ms(50_000));
    lease.release().unwrap();
}

#[test]
fn an_extension_never_shortens_the_lease() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    lease.extend(ms(10)).unwrap();
    assert!(lease.remaining() > ms(20_000));
    assert!(lock.holder().unwrap().unwrap().remaining().unwrap() > ms(20_000));
    lease.release().unwrap();
}

#[test]
fn an_extended_lease_outlasts_its_first_end() {
    let ground = super::start();
    let client = ground.fleeting(super::strategy(), ms(300));
    let (long, short) = (client.lock("long").unwrap(), client.lock("short").unwrap());
    let lease = long.acquire().unwrap();
    let witness = short.acquire().unwrap();
    lease.extend(ms(30_000)).unwrap();
    ended(&witness);
    drop(short.acquire().unwrap()); // the witness's end has come for the server too
    lease.check().unwrap();
    assert!(long.try_acquire().unwrap().is_none());
    lease.release().unwrap();
}

#[test]
fn an_extension_of_a_lease_that_is_gone_fails_and_takes_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    ground.everywhere(&["FLUSHALL"]);
    lease.check().unwrap(); // nobody has said so yet
    let error = lease.extend(ms(30_000)).unwrap_err();
    assert_eq!(error.loss(), Some(Loss::Deleted));
    assert_eq!(lease.check().unwrap_err().loss(), Some(Loss::Deleted));
    assert!(lease.remaining().is_zero());
    assert_eq!(ground.keys(), [""; 0]);
    assert!(lease.release().unwrap_err().is_lost());
}

#[test]
fn an_extension_of_what_is_anothers_fails_and_changes_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    ground.seize(super::WIRE, "lock", ms(50_000));
    let theirs = ground.picture();
    let error = lease.extend(ms(30_000)).unwrap_err();
    assert!(
        matches!(error.loss(), Some(Loss::Taken | Loss::Contested)),
        "{error}"
    );
    assert!(!lease.is_held());
    assert_eq!(ground.picture(), theirs);
}

#[test]
fn what_can_be_no_lease_is_refused_and_the_lease_stays() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    for bad in [ms(0), ms(9), ms(u64::MAX)] {
        let error = lease.extend(bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.to_string().contains("`lease`"), "{error}");
    }
    lease.check().unwrap();
    lease.release().unwrap();
}
