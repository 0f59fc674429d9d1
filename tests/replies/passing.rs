//! What a server says that cannot just now: out of memory, too few replicas, a replica, busy.

use std::{fs, thread};

use leasehold::{
    Call, ErrorKind, Exchange, LeaseTime, Name, Released, Renewal,
    strategy::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy},
};

use crate::common::{Server, eventually};
use crate::ground::{PATIENCE, Recorder, ms};
use crate::trouble::{Question, Told, Trouble, each, in_turn, locks, settings};

#[test]
fn oom_keeps_who_acquires_waiting_and_lets_renewals_and_releases_through() {
    let mut full = Trouble::by(
        "OOM",
        &["CONFIG", "SET", "maxmemory", "1"],
        &["CONFIG", "SET", "maxmemory", "0"],
    );
    full.meets = |strategy, question| match question {
        Question::Acquire => true,
        Question::Extend => strategy.starts_with("classic"), // its GETSET needs memory
        Question::Leave => false,
    };
    full.is_met();
}

#[test]
fn oom_does_not_keep_a_script_from_renewing_and_releasing() {
    each(|name, strategy| {
        if name.starts_with("classic") {
            return;
        }
        let server = Server::start();
        let client = settings(&server).strategy(strategy).build().unwrap();
        let lease = client.lock("lock").unwrap().acquire().unwrap();
        let _: String = server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        lease.extend(ms(50_000)).unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    });
}

#[test]
fn noreplicas_is_waited_for_and_told() {
    Trouble::by(
        "NOREPLICAS",
        &["CONFIG", "SET", "min-replicas-to-write", "1"],
        &["CONFIG", "SET", "min-replicas-to-write", "0"],
    )
    .is_met();
}

#[test]
fn misconf_is_waited_for_and_told() {
    let bring = |server: &Server| {
        // Where a directory stands no file can be put.
        let _ = fs::create_dir(server.dir().join("dump.rdb"));
        let _: String = server.command(&["CONFIG", "SET", "save", "3600 100000"]);
        let _: String = server.command(&["CONFIG", "SET", "stop-writes-on-bgsave-error", "yes"]);
        let has_failed = || {
            let info: String = server.command(&["INFO", "persistence"]);
            info.contains("rdb_last_bgsave_status:err")
        };
        if !has_failed() {
            let _: String = server.command(&["BGSAVE"]);
        }
        eventually(PATIENCE, "a snapshot has failed", has_failed);
    };
    let lift = |server: &Server| {
        let _: String = server.command(&["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"]);
    };
    Trouble::with("MISCONF", bring, lift).is_met();
}

#[test]
fn readonly_is_waited_for_and_told() {
    Trouble::by(
        "READONLY",
        &["REPLICAOF", "127.0.0.1", "1"], // nobody is there: it keeps its data
        &["REPLICAOF", "NO", "ONE"],
    )
    .is_met();
}

#[test]
fn masterdown_is_waited_for_and_told() {
    let mut cut_off = Trouble::by(
        "MASTERDOWN",
        &["REPLICAOF", "127.0.0.1", "1"],
        &["REPLICAOF", "NO", "ONE"],
    );
    cut_off.options = Server::options().arg("replica-serve-stale-data", "no");
    cut_off.is_met();
}

#[test]
fn busy_is_waited_for_and_told() {
    let lift = |server: &Server| {
        let _: String = server.command(&["SCRIPT", "KILL"]);
        eventually(PATIENCE, "the script has ended", || !is_busy(server));
    };
    let mut busy = Trouble::with("BUSY", |server| run(server, "while true do end"), lift);
    busy.options = Server::options().arg("lua-time-limit", "1");
    busy.slow = true;
    busy.is_met_in_turn(); // each keeps a core busy
}

