//! How a lease is lost, and who is told: once, why, and soon.

mod common;
mod ground;
mod watch;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread,
    time::Duration,
};

use common::{
    Monitor, Proxy, Server, Worker, eventually,
    process::Scratch,
    worker::{self, Role},
};
use ground::{Any, PATIENCE, Wire, all, builder, instant, ms};
use leasehold::{
    Builder, Client, ErrorKind, Lease, LeaseTime, Loss, Released, Renewal,
    strategy::{Dialect, Reentrant, Timestamp, Token},
};
use watch::{Diary, Losses, lively};

/// Long enough that a third of it is far from the whole on a busy machine too.
const LEASE: Duration = Duration::from_secs(6);

fn watched(url: String) -> (Builder, Arc<Diary>) {
    let diary = Diary::new();
    let builder = builder(url).lease(LEASE).observer(Arc::clone(&diary));
    (builder, diary)
}

fn held(client: &Client, name: &str) -> Lease {
    client.lock(name).unwrap().acquire().unwrap()
}

/// That what only the server knew came out by a renewal, long before the lease's end.
#[track_caller]
fn told_in_time(lease: &Lease, losses: &Losses, loss: Loss, what: &str) {
    let begun = instant();
    assert_eq!(losses.next(), loss, "{what}");
    let took = begun.elapsed();
    assert!(took < LEASE * 2 / 3, "{what}: told after {took:?}");
    assert_eq!(lease.check().unwrap_err().loss(), Some(loss), "{what}");
    assert!(lease.remaining().is_zero() && !lease.is_held());
}

/// That it was told once, and to the observer too.
#[track_caller]
fn told_once(diary: &Diary, losses: &Losses, loss: Loss, what: &str) {
    assert_eq!(losses.so_far(), None, "{what}: told twice");
    assert_eq!(diary.losses(), [("job".to_owned(), loss)], "{what}");
}

