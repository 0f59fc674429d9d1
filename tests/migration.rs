//! A fleet of processes moves from an old lock to a new one under load, and back by a phase, while
//! holders are killed: never two holders, and never none for longer than a lease.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;
#[path = "dialects/legacy.rs"]
#[allow(dead_code, reason = "nobody dies long ago here")]
mod legacy;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use common::{Server, Worker, eventually, worker};
use ground::{PATIENCE, builder, ms, rounds, wire::wall};
use leasehold::{
    Client, ErrorKind, Lease, Lock, Retry,
    migrate::Marker,
    strategy::{Bridge, Dialect, Phase, Timestamp, Token},
};
use legacy::Legacy;

const LEASE: Duration = Duration::from_secs(1);
const MARGIN: Duration = Duration::from_millis(200);

/// What a busy machine may add to the end of a lease: the time until the next one is in.
const BUSY: Duration = Duration::from_millis(1_500);

fn bridge(phase: Phase) -> Bridge {
    let old = Timestamp::guarded(Dialect::java_millis(), LEASE).margin(MARGIN);
    Bridge::new(old, Token::default()).phase(phase)
}

fn client(url: &str, phase: Phase) -> Client {
    let builder = builder(url).strategy(bridge(phase)).lease(LEASE);
    builder.retry(Retry::uniform(ms(4))).build().unwrap()
}

/// One of the fleet: takes the lock over and over, and notes when and whom it met.
#[test]
fn member() {
    let Some(role) = worker::role("member") else {
        return;
    };
    let server = redis::Client::open(role.get("URL")).unwrap();
    let mut notes = server.get_connection().unwrap();
    let phase = match &*role.get("PHASE") {
        "legacy" => None,
        "both" => Some(Phase::Both),
        _ => Some(Phase::New),
    };
    let mut legacy = Legacy::new("java_millis", server.get_connection().unwrap(), LEASE, 0.0);
    let lock = phase.map(|phase| client(&role.get("URL"), phase).lock("lock").unwrap());
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            role.hear();
            ends.store(true, Ordering::Relaxed);
        });
        role.say("ready");
        while !ends.load(Ordering::Relaxed) {
            let Some(lease) = take(lock.as_ref(), &mut legacy) else {
                continue;
            };
            work(&role, &mut notes);
            match lease {
                Some(lease) => drop(lease.release()),
                None => legacy.release(b"lock"),
            }
        }
    });
}

/// A lease where the member has a client of ours; nothing where the lock was not had.
#[allow(
    clippy::option_option,
    reason = "a legacy client has the lock and no lease"
)]
fn take(lock: Option<&Lock>, legacy: &mut Legacy) -> Option<Option<Lease>> {
    match lock {
        Some(lock) => lock.acquire_within(ms(300)).ok().map(Some),
        None => legacy.take(b"lock").then_some(None),
    }
}

/// Goes in, and out again, with what is said of it where nothing else is looked at.
fn work(role: &worker::Role, notes: &mut redis::Connection) {
    let me = std::process::id().to_string();
    let mut ask = |words: &[&str]| -> Option<String> {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(word);
        }
        command.query(notes).unwrap()
    };
    if let Some(met) = ask(&["SET", "inside", &me, "GET"]) {
        role.say(format_args!("met {met}"));
    }
    ask(&["RPUSH", "entries", &wall().as_millis().to_string()]);
    for _ in 0..20 {
        ask(&["PING"]);
    }
    match ask(&["GET", "inside"]) {
        Some(found) if found == me => drop(ask(&["DEL", "inside"])),
        found => role.say(format_args!("met {found:?}")),
    }
}

/// The processes, and whom of them the test has killed.
struct Fleet<'a> {
    server: &'a Server,
    members: Vec<Worker>,
    killed: Vec<String>,
    meetings: Vec<String>,
}

