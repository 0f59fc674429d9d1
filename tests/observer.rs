//! What an observer is told, when, and with what in it.

mod common;
mod ground;
mod watch;

use std::{fmt::Debug, sync::Arc, thread};

use common::{Proxy, Server, eventually};
use ground::{PATIENCE, builder, instant, ms};
use leasehold::{
    Builder, ErrorKind, Lease, Loss, Released,
    observe::{
        Contended, Granted, Lost, Observer, Reconnected, Released as Freed, RenewalFailed, Renewed,
        Slow, Undone, Waited, Warned,
    },
    strategy::Reentrant,
};
use parking_lot::Mutex;
use watch::{Diary, Event, KEEPER, lively};

fn watched(url: String) -> (Builder, Arc<Diary>) {
    let diary = Diary::new();
    (builder(url).observer(Arc::clone(&diary)), diary)
}

fn held(client: &leasehold::Client, name: &str) -> Lease {
    client.lock(name).unwrap().acquire().unwrap()
}

/// The only event that there is.
#[track_caller]
fn only(diary: &Diary) -> Event {
    let mut events = diary.events();
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

#[test]
fn a_grant_says_what_it_cost_and_brought() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.fence(true).build().unwrap();
    let begun = instant();
    let lease = held(&client, "job");
    let Event::Granted {
        name,
        owner,
        waited,
        tries,
        fence,
    } = only(&diary)
    else {
        panic!("{:?}", diary.events());
    };
    assert_eq!((&*name, owner, tries), ("job", *lease.owner(), 1));
    assert!(fence.is_some() && fence == lease.fence());
    assert!(waited <= begun.elapsed());
}

#[test]
fn every_vain_try_says_who_is_in_the_way_and_the_grant_counts_them() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.wait(PATIENCE).build().unwrap();
    let holder = ground::builder(server.url()).build().unwrap();
    let lease = held(&holder, "job");
    let lock = client.lock("job").unwrap();
    let waiter = thread::spawn(move || lock.acquire().unwrap());
    let vain = |event: &Event| matches!(event, Event::Contended { .. });
    eventually(PATIENCE, "it tries again and again", || {
        diary.count(vain) >= 5
    });
    lease.release().unwrap();
    let _granted = waiter.join().unwrap();
    let events = diary.events();
    let Some(Event::Granted { tries, waited, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(
        *tries as usize,
        events.len(),
        "each try but the last was in vain"
    );
    assert!(*waited > ms(0));
    let Event::Contended { name, holder } = &events[0] else {
        panic!("{events:?}");
    };
    assert_eq!(name, "job");
    let label = holder.label().expect("ours say who they are");
    assert!(label.ends_with(&std::process::id().to_string()), "{label}");
    assert!(holder.remaining().unwrap() > ms(20_000));
}

#[test]
fn a_wait_that_ends_in_vain_says_why() {
    let mut server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.wait(ms(100)).build().unwrap();
    let _: redis::Value = server.command(&["SET", "job", "somebody else"]);
    let lock = client.lock("job").unwrap();
    lock.acquire().unwrap_err();
    assert!(lock.try_acquire().unwrap().is_none());
    server.kill();
    lock.acquire().unwrap_err();
    let told = |event| match event {
        Event::Waited {
            name,
            waited,
            tries,
            error,
        } => Some((name, waited, tries, error)),
        _ => None,
    };
    let waits: Vec<_> = diary.events().into_iter().filter_map(told).collect();
    let kinds: Vec<_> = waits.iter().map(|wait| wait.3).collect();
    let timed_out = ErrorKind::TimedOut;
    assert_eq!(kinds, [timed_out, timed_out, ErrorKind::Unreachable]);
    assert!(waits.iter().all(|wait| wait.0 == "job"));
    assert!(waits[0].1 >= ms(100) && waits[0].2 > 1, "{waits:?}");
    assert_eq!(waits[1].2, 1, "a single try");
}

#[test]
fn renewals_are_told_by_the_keeper_s_thread() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).build().unwrap();
    let lease = held(&client, "job");
    let renewed = |event: &Event| matches!(event, Event::Renewed { .. });
    eventually(PATIENCE, "it is renewed", || diary.count(renewed) >= 3);
    let event = diary.events().into_iter().find(renewed).unwrap();
    let owner = *lease.owner();
    assert_eq!(
        event,
        Event::Renewed {
            name: "job".to_owned(),
            owner
        }
    );
    // std knows the whole name, of which the system keeps 15 bytes.
    let threads = diary.threads(renewed);
    assert!(
        threads.iter().all(|name| name.starts_with(KEEPER)),
        "{threads:?}"
    );
}