/// Does it with every strategy at the same time, each with a server of its own.
fn for_each_strategy(test: impl Fn(Server, &'static str, Wire, Any) + Sync) {
    thread::scope(|scope| {
        for (name, wire, any) in all() {
            let test = &test;
            scope.spawn(move || test(Server::start(), name, wire, any));
        }
    });
}

// --- why ----------------------------------------------------------------------------------

#[test]
fn a_lock_that_is_deleted_or_flushed_away_is_lost() {
    for command in [
        &["DEL", "job", "{job}:owner"][..],
        &["FLUSHALL"],
        &["FLUSHDB"],
    ] {
        for_each_strategy(|server, name, _, any| {
            let (builder, diary) = watched(server.url());
            let client = builder.strategy(any).build().unwrap();
            let lease = held(&client, "job");
            let losses = Losses::of(&lease);
            let _: redis::Value = server.command(command);
            told_in_time(&lease, &losses, Loss::Deleted, name);
            assert_eq!(lease.release().unwrap_err().loss(), Some(Loss::Deleted));
            told_once(&diary, &losses, Loss::Deleted, name);
        });
    }
}

#[test]
fn a_lock_that_somebody_else_holds_is_lost() {
    for_each_strategy(|server, name, wire, any| {
        let (builder, diary) = watched(server.url());
        let client = builder.strategy(any).build().unwrap();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        wire.seize(&server, "job", LEASE * 2);
        let loss = match wire {
            Wire::Seconds | Wire::Millis => Loss::Contested, // a foreign stamp in its place
            Wire::Text | Wire::Hash => Loss::Taken,
        };
        told_in_time(&lease, &losses, loss, name);
        drop(lease);
        told_once(&diary, &losses, loss, name);
        if !name.starts_with("classic") {
            // The classic one deletes whoever's stamp stands there: that is the algorithm.
            assert!(
                server.keys().contains(&"job".to_owned()),
                "{name}: it was not ours"
            );
        }
    });
}

#[test]
fn one_of_ours_that_took_a_stamp_over_is_told_from_a_foreign_stamp() {
    let server = Server::start();
    let guarded = || Timestamp::guarded(Dialect::java_millis(), Duration::from_secs(60));
    let (builder, diary) = watched(server.url());
    let client = builder.strategy(guarded()).build().unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    let _: i64 = server.command(&["DEL", "job", "{job}:owner"]);
    let other = ground::builder(server.url())
        .strategy(guarded())
        .build()
        .unwrap();
    let taken = held(&other, "job");
    told_in_time(&lease, &losses, Loss::Taken, "guarded");
    drop(lease);
    taken.check().unwrap();
    assert_eq!(taken.release().unwrap(), Released::Freed);
    told_once(&diary, &losses, Loss::Taken, "guarded");
}

#[test]
fn a_server_that_is_started_anew_has_forgotten_the_lock() {
    for_each_strategy(|mut server, name, _, any| {
        let (builder, diary) = watched(server.url());
        let client = builder.strategy(any).build().unwrap();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        eventually(PATIENCE, "it is renewed", || diary.renewals("job") > 0);
        server.restart(); // kill -9, and nothing was on disk
        told_in_time(&lease, &losses, Loss::Forgotten, name);
        told_once(&diary, &losses, Loss::Forgotten, name);
        let error = lease.commit(|| ()).unwrap_err();
        assert_eq!(error.loss(), Some(Loss::Forgotten));
        assert_eq!(
            server.keys(),
            [""; 0],
            "{name}: nothing comes back by itself"
        );
    });
}

#[test]
fn a_server_that_is_started_anew_before_the_first_renewal_has_forgotten_the_lock_too() {
    let mut server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.renewal(Renewal::Every(LEASE / 2)).build().unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    let soon = LEASE.saturating_sub(ms(1_200)); // it says for how many whole seconds it has been up
    eventually(PATIENCE, "it was held for a while", || {
        lease.remaining() < soon
    });
    assert_eq!(diary.renewals("job"), 0);
    server.restart();
    told_in_time(&lease, &losses, Loss::Forgotten, "token");
}

#[test]
fn a_lock_that_is_deleted_beside_a_broken_connection_was_not_forgotten() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.build().unwrap();
    eventually(
        PATIENCE,
        "the server has been up for longer than the hold",
        || {
            let info: String = server.command(&["INFO", "server"]);
            !info.contains("uptime_in_seconds:0") && !info.contains("uptime_in_seconds:1")
        },
    );
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    eventually(PATIENCE, "it is renewed", || diary.renewals("job") > 0);
    proxy.cut();
    let _: i64 = server.command(&["DEL", "job"]);
    told_in_time(&lease, &losses, Loss::Deleted, "token");
}

#[test]
fn a_server_that_does_not_come_back_lets_the_lease_end() {
    for frozen in [true, false] {
        let mut server = Server::start();
        let (builder, diary) = watched(server.url());
        let client = builder.lease(ms(3_000)).build().unwrap();
        let begun = instant();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        if frozen {
            server.freeze();
        } else {
            server.kill();
        }
        assert_eq!(losses.next(), Loss::Unreachable);
        let took = begun.elapsed();
        assert!(took >= ms(2_950), "not before its end: {took:?}");
        assert_eq!(lease.check().unwrap_err().loss(), Some(Loss::Unreachable));
        told_once(&diary, &losses, Loss::Unreachable, "gone");
        drop(lease);
    }
}

#[test]
fn a_lease_that_was_held_for_as_long_as_it_may_is_lost() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder
        .lease(ms(2_000))
        .max_hold(ms(2_500))
        .build()
        .unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    assert_eq!(losses.next(), Loss::Overstayed);
    assert_eq!(lease.check().unwrap_err().loss(), Some(Loss::Overstayed));
    told_once(&diary, &losses, Loss::Overstayed, "max_hold");
}

#[test]
fn a_client_that_is_shut_down_has_lost_its_leases() {
    for_each_strategy(|server, name, _, any| {
        let (builder, diary) = watched(server.url());
        let client = builder.strategy(any).build().unwrap();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        client.shutdown(PATIENCE);
        assert_eq!(losses.next(), Loss::ShutDown, "{name}");
        assert_eq!(lease.check().unwrap_err().loss(), Some(Loss::ShutDown));
        told_once(&diary, &losses, Loss::ShutDown, name);
    });
}