impl<'a> Fleet<'a> {
    fn start(server: &'a Server, size: usize) -> Fleet<'a> {
        let mut fleet = Fleet {
            server,
            members: Vec::new(),
            killed: Vec::new(),
            meetings: Vec::new(),
        };
        for _ in 0..size {
            let member = fleet.member("legacy");
            fleet.members.push(member);
        }
        fleet
    }

    fn member(&self, phase: &str) -> Worker {
        let variables = [("URL", &*self.server.url()), ("PHASE", phase)];
        let mut member = Worker::spawn("member", &variables);
        member.expect("ready");
        member
    }

    fn entries(&self) -> u64 {
        self.server.command(&["LLEN", "entries"])
    }

    /// Waits until some more have been in.
    fn let_work(&self) {
        let before = self.entries();
        let more = u64::from(rounds(30, 300));
        eventually(PATIENCE, "they work", || self.entries() > before + more);
    }

    /// Replaces a member by one of another phase; where `kills`, by killing it while it holds.
    fn replace(&mut self, which: usize, phase: &str, kills: bool) {
        let mut member = self.members.remove(which);
        if kills {
            let pid = member.pid().to_string();
            eventually(PATIENCE, "it holds", || {
                let inside: Option<String> = self.server.command(&["GET", "inside"]);
                inside.as_ref() == Some(&pid)
            });
            member.kill();
            self.killed.push(pid);
        } else {
            member.say("end");
        }
        while let Some(said) = member.says_within(if kills { ms(50) } else { ms(1_000) }) {
            self.meetings.push(said);
        }
        self.members.insert(which, self.member(phase));
        self.let_work();
    }

    /// Moves everybody, one after the other; every third one is killed.
    fn roll(&mut self, phase: &str) {
        for which in 0..self.members.len() {
            self.replace(which, phase, which % 3 == 1);
        }
    }

    /// Whoever was met had been killed; nobody was kept out for longer than a lease.
    fn judge(mut self) {
        for mut member in std::mem::take(&mut self.members) {
            member.say("end");
            while let Some(said) = member.says_within(ms(1_000)) {
                self.meetings.push(said);
            }
        }
        let met_alive = |said: &&String| {
            let met = said.trim_start_matches("met ");
            !self.killed.iter().any(|killed| killed == met)
        };
        let two: Vec<_> = self.meetings.iter().filter(met_alive).collect();
        assert!(two.is_empty(), "two holders: {two:?}");
        let entries: Vec<u64> = self.server.command(&["LRANGE", "entries", "0", "-1"]);
        let gaps = entries
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]));
        let gap = ms(gaps.max().unwrap());
        println!(
            "{} entries, {} killed, the longest gap {gap:?}",
            entries.len(),
            self.killed.len()
        );
        assert!(gap <= LEASE + MARGIN + BUSY, "nobody was in for {gap:?}");
    }
}

#[test]
fn a_fleet_moves_and_goes_back_with_one_holder_all_the_while() {
    let server = Server::start();
    let marker = Marker::of(&client(&server.url(), Phase::Both));
    let mut fleet = Fleet::start(&server, 6);
    fleet.let_work();
    fleet.roll("both");
    marker.raise(Phase::Both).unwrap();
    for which in 0..3 {
        fleet.replace(which, "new", which == 1);
    }
    for which in 0..3 {
        fleet.replace(which, "both", which == 1); // back by a phase
    }
    marker.lower(Phase::Old).unwrap();
    fleet.replace(5, "legacy", false); // and by another, as far as one member
    fleet.replace(5, "both", false);
    marker.raise(Phase::Both).unwrap();
    fleet.roll("new");
    marker.raise(Phase::New).unwrap();
    fleet.let_work();
    fleet.judge();
}

/// What the marker is for: without it, a client of the phase before the last is let in.
#[test]
fn where_the_marker_is_deleted_by_hand_there_are_two_holders() {
    let server = Server::start();
    let lock = |phase| client(&server.url(), phase).lock("lock").unwrap();
    assert!(
        lock(Phase::New).try_acquire().is_err(),
        "that skips the bridge"
    );
    Marker::of(&client(&server.url(), Phase::Both))
        .raise(Phase::Both)
        .unwrap();
    let new = lock(Phase::New).acquire().unwrap();
    let error = lock(Phase::Old).try_acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let _: i64 = server.command(&["DEL", "leasehold:phase"]);
    let old = lock(Phase::Old).try_acquire().unwrap();
    let old = old.expect("nothing keeps it out any more");
    assert!(old.is_held() && new.is_held(), "two holders");
}