#[test]
fn a_renewal_that_fails_says_why_and_for_how_long_the_lease_lasts() {
    let mut server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.lease(ms(3_000)).build().unwrap();
    let lease = held(&client, "job");
    server.kill();
    diary.first("the loss", |event| {
        matches!(event, Event::Lost { .. }).then_some(())
    });
    let failed = |event| match event {
        Event::RenewalFailed {
            name,
            owner,
            reason,
            remaining,
        } => {
            assert_eq!((&*name, owner), ("job", *lease.owner()));
            assert!(reason.contains("cannot reach"), "{reason}");
            Some(remaining)
        }
        _ => None,
    };
    let left: Vec<_> = diary.events().into_iter().filter_map(failed).collect();
    assert!(left.len() >= 3, "it is tried again and again: {left:?}");
    assert!(left.windows(2).all(|pair| pair[0] > pair[1]), "{left:?}");
    assert!(left[0] < ms(2_500), "after a third: {left:?}");
}

#[test]
fn a_loss_and_a_release_after_it_are_told_once_each() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = lively(builder).build().unwrap();
    let lease = held(&client, "job");
    let owner = *lease.owner();
    let _: i64 = server.command(&["DEL", "job"]);
    eventually(PATIENCE, "it is lost", || !lease.is_held());
    lease.release().unwrap_err();
    let name = || "job".to_owned();
    let told = diary.events();
    let after: Vec<_> = told
        .iter()
        .filter(|e| !matches!(e, Event::Renewed { .. }))
        .collect();
    let expected = [
        &Event::Lost {
            name: name(),
            owner,
            loss: Loss::Deleted,
        },
        &Event::Released {
            name: name(),
            owner,
            result: Err(ErrorKind::Lost),
            dropped: false,
        },
    ];
    assert_eq!(after[1..], expected);
}

#[test]
fn a_release_says_what_came_of_it_and_whether_it_was_a_drop() {
    let server = Server::start();
    let (builder, diary) = watched(server.url());
    let client = builder.strategy(Reentrant::default()).build().unwrap();
    let lock = client
        .lock("job")
        .unwrap()
        .owned_by(&client.owner())
        .unwrap();
    let (outer, inner) = (lock.acquire().unwrap(), lock.acquire().unwrap());
    inner.release().unwrap();
    drop(outer);
    let told = |event| match event {
        Event::Released {
            result, dropped, ..
        } => Some((result, dropped)),
        _ => None,
    };
    let released: Vec<_> = diary.events().into_iter().filter_map(told).collect();
    assert_eq!(
        released,
        [
            (Ok(Released::StillHeld), false),
            (Ok(Released::Freed), true)
        ]
    );
}

#[test]
fn an_acquisition_that_is_undone_is_told_with_whether_the_server_said_so() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let builder = builder.io_timeout(ms(200)).drop_timeout(ms(3_000));
    let client = builder.build().unwrap();
    held(&client, "warm").release().unwrap();
    let undone = |event: &Event| match event {
        Event::Undone { name, confirmed } => Some((name.clone(), *confirmed)),
        _ => None,
    };
    let all = || diary.events().iter().filter_map(undone).collect::<Vec<_>>();
    let lock = client.lock("job").unwrap();

    proxy.replies().of("EVALSHA").late(ms(600)); // granted, and heard too late
    lock.try_acquire().unwrap_err();
    assert_eq!(all(), [("job".to_owned(), true)]);

    proxy.blackhole();
    lock.try_acquire().unwrap_err();
    assert_eq!(all()[1..], [("job".to_owned(), false)]);
    proxy.heal();
    proxy.cut();
    assert!(!server.keys().contains(&"job".to_owned()));
}

