//! The keeper: when it renews, over what, what it survives, and when it ends.

mod common;
mod ground;
mod watch;

use std::{
    mem,
    sync::{Arc, mpsc::channel},
    thread,
    time::Duration,
};

use common::{Monitor, Proxy, Seen, Server, eventually};
use ground::{Any, PATIENCE, all, builder, instant, ms};
use leasehold::{
    Builder, Call, Client, Exchange, Lease, LeaseTime, Loss, Name, Released, Renewal, Reply,
    strategy::{Attempt, Claim, Hold, Holder, Kept, Left, LockStrategy, Reentrant, Token},
};
use watch::{Diary, Event, KEEPER, Losses, alone, lively, threads, threads_become};

fn watched(url: String) -> (Builder, Arc<Diary>) {
    let diary = Diary::new();
    (builder(url).observer(Arc::clone(&diary)), diary)
}

fn held(client: &Client, name: &str) -> Lease {
    client.lock(name).unwrap().acquire().unwrap()
}

fn held_many(client: &Client, count: usize) -> Vec<Lease> {
    let each = (0..count).map(|n| held(client, &format!("job:{n}")));
    each.collect()
}

/// Does it with all of them, at the same time.
fn at_once<T: Send>(all: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    thread::scope(|scope| {
        for each in all {
            let test = &test;
            scope.spawn(move || test(each));
        }
    });
}

/// Waits until the lock of that name was renewed so many times more.
#[track_caller]
fn renewed(diary: &Diary, name: &str, times: usize) {
    let goal = diary.renewals(name) + times;
    let what = format!("{name} is renewed {times} times");
    eventually(PATIENCE, &what, || diary.renewals(name) >= goal);
}

/// The commands about a lock of that name.
fn about(seen: &[Seen], name: &str) -> usize {
    let names_it = |seen: &&Seen| seen.args.iter().any(|arg| arg == name);
    seen.iter().filter(names_it).count()
}

fn failures(diary: &Diary, of: &str) -> usize {
    diary.count(|event| matches!(event, Event::RenewalFailed { name, .. } if name == of))
}

// --- when ---------------------------------------------------------------------------------

#[test]
fn a_lease_is_renewed_at_a_third_of_it_by_one_command() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.lease(ms(1_800)).build().unwrap();
    let lease = held(&client, "job");
    let first = least_remaining(&lease, &diary); // by source, once
    let mut monitor = Monitor::of(&server);
    let before = diary.renewals("job");
    let mut least: Vec<_> = (0..4).map(|_| least_remaining(&lease, &diary)).collect();
    let (seen, times) = (monitor.take(), diary.renewals("job") - before);
    assert!(
        seen.iter().all(|seen| seen.command == "EVALSHA"),
        "{seen:?}"
    );
    assert!(
        (times..=times + 1).contains(&about(&seen, "job")),
        "{times}: {seen:?}"
    );
    least.push(first);
    // Not before a third has passed; and then at once, where the machine is not busy.
    assert!(least.iter().all(|left| *left < ms(1_200)), "{least:?}");
    assert!(least.iter().any(|left| *left > ms(1_080)), "{least:?}");
}

/// How long the lease still lasted when it was renewed next.
fn least_remaining(lease: &Lease, diary: &Diary) -> Duration {
    let goal = diary.renewals("job") + 1;
    let mut least = lease.remaining();
    eventually(PATIENCE, "it is renewed", || {
        let now = lease.remaining();
        least = least.min(now);
        diary.renewals("job") >= goal && now > least
    });
    least
}

#[test]
fn a_lease_is_renewed_as_often_as_one_asks() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let every = builder.lease(ms(6_000)).renewal(Renewal::Every(ms(100)));
    let client = every.build().unwrap();
    let begun = instant();
    let lease = held(&client, "job");
    renewed(&diary, "job", 10);
    let took = begun.elapsed();
    assert!(took >= ms(1_000), "ten renewals within {took:?}");
    assert!(
        took < ms(6_000),
        "at a third this would be twenty seconds: {took:?}"
    );
    lease.release().unwrap();
}