/// Holds, and says what it finds when it has been stopped and woken.
#[test]
fn sleeper() {
    let Some(role) = worker::role("sleeper") else {
        return;
    };
    let client = builder(role.get("URL")).lease(ms(1_000)).build().unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    role.say("holds");
    role.hear();
    say_loss(&role, lease.check().unwrap_err().loss());
    say_loss(&role, Some(losses.next()));
}

fn say_loss(role: &Role, loss: Option<Loss>) {
    match loss {
        Some(Loss::Expired { ago }) => role.say(format!("expired {}", ago.as_millis())),
        other => role.say(format!("{other:?}")),
    }
}

#[test]
fn a_process_that_was_stopped_learns_how_long_ago_its_lease_ended() {
    let server = Server::start();
    let mut sleeper = Worker::spawn("sleeper", &[("URL", &server.url())]);
    sleeper.expect("holds");
    let begun = instant();
    sleeper.freeze();
    sleeper.say("go on");
    eventually(PATIENCE, "it sleeps for long", || {
        begun.elapsed() > ms(2_500)
    });
    let slept = begun.elapsed();
    sleeper.thaw();
    let ago = sleeper.expect("expired").parse().map(ms).unwrap();
    assert!(ago + ms(1_000) >= slept, "{ago:?} of {slept:?}");
    assert!(ago < begun.elapsed(), "{ago:?} of {slept:?}");
    let told = sleeper.expect("expired").parse().map(ms).unwrap();
    assert_eq!(told, ago, "`check` and the callback say the same");
}

// --- for good -----------------------------------------------------------------------------

#[test]
fn what_was_lost_stays_lost_also_when_the_key_is_there_again() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.build().unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    let value: String = server.command(&["GET", "job"]);
    let _: i64 = server.command(&["DEL", "job"]);
    told_in_time(&lease, &losses, Loss::Deleted, "token");
    let _: redis::Value = server.command(&["SET", "job", &value, "PX", "60000"]);
    let other = client
        .lock("other")
        .unwrap()
        .renewal(Renewal::Every(ms(100)));
    let other = other.unwrap().acquire().unwrap();
    eventually(PATIENCE, "the keeper goes on", || {
        diary.renewals("other") > 5
    });
    for error in [
        lease.check().unwrap_err(),
        lease.extend(LEASE).unwrap_err(),
        lease
            .commit(|| panic!("it runs without the lock"))
            .unwrap_err(),
    ] {
        assert_eq!(
            (error.kind(), error.loss()),
            (ErrorKind::Lost, Some(Loss::Deleted))
        );
    }
    assert_eq!(lease.release().unwrap_err().loss(), Some(Loss::Deleted));
    told_once(&diary, &losses, Loss::Deleted, "token");
    drop(other);
}

#[test]
fn who_asks_after_the_loss_is_told_at_once() {
    let server = Server::start();
    let client = lively(builder(server.url())).build().unwrap();
    let lease = held(&client, "job");
    let first = Losses::of(&lease);
    let _: i64 = server.command(&["DEL", "job"]);
    assert_eq!(first.next(), Loss::Deleted);
    for _ in 0..3 {
        assert_eq!(Losses::of(&lease).next(), Loss::Deleted);
    }
}