#[test]
fn an_undo_that_is_made_good_later_is_told_again() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.io_timeout(ms(200)).build().unwrap();
    held(&client, "warm").release().unwrap();
    // Granted; then neither the answer nor the undo nor any new connection comes through.
    proxy.replies().of("EVALSHA").lost();
    proxy.requests().of("EVAL").all().lost();
    client.lock("job").unwrap().try_acquire().unwrap_err();
    let undone = |so: bool| {
        diary.count(|event| matches!(event, Event::Undone { confirmed, .. } if *confirmed == so))
    };
    assert_eq!((undone(false), undone(true)), (1, 0));
    assert_eq!(server.command::<u32>(&["EXISTS", "job"]), 1);
    proxy.heal();
    eventually(PATIENCE / 2, "the keeper undoes it", || undone(true) == 1);
    assert_eq!(server.command::<u32>(&["EXISTS", "job"]), 0);
    assert_eq!(undone(false), 1);
}

#[test]
fn a_connection_made_in_the_place_of_a_broken_one_is_told() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.build().unwrap();
    held(&client, "job").release().unwrap();
    let reconnected = |event: &Event| match event {
        Event::Reconnected { address } => Some(address.clone()),
        _ => None,
    };
    assert_eq!(
        diary.events().iter().find_map(reconnected),
        None,
        "a first one is not"
    );
    proxy.cut();
    held(&client, "job").release().unwrap();
    let told: Vec<_> = diary.events().iter().filter_map(reconnected).collect();
    assert_eq!(told, [format!("127.0.0.1:{}", proxy.port())]);
}

#[test]
fn an_answer_that_takes_long_is_told() {
    let server = Server::start();
    let proxy = Proxy::of(&server);
    let (builder, diary) = watched(proxy.url());
    let client = builder.build().unwrap();
    let lease = held(&client, "job");
    proxy.latency(ms(75));
    lease.release().unwrap();
    proxy.latency(ms(0));
    let took = diary.first("it is told", |event| match event {
        Event::Slow { name, took } if name == "job" => Some(*took),
        _ => None,
    });
    assert!(took >= ms(150), "{took:?}");
}

/// An observer that is of no use.
struct Panicking;

#[deny(clippy::missing_trait_methods)]
impl Observer for Panicking {
    fn granted(&self, _: &Granted<'_>) {
        panic!("made by the test");
    }
    fn contended(&self, _: &Contended<'_>) {
        panic!("made by the test");
    }
    fn waited(&self, _: &Waited<'_>) {
        panic!("made by the test");
    }
    fn renewed(&self, _: &Renewed<'_>) {
        panic!("made by the test");
    }
    fn renewal_failed(&self, _: &RenewalFailed<'_>) {
        panic!("made by the test");
    }
    fn lost(&self, _: &Lost<'_>) {
        panic!("made by the test");
    }
    fn released(&self, _: &Freed<'_>) {
        panic!("made by the test");
    }
    fn undone(&self, _: &Undone<'_>) {
        panic!("made by the test");
    }
    fn reconnected(&self, _: &Reconnected<'_>) {
        panic!("made by the test");
    }
    fn slow(&self, _: &Slow<'_>) {
        panic!("made by the test");
    }
    fn warned(&self, _: &Warned<'_>) {
        panic!("made by the test");
    }
}

#[test]
fn an_observer_that_panics_harms_nothing() {
    let server = Server::options()
        .arg("maxmemory-policy", "allkeys-lru")
        .start();
    let proxy = Proxy::of(&server);
    let client = lively(builder(proxy.url()))
        .observer(Panicking)
        .wait(ms(200));
    let client = client.io_timeout(ms(300)).build().unwrap();
    let (lease, other) = (held(&client, "job"), held(&client, "other"));
    let begun = instant();
    eventually(PATIENCE, "it is renewed", || begun.elapsed() > ms(1_500));
    lease.check().unwrap();
    client.lock("job").unwrap().acquire().unwrap_err(); // contended, waited
    let losses = watch::Losses::of(&other);
    let _: i64 = server.command(&["DEL", "other"]);
    assert_eq!(losses.next(), Loss::Deleted);
    proxy.latency(ms(60)); // slow
    lease.extend(ms(9_000)).unwrap();
    proxy.latency(ms(0));
    proxy.cut(); // reconnected, a renewal fails
    let begun = instant();
    eventually(PATIENCE, "it is renewed again", || {
        begun.elapsed() > ms(1_500)
    });
    lease.check().unwrap();
    assert_eq!(lease.release().unwrap(), Released::Freed);
    drop(other);
    proxy.replies().of("EVALSHA").lost(); // undone
    client.lock("job").unwrap().try_acquire().unwrap_err();
    assert!(client.shutdown(PATIENCE).unreleased().is_empty());
}