#[test]
fn a_lease_that_is_not_renewed_ends_when_it_ends() {
    alone("a_lease_that_is_not_renewed_ends_when_it_ends", |_| {
        let server = Server::start();
        let (builder, diary) = watched(server.url());
        let client = builder
            .lease(ms(300))
            .renewal(Renewal::Off)
            .build()
            .unwrap();
        let begun = instant();
        let lease = held(&client, "job");
        ground::ended(&lease);
        let took = begun.elapsed();
        assert!(took >= ms(290), "it ended after {took:?}");
        let error = lease.check().unwrap_err();
        assert!(
            matches!(error.loss(), Some(Loss::Expired { .. })),
            "{error}"
        );
        eventually(PATIENCE, "the server knows it no more", || {
            server.keys().is_empty()
        });
        assert_eq!((diary.renewals("job"), threads(KEEPER)), (0, 0));
    });
}

#[test]
fn a_forgotten_lease_ends_when_it_was_held_for_as_long_as_it_may() {
    at_once(all(), |(strategy, _, any)| {
        let server = Server::start();
        let (builder, diary) = watched(server.url());
        let builder = builder.lease(ms(2_000)).renewal(Renewal::Every(ms(200)));
        let builder = builder.max_hold(ms(3_000)).strategy(any);
        let client = builder.build().unwrap();
        let begun = instant();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        mem::forget(lease);
        assert_eq!(losses.next(), Loss::Overstayed, "{strategy}");
        let took = begun.elapsed();
        assert!(took >= ms(2_950), "{strategy}: it ended after {took:?}");
        assert!(diary.renewals("job") >= 4, "{strategy}");
        if !strategy.starts_with("classic") {
            // The last renewal asked for no more than what was left.
            let took = begun.elapsed();
            let next = client.lock("job").unwrap().acquire_within(ms(1_000));
            assert!(next.is_ok(), "{strategy}: still locked after {took:?}");
        }
    });
}

#[test]
fn a_lock_is_renewed_after_its_inner_hold_was_released() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).strategy(Reentrant::default());
    let client = client.build().unwrap();
    let owner = client.owner();
    let lock = client.lock("job").unwrap().owned_by(&owner).unwrap();
    let (outer, inner) = (lock.acquire().unwrap(), lock.acquire().unwrap());
    renewed(&diary, "job", 2);
    assert_eq!(inner.release().unwrap(), Released::StillHeld);
    renewed(&diary, "job", 6);
    outer.check().unwrap();
    assert!(server.command::<i64>(&["PTTL", "job"]) > 0);
    assert_eq!(outer.release().unwrap(), Released::Freed);
    assert_eq!(server.keys(), [""; 0]);
}

// --- over what ----------------------------------------------------------------------------

#[test]
fn renewals_go_in_one_pipeline_of_at_most_256() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.lease(ms(6_000)).build().unwrap();
    let leases = held_many(&client, 600);
    renewed(&diary, "job:599", 1); // from now on all of them are due together
    // Whichever is due first is held, until everything is due and goes over a fresh connection.
    let first = proxy.requests().of("EVALSHA").held();
    first.caught();
    let before = settled(&proxy);
    let second = proxy.requests().of("EVALSHA").held();
    second.caught();
    assert_eq!(
        settled(&proxy) - before,
        256,
        "sent before the first answer"
    );
    second.deliver();
    renewed(&diary, "job:0", 1);
    assert!(leases.iter().all(Lease::is_held));
}

/// How many requests have come, when no more come.
fn settled(proxy: &Proxy) -> usize {
    let (mut last, mut since) = (0, 0);
    eventually(PATIENCE, "no more requests come", || {
        let now = proxy.seen().len();
        since = if now == last { since + 1 } else { 0 };
        last = now;
        since > 100
    });
    last
}

#[test]
fn five_hundred_leases_live_though_a_round_trip_takes_long() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.lease(ms(4_000)).build().unwrap();
    let leases = held_many(&client, 500);
    proxy.latency(ms(50)); // one by one a renewal of all of them would take fifty seconds
    let all_renewed = |times| {
        let once = |n: usize| diary.renewals(&format!("job:{n}")) >= times;
        [0, 100, 250, 400, 499].into_iter().all(once)
    };
    eventually(PATIENCE, "all of them are renewed again and again", || {
        all_renewed(4)
    });
    assert!(leases.iter().all(Lease::is_held), "{:?}", diary.losses());
    proxy.latency(ms(0));
}

