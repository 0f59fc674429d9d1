//! An owner holds more than once, and both sides read the same count.

use leasehold::Released;

use super::{client, start};
use crate::stage::Stage;

const NAME: &str = "counted";

/// The hash, as the server has it.
fn hash(stage: &Stage) -> Vec<String> {
    stage.server().command(&["HGETALL", NAME])
}

#[test]
fn their_inner_release_does_not_let_us_in() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock(NAME).unwrap();
    for count in 1..=3 {
        assert_eq!(peer.ask(format!("tryLock {NAME} 0 30000")), "true");
        assert_eq!(peer.ask(format!("holdCount {NAME}")), count.to_string());
    }
    let owner = lock.holder().unwrap().unwrap().owner().copied().unwrap();
    assert_eq!(hash(&stage), [&owner.to_string(), "3"]);
    assert!(lock.is_held_by(&owner).unwrap());
    for count in [2, 1] {
        peer.ask(format!("unlock {NAME}"));
        assert_eq!(peer.ask(format!("holdCount {NAME}")), count.to_string());
        assert_eq!(hash(&stage), [owner.to_string(), count.to_string()]);
        assert!(lock.try_acquire().unwrap().is_none());
    }
    peer.ask(format!("unlock {NAME}"));
    let lease = lock.try_acquire().unwrap().expect("it is free");
    lease.release().unwrap();
    stage.nothing_left(NAME);
    stage.note("re-enters, and we read its count", "3, 2, 1");
}

#[test]
fn our_inner_release_does_not_let_them_in() {
    let stage = start();
    let (client, peer) = (client(&stage), stage.peer());
    let lock = client.lock(NAME).unwrap();
    let mut leases: Vec<_> = (0..3).map(|_| lock.thread().acquire().unwrap()).collect();
    assert!(lock.is_held_by(leases[0].owner()).unwrap());
    // What they see is an alias of the owner's, the same for all of its holds.
    let owner = lock.holder().unwrap().unwrap().owner().copied().unwrap();
    let others = |verb: &str| peer.ask(format!("{verb} {NAME}"));
    for count in [3, 2, 1] {
        assert_eq!(others("holders"), format!("holders {owner}={count}"));
        assert_eq!(others("isLocked"), "true");
        assert_eq!(others("isMine"), "false");
        assert_eq!(others("holdCount"), "0", "it counts its own");
        assert_eq!(peer.ask(format!("tryLock {NAME} 0 30000")), "false");
        let left: u64 = others("remaining").parse().unwrap();
        assert!((20_000..=30_000).contains(&left), "{left}");
        let released = leases.pop().unwrap().release().unwrap();
        let freed = released == Released::Freed;
        assert_eq!(freed, count == 1);
    }
    assert_eq!(others("holders"), "holders");
    assert_eq!(peer.ask(format!("tryLock {NAME} 0 30000")), "true");
    others("unlock");
    stage.nothing_left(NAME);
    stage.note("reads our count as we re-enter", "3, 2, 1");
}