#[test]
fn everyone_who_asked_is_told_once() {
    let server = Server::start();
    let client = lively(builder(server.url())).build().unwrap();
    let lease = held(&client, "job");
    let count = Arc::new(AtomicUsize::new(0));
    let register = || {
        let count = Arc::clone(&count);
        lease.on_lost(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
    };
    // Some ask before, some while it is lost, some after.
    thread::scope(|scope| {
        for asker in 0..8 {
            let (register, server, lease) = (&register, &server, &lease);
            scope.spawn(move || {
                for n in 0..50 {
                    register();
                    if (asker, n) == (0, 10) {
                        let _: i64 = server.command(&["DEL", "job"]);
                        assert_eq!(lease_is_lost(lease), Loss::Deleted);
                    }
                }
            });
        }
    });
    register();
    eventually(PATIENCE, "all are told", || {
        count.load(Ordering::SeqCst) >= 401
    });
    assert_eq!(count.load(Ordering::SeqCst), 401);
}

fn lease_is_lost(lease: &Lease) -> Loss {
    lease.extend(LEASE).unwrap_err().loss().expect("it is lost")
}

#[test]
fn a_lease_without_renewal_tells_of_its_end() {
    for_each_strategy(|server, name, _, any| {
        let (builder, diary) = watched(server.url());
        let builder = builder.strategy(any).renewal(Renewal::Off).lease(ms(1_000));
        let client = builder.build().unwrap();
        let begun = instant();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        let Loss::Expired { ago } = losses.next() else {
            panic!("{name}: {:?}", lease.check());
        };
        let took = begun.elapsed();
        assert!(
            took >= ms(980) && ago + ms(980) < took,
            "{name}: {ago:?}, {took:?}"
        );
        assert_eq!(diary.renewals("job"), 0, "{name}");
        told_once(&diary, &losses, Loss::Expired { ago }, name);
    });
}

#[test]
fn who_released_or_dropped_is_told_nothing() {
    let server = Server::start();
    let client = lively(builder(server.url())).build().unwrap();
    for leave in [|lease: Lease| drop(lease.release()), drop] {
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        leave(lease);
        assert!(losses.never());
    }
}

#[test]
fn an_inner_lease_that_was_released_is_told_nothing_of_the_outer_one() {
    let server = Server::start();
    let client = lively(builder(server.url())).strategy(Reentrant::default());
    let client = client.build().unwrap();
    let owner = client.owner();
    let lock = client.lock("job").unwrap().owned_by(&owner).unwrap();
    let (outer, inner) = (lock.acquire().unwrap(), lock.acquire().unwrap());
    let (of_outer, of_inner) = (Losses::of(&outer), Losses::of(&inner));
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    let _: i64 = server.command(&["DEL", "job"]);
    assert_eq!(of_outer.next(), Loss::Deleted);
    assert!(of_inner.never(), "its lease was released before");
}

#[test]
fn both_leases_of_a_nested_hold_are_lost_together() {
    let server = Server::start();
    let client = lively(builder(server.url())).strategy(Reentrant::default());
    let client = client.build().unwrap();
    let owner = client.owner();
    let lock = client.lock("job").unwrap().owned_by(&owner).unwrap();
    let (outer, inner) = (lock.acquire().unwrap(), lock.acquire().unwrap());
    let told = [Losses::of(&outer), Losses::of(&inner)];
    let _: i64 = server.command(&["DEL", "job"]);
    assert_eq!(told.map(|losses| losses.next()), [Loss::Deleted; 2]);
    assert!(!outer.is_held() && !inner.is_held());
    let again = lock.acquire().unwrap();
    drop((outer, inner)); // what they leave is not what is held now
    again.check().unwrap();
    assert_eq!(again.release().unwrap(), Released::Freed);
}

// --- callbacks ----------------------------------------------------------------------------

#[test]
fn a_callback_that_blocks_or_panics_delays_no_renewal_and_no_other_callback() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).build().unwrap();
    let (blocking, panicking) = (held(&client, "blocking"), held(&client, "panicking"));
    let (third, other) = (held(&client, "third"), held(&client, "other"));
    let (block, blocked) = channel::<()>();
    let (tell, told) = channel();
    blocking.on_lost(move |loss| {
        tell.send(loss).unwrap();
        let _ = blocked.recv();
    });
    panicking.on_lost(|_| panic!("made by the test"));
    let of_panicking = Losses::of(&panicking);
    let of_third = Losses::of(&third);
    let _: i64 = server.command(&["DEL", "blocking", "panicking", "third"]);
    assert_eq!(told.recv_timeout(PATIENCE), Ok(Loss::Deleted));
    assert_eq!(of_panicking.next(), Loss::Deleted);
    assert_eq!(of_third.next(), Loss::Deleted);
    let goal = diary.renewals("other") + 9;
    eventually(PATIENCE, "the other is renewed", || {
        diary.renewals("other") >= goal
    });
    other.check().unwrap();
    drop(block);
}