#[test]
fn renewals_have_a_connection_of_their_own_from_the_first_on() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).build().unwrap();
    let leases = held_many(&client, 20);
    if diary.renewals("job:0") == 0 {
        assert_eq!(
            server.connected_clients(),
            1,
            "none before the first renewal"
        );
    }
    renewed(&diary, "job:19", 3);
    assert_eq!(server.connected_clients(), 2);
    assert!(leases.iter().all(Lease::is_held));
}

// --- what it survives ---------------------------------------------------------------------

#[test]
fn a_server_that_comes_back_in_time_costs_no_lease() {
    let args = [("appendonly", "yes"), ("appendfsync", "always")];
    let options = args.iter().fold(Server::options(), |o, (k, v)| o.arg(k, v));
    let mut server = options.start();
    let (builder, diary) = watched(server.url());
    let client = builder
        .lease(ms(9_000))
        .renewal(Renewal::Every(ms(300)))
        .build()
        .unwrap();
    let leases = held_many(&client, 50);
    renewed(&diary, "job:49", 1);
    server.kill();
    diary.first("a renewal fails", |event| {
        matches!(event, Event::RenewalFailed { .. }).then_some(())
    });
    server.restart();
    renewed(&diary, "job:0", 2);
    renewed(&diary, "job:49", 1);
    assert!(leases.iter().all(Lease::is_held), "{:?}", diary.losses());
    assert!(diary.losses().is_empty());
}

#[test]
fn a_renewal_without_an_answer_is_tried_again_before_the_lease_ends() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder
        .lease(ms(6_000))
        .renewal(Renewal::Every(ms(200)))
        .build()
        .unwrap();
    let lease = held(&client, "job");
    renewed(&diary, "job", 1);
    for _ in 0..3 {
        let failed = failures(&diary, "job");
        proxy.replies().of("EVALSHA").lost();
        eventually(PATIENCE, "a renewal fails", || {
            failures(&diary, "job") > failed
        });
        renewed(&diary, "job", 1);
    }
    lease.check().unwrap();
    let Event::RenewalFailed {
        remaining, reason, ..
    } = diary.first("the failure is told", |event| {
        matches!(event, Event::RenewalFailed { .. }).then(|| event.clone())
    })
    else {
        unreachable!()
    };
    assert!(remaining > ms(0) && remaining < ms(6_000), "{remaining:?}");
    assert!(reason.contains("no answer"), "{reason}");
}

#[test]
fn a_look_at_the_server_that_is_not_answered_costs_no_lease() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder
        .lease(ms(6_000))
        .io_timeout(PATIENCE)
        .build()
        .unwrap();
    proxy.replies().of("INFO").lost();
    let lease = held(&client, "job");
    renewed(&diary, "job", 3);
    lease.check().unwrap();
}

/// A token lock whose extensions go wrong.
#[derive(Debug)]
struct Faulty(Token, Wrong);

#[derive(Debug, Clone, Copy)]
enum Wrong {
    PanicsOverTheQuestion,
    PanicsOverTheAnswer,
    AsksNonsense,
    GetsNonsense,
}

impl LockStrategy for Faulty {
    fn acquire(&self, claim: &Claim) -> Exchange<Attempt> {
        self.0.acquire(claim)
    }

    fn extend(&self, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        match self.1 {
            Wrong::PanicsOverTheQuestion => panic!("made by the test"),
            Wrong::PanicsOverTheAnswer => {
                let kept = self.0.extend(hold, lease);
                kept.map(|_| panic!("made by the test"))
            }
            Wrong::AsksNonsense => Exchange::one(Call::command("NO.SUCH"), |reply| {
                reply.int().map(unreachable)
            }),
            Wrong::GetsNonsense => {
                Exchange::one(Call::command("PING"), |reply| reply.int().map(unreachable))
            }
        }
    }

