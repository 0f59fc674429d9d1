//! Threads of both sides hold one lock in turn, and count in a file that nothing else guards.

use std::{fs, mem, path::Path, thread, time::Duration};

use leasehold::{Lease, Lock, Loss};

use super::{CONTEST, contest};
use crate::{
    common::process::Scratch,
    ground::{instant, rounds},
};

const NAME: &str = "counter";
const THREADS: usize = 4;

/// How long a thread may have to wait for its turn.
const TURN_WITHIN: Duration = Duration::from_secs(10);

/// What one of our threads has done.
#[derive(Default)]
struct Done {
    turns: u32,
    /// How often a foreign stamp stood where ours was: a loser's.
    contested: u32,
}

#[test]
#[allow(clippy::format_push_string, reason = "a line that is written once")]
fn a_count_that_both_sides_add_to_is_exact() {
    let (stage, client) = contest();
    let span = Duration::from_secs(rounds(CONTEST.seconds, 20).into());
    let scratch = Scratch::new();
    let file = scratch.path().join("counter");
    fs::write(&file, "0").unwrap();
    let lock = client.lock(NAME).unwrap();
    let peers: Vec<_> = (0..THREADS).map(|_| stage.peer()).collect();
    for peer in &peers {
        let (file, span) = (file.display(), span.as_millis());
        let abandon = CONTEST.they_abandon.unwrap_or(0);
        let (hold, pause) = (CONTEST.hold.as_millis(), CONTEST.pause.as_millis());
        peer.tell(format!(
            "turns {NAME} {file} {span} {abandon} {hold} {pause}"
        ));
    }
    let ours: Vec<Done> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| take_turns(&lock, &file, span)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let theirs: Vec<u32> = peers.iter().map(|peer| turns(&peer.hear().text)).collect();

    let (our_turns, their_turns) = (
        ours.iter().map(|done| done.turns).sum::<u32>(),
        theirs.iter().sum::<u32>(),
    );
    let counted: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
    assert_eq!(counted, our_turns + their_turns);
    assert!(our_turns > 0 && their_turns > 0, "one side has had no turn");
    let turns = ours.iter().map(|done| done.turns).chain(theirs);
    let fewest = turns.min().expect("there are threads");
    let mut measured = format!(
        "{counted} exact in {span:?}: {our_turns} ours, {their_turns} theirs, at least {fewest} a thread"
    );
    if CONTEST.they_abandon.is_some() {
        let contested: u32 = ours.iter().map(|done| done.contested).sum();
        let replaced = stage.calls(&["getset"]);
        assert!(replaced > 0, "nobody has taken over by GETSET");
        measured += &format!("; {replaced} GETSETs, {contested} contested");
    }
    stage.note("4 threads of each hold it in turn", measured);
}

/// What a neighbour tells of its turns, if its own holds did not overrun their end.
fn turns(told: &str) -> u32 {
    let (turns, longest) = told.split_once(' ').expect("two numbers");
    let longest: u64 = longest.parse().expect("a number");
    assert!(
        longest < 1_000,
        "a hold of theirs took {longest} ms; this machine stands still"
    );
    turns.parse().expect("a number")
}

#[allow(
    clippy::disallowed_methods,
    reason = "what a program does without the lock takes time"
)]
fn take_turns(lock: &Lock, file: &Path, span: Duration) -> Done {
    let until = instant() + span;
    let mut done = Done::default();
    while instant() < until {
        let lease = lock.acquire_within(TURN_WITHIN).unwrap();
        add_one(file);
        done.turns += 1;
        if CONTEST
            .we_abandon
            .is_some_and(|each| done.turns.is_multiple_of(each))
        {
            mem::forget(lease);
        } else {
            done.contested += u32::from(was_contested(lease));
        }
        thread::sleep(CONTEST.pause);
    }
    done
}

/// Releases the lease; true where a legacy client that lost has written its stamp over ours.
fn was_contested(lease: Lease) -> bool {
    match lease.release() {
        Ok(_) => false,
        Err(error) if error.loss() == Some(Loss::Contested) && CONTEST.they_abandon.is_some() => {
            true
        }
        Err(error) => panic!("{error}"),
    }
}

/// Adds one to the number in the file, as somebody does who is alone.
#[allow(
    clippy::disallowed_methods,
    reason = "what a program does with the lock takes time"
)]
fn add_one(file: &Path) {
    let read: u32 = fs::read_to_string(file).unwrap().parse().unwrap();
    thread::sleep(CONTEST.hold);
    fs::write(file, (read + 1).to_string()).unwrap();
}