#[test]
fn a_callback_may_use_the_client() {
    let server = Server::start();
    let client = lively(builder(server.url())).build().unwrap();
    let lease = held(&client, "job");
    let (tell, told) = channel();
    let (again, name) = (client.clone(), "job");
    lease.on_lost(move |_| {
        tell.send(held(&again, name)).expect("the test listens");
    });
    let _: i64 = server.command(&["DEL", "job"]);
    let next = told.recv_timeout(PATIENCE).expect("the lock is acquired");
    next.check().unwrap();
    drop(lease);
    next.check().unwrap();
    assert_eq!(next.release().unwrap(), Released::Freed);
}

// --- commit -------------------------------------------------------------------------------

#[test]
fn commit_asks_the_server_once_and_then_runs() {
    for_each_strategy(|server, name, _, any| {
        let client = builder(server.url()).strategy(any).build().unwrap();
        let lease = held(&client, "job");
        lease.commit(|| ()).unwrap(); // whatever is sent by source once
        let mut monitor = Monitor::of(&server);
        assert_eq!(lease.commit(|| 42).unwrap(), 42, "{name}");
        let seen = monitor.take();
        let most = if name.starts_with("classic") { 2 } else { 1 };
        assert!((1..=most).contains(&seen.len()), "{name}: {seen:?}");
    });
}

#[test]
fn commit_is_refused_where_the_lock_is_gone_though_check_does_not_know() {
    for_each_strategy(|server, name, wire, any| {
        let builder = builder(server.url()).strategy(any).renewal(Renewal::Off);
        let client = builder.build().unwrap();
        for taken in [false, true] {
            let lease = held(&client, "job");
            if taken {
                wire.seize(&server, "job", LEASE);
            } else {
                let _: i64 = server.command(&["DEL", "job"]);
            }
            lease.check().expect("nobody has told");
            let error = lease.commit(|| panic!("{name}: it runs without the lock"));
            let error: leasehold::Error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Lost, "{name}: {error}");
            lease.check().expect_err("now it knows");
            drop(lease);
            let _: i64 = server.command(&["DEL", "job", "{job}:owner"]);
        }
    });
}

#[test]
fn commit_does_not_run_where_the_server_does_not_answer() {
    let server = Server::start();
    let builder = builder(server.url()).io_timeout(ms(200)).wait(ms(500));
    let client = builder.build().unwrap();
    let lease = held(&client, "job");
    server.freeze();
    let error: Result<(), _> = lease.commit(|| panic!("it runs unasked"));
    let error = error.unwrap_err();
    assert!(error.is_unknown() || error.is_unreachable(), "{error}");
    lease.check().expect("it is not lost by that");
    server.thaw();
    assert_eq!(lease.commit(|| 42).unwrap(), 42);
}

#[test]
fn commit_is_refused_after_the_end_without_asking() {
    let server = Server::start();
    let client = builder(server.url()).renewal(Renewal::Off).lease(ms(100));
    let client = client.build().unwrap();
    let lease = held(&client, "job");
    ground::ended(&lease);
    let mut monitor = Monitor::of(&server);
    let error: Result<(), _> = lease.commit(|| panic!("it runs late"));
    let error = error.unwrap_err();
    assert!(
        matches!(error.loss(), Some(Loss::Expired { .. })),
        "{error}"
    );
    assert_eq!(monitor.take(), []);
}

// --- clocks -------------------------------------------------------------------------------