    fn leave(&self, hold: &Hold) -> Exchange<Left> {
        self.0.leave(hold)
    }

    fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        self.0.inspect(name)
    }
}

fn unreachable(number: i64) -> Kept {
    unreachable!("the server answered {:?}", Reply::Int(number))
}

#[test]
fn a_strategy_that_panics_or_answers_nonsense_harms_nobody_else() {
    let all = [
        Wrong::PanicsOverTheQuestion,
        Wrong::PanicsOverTheAnswer,
        Wrong::AsksNonsense,
        Wrong::GetsNonsense,
    ];
    at_once(all, |wrong| {
        let server = Server::start();
        let (builder, diary) = watched(server.url());
        let client = lively(builder).build().unwrap();
        let faulty = client
            .with_strategy(Faulty(Token::default(), wrong))
            .unwrap();
        let sound = held_many(&client, 5);
        let broken = faulty.lock("broken").unwrap().lease(ms(2_000)).unwrap();
        let broken = broken.acquire().unwrap();
        let losses = Losses::of(&broken);
        assert_eq!(losses.next(), Loss::Unreachable, "{wrong:?}");
        renewed(&diary, "job:0", 9);
        assert!(sound.iter().all(Lease::is_held), "{wrong:?}");
        assert!(
            failures(&diary, "broken") >= 2,
            "{wrong:?}: it was tried again"
        );
        assert_eq!(diary.losses(), [("broken".to_owned(), Loss::Unreachable)]);
    });
}

#[test]
fn a_lease_that_somebody_is_at_work_on_keeps_no_other_from_being_renewed() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder
        .lease(ms(9_000))
        .io_timeout(PATIENCE)
        .build()
        .unwrap();
    let others = client
        .lock("other")
        .unwrap()
        .renewal(Renewal::Every(ms(50)));
    let other = others.unwrap().acquire().unwrap();
    let lock = client.lock("job").unwrap().renewal(Renewal::Every(ms(300)));
    let lease = lock.unwrap().acquire().unwrap();
    let stuck = proxy
        .requests()
        .matching(|request| request.words.contains(&"job".to_owned()));
    let stuck = stuck.held();
    thread::scope(|scope| {
        let extended = scope.spawn(|| lease.extend(ms(9_000)));
        stuck.caught();
        renewed(&diary, "other", 25); // "job" was due in the meantime
        assert_eq!(diary.renewals("job"), 0);
        stuck.deliver();
        extended.join().unwrap().unwrap();
    });
    renewed(&diary, "job", 1);
    assert!(lease.is_held() && other.is_held());
}

// --- and the release ----------------------------------------------------------------------

#[test]
fn a_renewal_that_comes_in_after_the_release_is_refused_and_is_no_loss() {
    let with_fences = ["token", "reentrant", "guarded-s", "guarded-ms"];
    for strategy in with_fences {
        let server = Server::start();
        let proxy = Proxy::of(&server);
        let (builder, diary) = watched(proxy.url());
        // A release that waits for the renewal in flight for less long than the keeper does.
        let builder = lively(builder).strategy(Any::named(strategy)).wait(ms(50));
        let client = builder.build().unwrap();
        let lease = held(&client, "job");
        let losses = Losses::of(&lease);
        renewed(&diary, "job", 1);
        let renewal = proxy
            .requests()
            .matching(|request| request.words.contains(&"job".to_owned()));
        let renewal = renewal.held();
        renewal.caught();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{strategy}");
        renewal.deliver();
        let next = held(&client, "next");
        renewed(&diary, "next", 2); // the keeper has heard what became of it
        let mut monitor = Monitor::of(&server);
        renewed(&diary, "next", 4);
        assert_eq!(
            about(&monitor.take(), "job"),
            0,
            "{strategy}: it is renewed still"
        );
        next.release().unwrap();
        assert_eq!(
            server.keys(),
            [""; 0],
            "{strategy}: the renewal has revived something"
        );
        assert!(losses.never(), "{strategy}: a loss is told");
        assert_eq!(diary.losses(), [], "{strategy}");
    }
}