/// Everything that events print.
#[derive(Default)]
struct Printed(Mutex<String>);

impl Printed {
    fn note(&self, event: &dyn Debug) {
        use std::fmt::Write as _;
        writeln!(self.0.lock(), "{event:?}").expect("a string can be written");
    }
}

#[deny(clippy::missing_trait_methods)]
impl Observer for Printed {
    fn granted(&self, event: &Granted<'_>) {
        self.note(event);
    }
    fn contended(&self, event: &Contended<'_>) {
        self.note(event);
        self.note(&event.holder.to_string());
    }
    fn waited(&self, event: &Waited<'_>) {
        self.note(event);
        self.note(&event.error.to_string());
    }
    fn renewed(&self, event: &Renewed<'_>) {
        self.note(event);
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        self.note(event);
    }
    fn lost(&self, event: &Lost<'_>) {
        self.note(event);
    }
    fn released(&self, event: &Freed<'_>) {
        self.note(event);
    }
    fn undone(&self, event: &Undone<'_>) {
        self.note(event);
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        self.note(event);
    }
    fn slow(&self, event: &Slow<'_>) {
        self.note(event);
    }
    fn warned(&self, event: &Warned<'_>) {
        self.note(event);
    }
}

#[test]
fn no_event_prints_a_password_or_what_proves_a_hold() {
    let mut server = Server::options().tcp().password("hunter2").start();
    let printed = Arc::new(Printed::default());
    let client = builder(server.url())
        .observer(Arc::clone(&printed))
        .lease(ms(3_000));
    let client = client.wait(ms(100)).build().unwrap();
    let lease = held(&client, "job");
    let value: String = server.command(&["GET", "job"]);
    let ticket = value
        .split(':')
        .nth(1)
        .expect("lh:<uuid>:<label>")
        .to_owned();
    client.lock("job").unwrap().acquire().unwrap_err();
    let told = |what: &str| printed.0.lock().contains(what);
    eventually(PATIENCE, "it is renewed", || told("Renewed"));
    server.kill();
    eventually(PATIENCE, "it is lost", || told("Lost"));
    drop(lease);
    for event in [
        "Granted",
        "Contended",
        "Waited",
        "Renewed",
        "RenewalFailed",
        "Lost",
        "Released",
    ] {
        assert!(told(event), "nothing of {event}");
    }
    let printed = printed.0.lock();
    assert!(
        !printed.contains("hunter2") && !printed.contains(&ticket),
        "{printed}"
    );
}

/// One of everything: granted, contended, waited, slow, renewed, lost, released, dropped, undone,
/// reconnected, a renewal that failed and a warning.
#[cfg(any(feature = "tracing", feature = "metrics"))]
fn one_of_everything(observer: impl Observer + 'static) {
    let server = Server::options()
        .arg("maxmemory-policy", "allkeys-lru")
        .start();
    let proxy = Proxy::of(&server);
    let diary = Diary::new();
    let both = Both(observer, Arc::clone(&diary));
    let builder = builder(proxy.url()).observer(both).fence(true);
    let builder = lively(builder).io_timeout(ms(400)).drop_timeout(ms(3_000));
    let client = builder.build().unwrap();
    let is_up = || {
        let info: String = server.command(&["INFO", "server"]);
        !info.contains("uptime_in_seconds:0") && !info.contains("uptime_in_seconds:1")
    };
    eventually(
        PATIENCE,
        "it was not started just now, and forgot nothing",
        is_up,
    );
    let seen = |what: &str, like: fn(&Event) -> bool| {
        eventually(PATIENCE, what, || diary.count(like) > 0);
    };
    let lease = held(&client, "job");
    seen("a warning", |event| matches!(event, Event::Warned { .. }));
    seen("a renewal", |event| matches!(event, Event::Renewed { .. }));
    assert!(client.lock("job").unwrap().try_acquire().unwrap().is_none());
    proxy.replies().of("EVALSHA").lost();
    seen("a failure", |event| {
        matches!(event, Event::RenewalFailed { .. })
    });
    seen("a connection", |event| {
        matches!(event, Event::Reconnected { .. })
    });
    let _: i64 = server.command(&["DEL", "job"]);
    seen("a loss", |event| matches!(event, Event::Lost { .. }));
    lease.release().unwrap_err();
    drop(held(&client, "job"));
    proxy.latency(ms(60));
    held(&client, "job").release().unwrap();
    proxy.latency(ms(0));
    proxy.replies().of("EVALSHA").late(ms(800));
    client.lock("job").unwrap().try_acquire().unwrap_err();
    seen("an undo", |event| matches!(event, Event::Undone { .. }));
}

