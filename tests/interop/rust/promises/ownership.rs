//! A release by one who no longer holds frees nothing of the other's.

use leasehold::{Released, Renewal};

use super::{client, start};
use crate::ground::{PATIENCE, ms};

const NAME: &str = "owned";

#[test]
fn their_late_release_does_not_free_ours() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    assert_eq!(peer.ask(format!("tryLock {NAME} 0 300")), "true");
    let lock = client.lock(NAME).unwrap();
    let lease = lock.acquire_within(PATIENCE).unwrap();
    let error = peer.refused(format!("unlock {NAME}"));
    lease.commit(|| ()).expect("it is still ours");
    assert_eq!(lease.release().unwrap(), Released::Freed);
    stage.nothing_left(NAME);
    let error = error.split(':').next().unwrap_or_default();
    stage.note("releases too late, and ours stays", error);
}

#[test]
fn our_late_release_does_not_free_theirs() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock(NAME).unwrap().lease(ms(300)).unwrap();
    let lock = lock.renewal(Renewal::Off).unwrap();
    let lease = lock.acquire().unwrap();
    assert_eq!(peer.ask(format!("tryLock {NAME} 30000 30000")), "true");
    let error = lease.release().unwrap_err();
    assert!(error.is_lost(), "{error}");
    assert_eq!(peer.ask(format!("isMine {NAME}")), "true");
    assert!(stage.ttl(NAME) > 10_000);
    peer.ask(format!("unlock {NAME}"));
    stage.nothing_left(NAME);
    stage.note("holds, and our late release leaves it", "");
}