#[test]
fn busy_with_a_script_that_cannot_be_killed_is_waited_for() {
    in_turn(|name, strategy| {
        let server = Server::options().arg("lua-time-limit", "1").start();
        let strategy = Recorder::of(strategy);
        let told = Told::default();
        let client = settings(&server)
            .strategy(strategy.clone())
            .observer(told.clone());
        let client = client.renewal(Renewal::Every(ms(60))).build().unwrap();
        let held = client.lock("held-lock").unwrap().acquire().unwrap();
        let lock = client.lock("lock").unwrap();
        let before = strategy.tries();
        run(
            &server,
            "redis.call('SET', 'written', 1) for i = 1, 1e8 do end", // most of a second
        );
        let error = redis::cmd("SCRIPT")
            .arg("KILL")
            .exec(&mut server.connection())
            .unwrap_err();
        assert_eq!(error.code(), Some("UNKILLABLE"));
        let lease = lock.acquire_within(PATIENCE).unwrap();
        assert!(
            strategy.tries() - before > 1,
            "{name}: it was not kept waiting"
        );
        assert!(
            told.failures().iter().any(|reason| reason.contains("BUSY")),
            "{name}"
        );
        held.check().unwrap();
        assert_eq!(held.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    });
}

/// Has the server run `script`, until it answers everybody else that it is busy.
fn run(server: &Server, script: &'static str) {
    let mut connection = server.connection();
    thread::spawn(move || {
        let _ = redis::cmd("EVAL").arg(script).arg(0).exec(&mut connection);
    });
    eventually(PATIENCE, "the server is busy", || is_busy(server));
}

fn is_busy(server: &Server) -> bool {
    let pong = redis::cmd("PING").exec(&mut server.connection());
    pong.is_err_and(|error| error.code() == Some("BUSY"))
}

#[test]
fn loading_is_waited_for_and_told() {
    each(|name, strategy| {
        let server = Server::options()
            .arg("enable-debug-command", "yes")
            .arg("key-load-delay", "400") // us a key
            .arg("loading-process-events-interval-bytes", "1024")
            .start();
        let fill = "for i = 1, 3000 do redis.call('SET', 'filler' .. i, ('x'):rep(60)) end";
        let _: redis::Value = server.command(&["EVAL", fill, "0"]);
        let told = Told::default();
        let client = settings(&server).strategy(strategy).observer(told.clone());
        let client = client.io_timeout(ms(200)).renewal(Renewal::Every(ms(60)));
        let client = client.build().unwrap();
        let held = client.lock("held-lock").unwrap().acquire().unwrap();
        let brief = client.lock("brief-lock").unwrap().wait(ms(50)).unwrap();
        let lease = brief.acquire().unwrap();
        let lock = client.lock("lock").unwrap();
        thread::scope(|scope| {
            // It saves everything, forgets it and loads it again.
            let reloading = scope.spawn(|| server.command::<String>(&["DEBUG", "RELOAD"]));
            let is_loading = || {
                let pong = redis::cmd("PING").exec(&mut server.connection());
                pong.is_err_and(|error| error.code() == Some("LOADING"))
            };
            eventually(PATIENCE, "it loads", is_loading);
            let acquired = lock.acquire_within(ms(30)).map(drop).unwrap_err();
            let extended = lease.extend(ms(30_000)).unwrap_err();
            let released = lease.release().unwrap_err();
            for error in [acquired, extended, released] {
                if error.is_unknown() {
                    continue; // it takes its time: the last try may find none for its answer
                }
                assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
                assert!(error.to_string().contains("LOADING"), "{name}: {error}");
                assert!(error.is_passing(), "{name}: {error}");
            }
            let lease = lock.acquire_within(PATIENCE).unwrap();
            assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
            reloading.join().unwrap();
        });
        assert!(
            told.failures()
                .iter()
                .any(|reason| reason.contains("LOADING")),
            "{name}"
        );
        held.check()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(held.release().unwrap(), Released::Freed, "{name}");
        eventually(PATIENCE, "what was not released then is now", || {
            locks(&server).is_empty()
        });
    });
}

#[test]
fn a_pause_of_writes_is_a_silence_and_nothing_is_left_of_it() {
    each(|name, strategy| {
        if name.starts_with("classic") {
            return; // it promises nothing after a silence
        }
        let server = Server::start();
        let told = Told::default();
        let client = settings(&server).strategy(strategy).observer(told.clone());
        let client = client
            .io_timeout(ms(150))
            .drop_timeout(ms(150))
            .build()
            .unwrap();
        let lock = client.lock("lock").unwrap();
        lock.with(|_| ()).unwrap();
        let renewing = client.lock("held-lock").unwrap().lease(ms(3_000)).unwrap();
        let renewing = renewing.renewal(Renewal::Every(ms(100))).unwrap();
        let held = renewing.acquire().unwrap();
        let released = client.lock("released-lock").unwrap().acquire().unwrap();
        let _: String = server.command(&["CLIENT", "PAUSE", "800", "WRITE"]);
        let error = lock.try_acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        assert_eq!(released.release().unwrap(), Released::Freed, "{name}");
        eventually(PATIENCE, "what was asked meanwhile is undone", || {
            !locks(&server)
                .iter()
                .any(|key| key == "lock" || key == "{lock}:owner")
        });
        let lease = lock.acquire_within(PATIENCE).unwrap();
        assert!(!told.failures().is_empty(), "{name}: no renewal met it");
        held.check()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(held.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(locks(&server), [""; 0], "{name}");
    });
}

#[test]
fn a_key_of_another_type_is_named_and_left_alone() {
    each(|name, strategy| {
        let server = Server::start();
        let client = settings(&server)
            .strategy(strategy)
            .wait(ms(80))
            .build()
            .unwrap();
        let lock = client.lock("lock").unwrap();
        let lease = lock.acquire().unwrap();
        let _: redis::Value = server.command(&["DEL", "lock"]);
        let _: u32 = server.command(&["RPUSH", "lock", "x"]);
        let extended = lease.extend(ms(30_000)).unwrap_err();
        let released = lease.release().unwrap_err();
        let acquired = lock.acquire().map(drop).unwrap_err();
        for error in [extended, released, acquired] {
            assert_eq!(error.kind(), ErrorKind::ForeignLock, "{name}: {error}");
            assert!(error.to_string().contains("a list"), "{name}: {error}");
            assert!(!error.is_passing(), "{name}: {error}");
        }
        let there: Vec<String> = server.command(&["LRANGE", "lock", "0", "-1"]);
        assert_eq!(there, ["x"], "{name}: it was touched");
    });
}

#[test]
fn a_reply_that_makes_no_sense_is_malformed_and_nothing_is_left_of_it() {
    // No real server gives one to our scripts: another reply is put in the place of theirs, by
    // losing that and letting the next come first.
    // No real server gives one to our scripts; here it is the strategy that cannot read it.
    let server = Server::start();
    let client = settings(&server).strategy(Nonsense).build().unwrap();
    let lock = client.lock("lock").unwrap();
    let error = lock.acquire().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
    eventually(PATIENCE, "it is undone", || locks(&server).is_empty());
}

/// Writes its lock, and then cannot read the answer.
#[derive(Debug)]
struct Nonsense;

impl LockStrategy for Nonsense {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        let call = Call::command("SET").key(claim.name().as_bytes()).arg("x");
        Exchange::one(call, |reply| Err(reply.misfit("sense")))
    }
    fn extend(&self, _: &Hold, _: LeaseTime) -> Exchange<Kept> {
        unreachable!("it is never held")
    }
    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        let call = Call::command("DEL").key(hold.name().as_bytes());
        Exchange::one(call, |reply| reply.int().map(|_| Left::Freed))
    }
    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        let call = Call::command("GET").key(name.as_bytes());
        Exchange::one(call, |reply| reply.optional().map(|_| None))
    }
}