#[test]
fn a_release_waits_for_the_renewal_in_flight() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.lease(ms(9_000)).renewal(Renewal::Every(ms(200)));
    let client = client.build().unwrap();
    let lease = held(&client, "job");
    renewed(&diary, "job", 1);
    let reply = proxy.replies().of("EVALSHA").held();
    reply.caught(); // renewed at the server, not heard here
    let released = thread::spawn(move || lease.release());
    reply.deliver();
    assert_eq!(released.join().unwrap().unwrap(), Released::Freed);
    assert_eq!((server.keys().len(), diary.losses().len()), (0, 0));
    assert_eq!(failures(&diary, "job"), 0);
}

#[test]
fn nothing_is_renewed_after_a_release_a_drop_or_a_failed_wait() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).build().unwrap();
    let other = held(&client, "other");
    let lock = client.lock("job").unwrap();
    for leave in [|lease: Lease| drop(lease.release()), drop] {
        let lease = lock.acquire().unwrap();
        renewed(&diary, "job", 1);
        leave(lease);
        let mut monitor = Monitor::of(&server);
        renewed(&diary, "other", 9);
        assert_eq!(about(&monitor.take(), "job"), 0);
    }
    let _: redis::Value = server.command(&["SET", "job", "somebody else"]);
    lock.acquire_within(ms(50)).unwrap_err();
    let mut monitor = Monitor::of(&server);
    renewed(&diary, "other", 9);
    assert_eq!(about(&monitor.take(), "job"), 0);
    other.release().unwrap();
}

#[test]
fn a_lease_may_be_extended_while_it_is_renewed_and_never_gets_shorter() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).build().unwrap();
    let lease = held(&client, "job");
    lease.extend(Duration::from_secs(60)).unwrap();
    let far = lease.remaining();
    assert!(far > Duration::from_secs(55), "{far:?}");
    let other = held(&client, "other");
    renewed(&diary, "other", 6);
    lease.extend(ms(100)).unwrap();
    assert!(
        lease.remaining() > Duration::from_secs(30),
        "{:?}",
        lease.remaining()
    );
    let ttl: i64 = server.command(&["PTTL", "job"]);
    assert!(ttl > 30_000, "{ttl}");
    drop((lease, other));
}

// --- its own life -------------------------------------------------------------------------

#[test]
fn the_keeper_lingers_after_the_last_lease_and_comes_again_with_the_next() {
    alone(
        "the_keeper_lingers_after_the_last_lease_and_comes_again_with_the_next",
        |_| {
            let server = Server::start();
            let (builder, diary) = watched(server.url());
            let client = lively(builder).build().unwrap();
            assert_eq!(threads(KEEPER), 0, "none before the first lease");
            let lease = held(&client, "job");
            renewed(&diary, "job", 2);
            lease.release().unwrap();
            let left = instant();
            eventually(PATIENCE, "the keeper ends", || threads(KEEPER) == 0);
            let lingered = left.elapsed();
            assert!(lingered > Duration::from_secs(8), "{lingered:?}");
            let again = held(&client, "job");
            threads_become(KEEPER, 1);
            renewed(&diary, "job", 1);
            again.release().unwrap();
        },
    );
}

#[test]
fn short_leases_one_after_another_are_served_by_one_thread() {
    alone(
        "short_leases_one_after_another_are_served_by_one_thread",
        |_| {
            let server = Server::start();
            let client = builder(server.url()).build().unwrap();
            held(&client, "job").release().unwrap();
            threads_become(KEEPER, 1);
            let mut keepers = Vec::new();
            for _ in 0..200 {
                held(&client, "job").release().unwrap();
                keepers.push(threads(KEEPER));
            }
            assert_eq!(keepers, [1; 200]);
        },
    );
}

#[test]
fn a_lease_outlives_the_thread_and_the_client_that_took_it() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let (give, given) = channel();
    thread::spawn(move || {
        let client = lively(builder).build().unwrap();
        give.send(held(&client, "job")).unwrap();
    });
    let lease = given.recv_timeout(PATIENCE).unwrap();
    renewed(&diary, "job", 9);
    lease.check().unwrap();
    assert_eq!(lease.release().unwrap(), Released::Freed);
}
