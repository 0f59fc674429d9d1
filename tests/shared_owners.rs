//! One owner in several threads: whoever finds a hold of the owner's shares it as long as it is
//! there, and nobody is left with one that another thread has just ended.

mod common;
mod ground;
#[path = "ambiguity/stage.rs"]
#[allow(dead_code, reason = "shared with the tests of lost answers")]
mod stage;

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::Duration,
};

use common::{Make, eventually};
use ground::{Ground, PATIENCE, ended, ms, rounds};
use leasehold::{Builder, ErrorKind, Lease, Lock, Released, Renewal, strategy::Reentrant};
use stage::{Stage, rehearse};

/// The lock of one owner, of a client whose scripts the server knows.
fn shared(builder: Builder) -> Lock {
    let client = builder.strategy(Reentrant::default()).build().unwrap();
    rehearse(&client);
    let lock = client.lock("lock").unwrap();
    lock.owned_by(&client.owner()).unwrap()
}

/// Fails unless this is a hold like any other: it excludes, can be extended and shared, and frees
/// the lock when it is released.
#[track_caller]
fn is_sound(lease: Lease, lock: &Lock, stage: &Stage) {
    lease.check().expect("it is held");
    let neighbour = stage.neighbour(Reentrant::default()).lock("lock").unwrap();
    let taken = || neighbour.try_acquire().unwrap().is_some();
    assert!(!taken(), "two hold it");
    lease.extend(ms(60_000)).unwrap();
    assert!(lease.remaining() > ms(30_000), "{:?}", lease.remaining());
    let inner = lock.acquire().unwrap();
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    assert!(!taken(), "the inner release freed it");
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(stage.locks(), [""; 0]);
}

#[allow(
    clippy::disallowed_methods,
    reason = "that a thread waits for its turn shows nowhere; and a hold lasts for a time"
)]
fn pause(time: Duration) {
    thread::sleep(time);
}

#[test]
fn a_hold_that_is_released_while_its_turn_is_waited_for_is_not_joined() {
    let stage = Stage::new();
    let often = Renewal::Every(ms(100));
    let builder = stage.builder().io_timeout(ms(1_000)).lease(ms(9_000));
    let lock = shared(builder.renewal(often).wait(ms(5_000)));
    let first = lock.acquire().unwrap();
    stage.proxy.replies().of("EVALSHA").held().caught(); // the keeper has its turn, for a second
    let second = thread::scope(|scope| {
        let releasing = scope.spawn(|| first.release());
        pause(ms(100));
        let second = lock.acquire().unwrap();
        assert_eq!(releasing.join().unwrap().unwrap(), Released::Freed);
        second
    });
    is_sound(second, &lock, &stage);
}

#[test]
fn a_hold_that_ends_by_a_release_while_it_is_joined_is_followed_by_another() {
    let stage = Stage::new();
    let lock = shared(stage.builder().io_timeout(PATIENCE));
    let first = lock.acquire().unwrap();
    let joined = stage.proxy.replies().of("EVALSHA").held();
    let second = thread::scope(|scope| {
        let joining = scope.spawn(|| lock.acquire());
        joined.caught();
        drop(first); // it does not wait for its turn for ever
        joined.deliver();
        joining.join().unwrap().unwrap()
    });
    is_sound(second, &lock, &stage);
}

#[test]
fn a_hold_that_runs_out_while_it_is_joined_is_followed_by_another() {
    let stage = Stage::new();
    let lock = shared(stage.builder().io_timeout(PATIENCE));
    let short = lock.clone().lease(ms(1_000)).unwrap();
    let first = short.acquire().unwrap();
    let joined = stage.proxy.replies().of("EVALSHA").held();
    let second = thread::scope(|scope| {
        let joining = scope.spawn(|| short.acquire());
        joined.caught();
        ended(&first);
        joined.deliver();
        joining.join().unwrap().unwrap()
    });
    assert!(!first.is_held(), "what was lost stays lost");
    is_sound(second, &lock, &stage);
}

#[test]
fn two_who_find_nothing_held_share_what_the_first_is_given() {
    let stage = Stage::new();
    let lock = shared(stage.builder().io_timeout(PATIENCE));
    let given = stage.proxy.replies().of("EVALSHA").held();
    let (one, two) = thread::scope(|scope| {
        let one = scope.spawn(|| lock.acquire());
        given.caught();
        let two = scope.spawn(|| lock.try_acquire());
        pause(ms(50));
        given.deliver();
        (one.join().unwrap().unwrap(), two.join().unwrap().unwrap())
    });
    let two = two.expect("nobody else has it");
    one.check().unwrap();
    two.check().unwrap();
    assert_eq!(one.release().unwrap(), Released::StillHeld);
    is_sound(two, &lock, &stage);
}

#[test]
fn who_waits_for_its_own_owner_is_not_told_that_somebody_else_holds_it() {
    const LATE: Duration = Duration::from_millis(350);
    let stage = Stage::new();
    let lock = shared(stage.builder().io_timeout(ms(400)));
    let first = lock.acquire().unwrap();
    let _: String = stage.server.command(&["SCRIPT", "FLUSH", "SYNC"]);
    stage.proxy.replies().of("EVALSHA").late(LATE); // unknown,
    stage.proxy.replies().of("EVAL").late(LATE); // and so it is asked twice in one turn
    let before = stage.proxy.seen().len();
    let answer = thread::scope(|scope| {
        let extending = scope.spawn(|| first.extend(ms(30_000)));
        eventually(PATIENCE, "the extension is asked for", || {
            stage.proxy.seen().len() > before
        });
        let answer = lock.try_acquire();
        extending.join().unwrap().unwrap();
        answer
    });
    match answer {
        Ok(lease) => assert!(lease.is_some(), "the owner holds it itself"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Busy, "{error}"),
    }
}

#[test]
fn threads_of_one_owner_together_exclude_everybody_else() {
    let ground = Ground::one(Make::Found);
    let client = ground.fleeting(Reentrant::default(), ms(30_000));
    let other = ground.fleeting(Reentrant::default(), ms(30_000));
    let (lock, theirs) = (client.lock("lock").unwrap(), other.lock("lock").unwrap());
    let lock = lock.owned_by(&client.owner()).unwrap();
    let inside = AtomicU32::new(0);
    let (shared, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let work = || {
        while !over.load(Ordering::SeqCst) {
            let lease = lock.acquire().unwrap();
            inside.fetch_add(1, Ordering::SeqCst);
            pause(Duration::from_micros(fastrand::u64(0..500)));
            inside.fetch_sub(1, Ordering::SeqCst);
            let released = lease.release().expect("it is held until it is released");
            shared.fetch_or(released == Released::StillHeld, Ordering::SeqCst);
        }
    };
    // How many it meets inside while it has the lock.
    let meets = || {
        let mut lease = None;
        eventually(PATIENCE, "somebody else has it", || {
            lease = theirs.try_acquire().unwrap();
            lease.is_some()
        });
        let met: u32 = (0..20).map(|_| inside.load(Ordering::SeqCst)).sum();
        lease.unwrap().release().unwrap();
        met
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
        let other = scope.spawn(|| (0..rounds(50, 1_000)).map(|_| meets()).sum::<u32>());
        let met = other.join();
        over.store(true, Ordering::SeqCst);
        assert_eq!(met.unwrap(), 0, "two hold it");
    });
    assert!(shared.into_inner(), "no two threads had it at once");
    assert_eq!(ground.keys(), [""; 0]);
}