/// Tells both.
#[cfg(any(feature = "tracing", feature = "metrics"))]
struct Both<O>(O, Arc<Diary>);

#[cfg(any(feature = "tracing", feature = "metrics"))]
#[deny(clippy::missing_trait_methods)]
impl<O: Observer> Observer for Both<O> {
    fn granted(&self, event: &Granted<'_>) {
        self.0.granted(event);
        self.1.granted(event);
    }
    fn contended(&self, event: &Contended<'_>) {
        self.0.contended(event);
        self.1.contended(event);
    }
    fn waited(&self, event: &Waited<'_>) {
        self.0.waited(event);
        self.1.waited(event);
    }
    fn renewed(&self, event: &Renewed<'_>) {
        self.0.renewed(event);
        self.1.renewed(event);
    }
    fn renewal_failed(&self, event: &RenewalFailed<'_>) {
        self.0.renewal_failed(event);
        self.1.renewal_failed(event);
    }
    fn lost(&self, event: &Lost<'_>) {
        self.0.lost(event);
        self.1.lost(event);
    }
    fn released(&self, event: &Freed<'_>) {
        self.0.released(event);
        self.1.released(event);
    }
    fn undone(&self, event: &Undone<'_>) {
        self.0.undone(event);
        self.1.undone(event);
    }
    fn reconnected(&self, event: &Reconnected<'_>) {
        self.0.reconnected(event);
        self.1.reconnected(event);
    }
    fn slow(&self, event: &Slow<'_>) {
        self.0.slow(event);
        self.1.slow(event);
    }
    fn warned(&self, event: &Warned<'_>) {
        self.0.warned(event);
        self.1.warned(event);
    }
}

#[cfg(feature = "tracing")]
mod as_tracing {
    use std::{collections::BTreeMap, fmt, sync::Arc};

    use leasehold::observe::Tracing;
    use parking_lot::Mutex;
    use tracing::{Event, Subscriber, field::Field, field::Visit};
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt};

    use crate::{one_of_everything, watch::alone};

    /// By message: the level, and the names of the fields.
    type Told = BTreeMap<String, (String, Vec<String>)>;

    #[derive(Clone, Default)]
    struct Collect(Arc<Mutex<Told>>);

    #[derive(Default)]
    struct Fields(Vec<String>, String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            match field.name() {
                "message" => self.1 = format!("{value:?}"),
                name => self.0.push(name.to_owned()),
            }
        }
    }

    impl<S: Subscriber> Layer<S> for Collect {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            if event.metadata().target() != "leasehold" {
                return;
            }
            let mut fields = Fields::default();
            event.record(&mut fields);
            let level = event.metadata().level().to_string().to_lowercase();
            self.0.lock().insert(fields.1, (level, fields.0));
        }
    }

    /// The table in the documentation of [`Tracing`].
    const TABLE: [(&str, &str, &str); 12] = [
        ("granted", "debug", "lock owner waited_us tries fence"),
        ("contended", "trace", "lock holder"),
        ("waited", "info", "lock waited_us tries error"),
        ("renewed", "trace", "lock owner"),
        ("renewal failed", "warn", "lock owner reason remaining_us"),
        ("lost", "error", "lock owner loss"),
        ("released", "debug", "lock owner dropped"),
        ("release failed", "warn", "lock owner dropped error"),
        ("undone", "info", "lock confirmed"),
        ("reconnected", "info", "address"),
        ("slow", "warn", "lock took_us"),
        ("warned", "warn", "address warning"),
    ];

    #[test]
    fn every_event_has_the_level_and_the_fields_of_the_table() {
        alone(
            "as_tracing::every_event_has_the_level_and_the_fields_of_the_table",
            |_| {
                let collect = Collect::default();
                let all = tracing_subscriber::registry().with(collect.clone());
                tracing::subscriber::set_global_default(all).unwrap();
                one_of_everything(Tracing);
                let told = collect.0.lock();
                let names: Vec<_> = told.keys().map(String::as_str).collect();
                let mut documented = TABLE.map(|(name, _, _)| name);
                documented.sort_unstable();
                assert_eq!(names, documented);
                for (name, level, fields) in TABLE {
                    let (told_level, mut told_fields) = told[name].clone();
                    told_fields.sort();
                    let mut fields: Vec<_> = fields.split(' ').collect();
                    fields.sort_unstable();
                    assert_eq!(
                        (&*told_level, told_fields),
                        (level, fields.into_iter().map(str::to_owned).collect()),
                        "{name}"
                    );
                }
            },
        );
    }
}