/// `gettimeofday` and its like, as much later as the file `$CLOCK_OFFSET` says in seconds.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long offset(void) {
    char text[32] = {0};
    const char *path = getenv("CLOCK_OFFSET");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return 0;
    char *line = fgets(text, sizeof text, file);
    fclose(file);
    return line ? atol(line) : 0;
}
int clock_gettime(clockid_t clock, struct timespec *at) {
    int done = syscall(SYS_clock_gettime, clock, at);
    if (clock == CLOCK_REALTIME) at->tv_sec += offset();
    return done;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"#;

/// A server program whose wall clock can be set.
struct Clock {
    dir: Scratch,
}

impl Clock {
    fn new() -> Clock {
        let clock = Clock {
            dir: Scratch::new(),
        };
        let (source, shim) = (clock.path("shim.c"), clock.path("shim.so"));
        fs::write(&source, SHIM).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&shim)
            .arg(&source);
        let built = cc
            .status()
            .expect("a C compiler, `cc`, makes the server's clock settable");
        assert!(built.success(), "{cc:?}");
        clock.set(0);
        let program = common::Make::Found.program();
        let (program, offset) = (program.display(), clock.path("offset"));
        let script = format!(
            "#!/bin/sh\nexport CLOCK_OFFSET={} LD_PRELOAD={}\nexec {program} \"$@\"\n",
            offset.display(),
            shim.display()
        );
        fs::write(clock.program(), script).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(clock.program(), executable).unwrap();
        clock
    }

    /// Sets the server's clock to so many seconds after the right time.
    fn set(&self, seconds: i64) {
        write_at_once(&self.path("offset"), seconds);
    }

    fn program(&self) -> PathBuf {
        self.path("redis-server")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Writes the file so that nobody reads it half written.
fn write_at_once(path: &Path, seconds: i64) {
    let new = path.with_extension("new");
    fs::write(&new, format!("{seconds}\n")).unwrap();
    fs::rename(new, path).unwrap();
}

/// Plays a part with a server whose clock jumps when the test has set it.
fn with_a_clock(part: &str) {
    let clock = Clock::new();
    let program = clock.program();
    let server = ("LEASEHOLD_SERVER", program.to_str().unwrap());
    let mut worker = Worker::spawn(part, &[server]);
    while let Some(line) = worker.says_within(PATIENCE * 3) {
        match line.strip_prefix("set the clock ") {
            Some(seconds) => {
                clock.set(seconds.parse().unwrap());
                worker.say("set");
            }
            None => return assert_eq!(line, "done"),
        }
    }
    worker.expect("done");
}

/// Has the test set the server's clock; returns when the server shows it.
fn set_the_clock(role: &Role, server: &Server, seconds: i64) {
    role.say(format!("set the clock {seconds}"));
    role.hear();
    let here = i64::try_from(ground::wire::wall().as_secs()).unwrap();
    eventually(PATIENCE, "the server's clock has jumped", || {
        let (there, _): (i64, i64) = server.command(&["TIME"]);
        (there - here - seconds).abs() <= 5
    });
}

#[test]
fn a_server_clock_that_jumps_ahead_is_reported_as_a_loss() {
    let Some(role) = worker::role("a_server_clock_that_jumps_ahead_is_reported_as_a_loss") else {
        return with_a_clock("a_server_clock_that_jumps_ahead_is_reported_as_a_loss");
    };
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.fence(true).build().unwrap();
    let lease = held(&client, "job");
    let losses = Losses::of(&lease);
    set_the_clock(&role, &server, 60);
    // For the server the lease has ended: somebody else may have the lock, with a later fence.
    let other = ground::builder(server.url()).fence(true).build().unwrap();
    let next = held(&other, "job");
    assert!(next.fence() > lease.fence());
    told_in_time(&lease, &losses, Loss::Taken, "token");
    told_once(&diary, &losses, Loss::Taken, "token");
    next.release().unwrap();
    role.say("done");
}

#[test]
fn a_server_clock_that_jumps_back_shakes_neither_a_lease_nor_its_release() {
    let test = "a_server_clock_that_jumps_back_shakes_neither_a_lease_nor_its_release";
    let Some(role) = worker::role(test) else {
        return with_a_clock(test);
    };
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.fence(true).build().unwrap();
    let lease = held(&client, "job");
    set_the_clock(&role, &server, -3_600);
    // It stays as long as the jump has made it: a renewal never makes a lease shorter.
    let before = diary.renewals("job");
    eventually(PATIENCE, "it is renewed", || diary.renewals("job") > before);
    lease.check().unwrap();
    assert_eq!(diary.losses(), []);
    let fence = lease.fence();
    lease.release().unwrap();
    let next = held(&client, "job");
    assert!(next.fence() > fence, "fences do not go back with the clock");
    next.release().unwrap();
    role.say("done");
}

#[test]
fn who_waits_does_not_sleep_for_as_long_as_a_clock_that_jumped_back_says() {
    let test = "who_waits_does_not_sleep_for_as_long_as_a_clock_that_jumped_back_says";
    let Some(role) = worker::role(test) else {
        return with_a_clock(test);
    };
    let server = Server::start();
    let client = builder(server.url()).wait(PATIENCE).build().unwrap();
    let lease = held(&client, "job");
    set_the_clock(&role, &server, -3_600);
    let lock = client.lock("job").unwrap();
    let waiter = thread::spawn(move || lock.acquire());
    lease.release().unwrap();
    waiter
        .join()
        .unwrap()
        .expect("it looked again")
        .release()
        .unwrap();
    role.say("done");
}

#[test]
fn a_lease_that_cannot_be_is_refused_before_anything_is_sent() {
    let server = Server::start();
    let mut monitor = Monitor::of(&server);
    let client = builder(server.url()).build().unwrap();
    let lock = client.lock("job").unwrap();
    let ten_years = Duration::from_secs(10 * 365 * 24 * 60 * 60);
    for lease in [
        Duration::ZERO,
        Duration::from_micros(500),
        ms(9),
        ten_years + ms(1),
        Duration::from_millis(u64::MAX),
        Duration::MAX,
    ] {
        let built = builder(server.url()).lease(lease).build();
        assert_eq!(
            built.unwrap_err().kind(),
            ErrorKind::InvalidConfig,
            "{lease:?}"
        );
        let lock = lock.clone().lease(lease);
        assert_eq!(
            lock.unwrap_err().kind(),
            ErrorKind::InvalidConfig,
            "{lease:?}"
        );
        assert!(LeaseTime::new(lease).is_err(), "{lease:?}");
    }
    assert_eq!(monitor.take(), []);
    let lease = lock.acquire().unwrap();
    monitor.take();
    for bad in [Duration::ZERO, Duration::MAX, ten_years + ms(1)] {
        assert_eq!(
            lease.extend(bad).unwrap_err().kind(),
            ErrorKind::InvalidConfig
        );
    }
    assert_eq!(monitor.take(), []);
    lease.check().unwrap();
}

#[test]
fn a_lease_is_rounded_up_for_the_server_and_down_for_its_holder() {
    for_each_strategy(|server, name, _, any| {
        let builder = builder(server.url()).strategy(any).renewal(Renewal::Off);
        let client = builder
            .lease(Duration::from_micros(2_000_500))
            .build()
            .unwrap();
        let lease = held(&client, "job");
        assert!(
            lease.remaining() < ms(2_000),
            "{name}: {:?}",
            lease.remaining()
        );
        let told = server.command::<i64>(&["PTTL", "job"]);
        let begun = instant();
        // Whatever it is at the server, it lasts longer there than here.
        ground::ended(&lease);
        assert!(begun.elapsed() < ms(2_001), "{name}");
        assert!(told == -1 || told > 0, "{name}: {told}");
    });
    let server = Server::start();
    let client = builder(server.url()).strategy(Token::default());
    let client = client
        .lease(Duration::from_micros(2_000_500))
        .build()
        .unwrap();
    let proxy = Proxy::of(&server);
    let seen = proxy.requests();
    let mut monitor = Monitor::of(&server);
    let lease = held(&client, "job");
    let asked = monitor.take();
    let asks = |what: &str| {
        asked
            .iter()
            .any(|seen| seen.args.iter().any(|arg| arg == what))
    };
    assert!(asks("2001"), "{asked:?}");
    drop((lease, seen));
}

#[test]
fn the_longest_lease_can_be_had() {
    let ten_years = Duration::from_secs(10 * 365 * 24 * 60 * 60);
    for (name, _, any) in all()
        .into_iter()
        .filter(|(name, _, _)| !name.starts_with("guarded"))
    {
        let server = Server::start();
        let client = builder(server.url()).strategy(any).lease(ten_years);
        let lease = held(&client.build().unwrap(), "job");
        assert!(lease.remaining() > ten_years / 100 * 98, "{name}");
        lease.extend(ten_years).unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    }
}