#[cfg(feature = "metrics")]
mod as_metrics {
    use std::collections::BTreeSet;

    use leasehold::observe::Metrics;
    use metrics_util::{
        MetricKind,
        debugging::{DebugValue, DebuggingRecorder},
    };

    use crate::{one_of_everything, watch::alone};

    /// The table in the documentation of [`Metrics`], as far as one of everything goes.
    const TABLE: [(&str, &str, &str); 13] = [
        ("leasehold_granted_total", "counter", ""),
        ("leasehold_wait_seconds", "histogram", "outcome=granted"),
        ("leasehold_wait_seconds", "histogram", "outcome=failed"),
        ("leasehold_contended_total", "counter", ""),
        ("leasehold_renewed_total", "counter", ""),
        ("leasehold_renewal_failed_total", "counter", ""),
        ("leasehold_lost_total", "counter", "loss=deleted"),
        (
            "leasehold_released_total",
            "counter",
            "dropped=false outcome=failed",
        ),
        (
            "leasehold_released_total",
            "counter",
            "dropped=false outcome=released",
        ),
        (
            "leasehold_released_total",
            "counter",
            "dropped=true outcome=released",
        ),
        ("leasehold_undone_total", "counter", "confirmed=true"),
        ("leasehold_slow_seconds", "histogram", ""),
        ("leasehold_reconnected_total", "counter", "address=.."),
    ];

    #[test]
    fn every_metric_has_the_name_the_kind_and_the_labels_of_the_table() {
        alone(
            "as_metrics::every_metric_has_the_name_the_kind_and_the_labels_of_the_table",
            |_| {
                let recorder = DebuggingRecorder::new();
                let snapshotter = recorder.snapshotter();
                recorder.install().unwrap();
                one_of_everything(Metrics);
                let mut told = BTreeSet::new();
                for (key, _, _, value) in snapshotter.snapshot().into_vec() {
                    let (kind, key) = key.into_parts();
                    let mut labels: Vec<_> = key
                        .labels()
                        .map(|label| match label.key() {
                            "address" => {
                                assert!(label.value().starts_with("127.0.0.1:"), "{label:?}");
                                "address=..".to_owned()
                            }
                            key => format!("{key}={}", label.value()),
                        })
                        .collect();
                    labels.sort();
                    assert!(counts(&value), "{key}: {value:?}");
                    told.insert((key.name().to_owned(), shown(kind), labels.join(" ")));
                }
                let warned = ("leasehold_warned_total", "counter", "address=..");
                let documented: BTreeSet<_> = TABLE
                    .into_iter()
                    .chain([warned])
                    .map(|(name, kind, labels)| (name.to_owned(), kind, labels.to_owned()))
                    .collect();
                assert_eq!(told, documented);
            },
        );
    }

    fn shown(kind: MetricKind) -> &'static str {
        match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        }
    }

    fn counts(value: &DebugValue) -> bool {
        match value {
            DebugValue::Counter(count) => *count > 0,
            DebugValue::Gauge(_) => false,
            DebugValue::Histogram(seconds) => seconds.iter().all(|value| **value < 60.0),
        }
    }
}
