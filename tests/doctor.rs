//! What `doctor` finds, and that it leaves nothing behind.

mod common;
mod ground;
mod watch;

use std::time::Duration;

use common::{Proxy, Server, eventually};
use ground::{Any, PATIENCE, all, builder, ms, timed};
use leasehold::{Client, Concern, ErrorKind, Finding, Report, Role, strategy::Reentrant};
use watch::{Diary, Event, lively};

fn examine(server: &Server) -> Report {
    let client = builder(server.url()).build().unwrap();
    client.doctor().expect("the server answers")
}

#[track_caller]
fn about<'a>(report: &'a Report, what: &str) -> &'a Finding {
    let found = report
        .findings()
        .iter()
        .find(|finding| finding.about == what);
    found.unwrap_or_else(|| panic!("nothing about {what}: {report}"))
}

fn info(server: &Server, field: &str) -> String {
    let info: String = server.command(&["INFO"]);
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.expect("INFO has that field").to_owned()
}

/// A user with the rights that our locks need, and these changes to them.
fn user(server: &Server, changes: &[&str]) -> String {
    let rights = [
        "ACL", "SETUSER", "worker", "reset", "on", ">secret", "~*", "&*", "+@all",
    ];
    let _: redis::Value = server.command(&[&rights, changes].concat());
    let port = server.port().expect("the server listens on TCP");
    format!("redis://worker:secret@127.0.0.1:{port}")
}

fn client_of(url: &str, strategy: Any, fence: bool) -> Client {
    builder(url)
        .strategy(strategy)
        .fence(fence)
        .build()
        .unwrap()
}

/// The strategies of which every question is a script.
fn scripted() -> impl Iterator<Item = (&'static str, Any)> {
    let all = all().into_iter().map(|(name, _, any)| (name, any));
    all.filter(|(name, _)| !name.starts_with("classic"))
}

// --- what the server is -------------------------------------------------------------------

#[test]
fn a_sound_server_is_told_by_make_version_and_role() {
    let server = Server::start();
    let report = examine(&server);
    assert!(["redis", "valkey"].contains(&report.make()), "{report:?}");
    assert_eq!(
        report.version(),
        info(&server, &format!("{}_version", report.make()))
    );
    assert_eq!((report.role(), report.eviction()), (Role::Primary, None));
    assert!(report.clock_skew().expect("it says the time") < Duration::from_secs(1));
    assert!(report.worst() <= Concern::Notice, "{report}");
    for fine in ["server", "role", "eviction", "clock", "permissions"] {
        assert_eq!(about(&report, fine).concern, Concern::Fine, "{report}");
    }
    let shown = report.to_string();
    assert_eq!(shown.lines().count(), report.findings().len());
    assert!(shown.contains("no append-only file"), "{shown}");
    assert!(shown.contains("no replica"), "{shown}");
}

#[test]
fn a_policy_that_drops_locks_is_a_danger_where_memory_is_bounded() {
    for (policy, memory, concern) in [
        ("noeviction", "0", Concern::Fine),
        ("noeviction", "50mb", Concern::Fine),
        ("volatile-ttl", "0", Concern::Notice),
        ("volatile-ttl", "50mb", Concern::Danger),
        ("allkeys-lru", "50mb", Concern::Danger),
    ] {
        let server = Server::options()
            .arg("maxmemory", memory)
            .arg("maxmemory-policy", policy);
        let report = examine(&server.start());
        let named = Some(policy).filter(|policy| *policy != "noeviction");
        assert_eq!(report.eviction(), named);
        assert_eq!(
            about(&report, "eviction").concern,
            concern,
            "{policy}, {memory}"
        );
        assert_eq!(report.worst(), concern.max(Concern::Notice), "{report}");
        assert!(about(&report, "eviction").text.contains(policy), "{report}");
    }
}

#[test]
fn a_replica_is_a_danger_and_takes_no_lock() {
    let primary = Server::options().tcp().start();
    let port = primary.port().unwrap().to_string();
    let replica = Server::options()
        .arg("replicaof", &format!("127.0.0.1 {port}"))
        .start();
    eventually(PATIENCE, "they are linked", || {
        info(&replica, "master_link_status") == "up"
    });

    let report = examine(&replica);
    assert_eq!(report.role(), Role::Replica);
    assert_eq!(about(&report, "role").concern, Concern::Danger);
    let refused = about(&report, "permissions");
    assert_eq!(refused.concern, Concern::Danger);
    assert!(
        refused.text.contains("acquired") && refused.text.contains("READONLY"),
        "{report}"
    );

    let report = examine(&primary);
    assert_eq!(report.role(), Role::Primary);
    assert!(
        about(&report, "replication").text.starts_with("1 replica"),
        "{report}"
    );
}

#[test]
fn an_append_only_file_is_told() {
    let server = Server::options().arg("appendonly", "yes").start();
    let text = about(&examine(&server), "persistence").text.clone();
    assert!(text.starts_with("an append-only file"), "{text}");
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let mut server = Server::start();
    let client = builder(server.url()).io_timeout(ms(300)).build().unwrap();
    server.freeze();
    let (result, took) = timed(|| client.doctor());
    let error = result.unwrap_err();
    assert!(error.is_unknown() || error.is_unreachable(), "{error}");
    assert!(took < PATIENCE, "{took:?}");
    server.kill();
    assert!(client.doctor().unwrap_err().is_unreachable());
}

#[test]
fn a_wrong_password_is_an_error_that_does_not_show_it() {
    let server = Server::options().tcp().password("right").start();
    let url = format!("redis://:wrong-one@127.0.0.1:{}", server.port().unwrap());
    let error = builder(url).build().unwrap().doctor().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(
        !format!("{error} {error:?}").contains("wrong-one"),
        "{error:?}"
    );
}

// --- what it lets us do -------------------------------------------------------------------

#[test]
fn a_user_who_may_do_everything_is_told_so_and_no_key_is_left() {
    for (strategy, any) in all().into_iter().map(|(name, _, any)| (name, any)) {
        let server = Server::options().tcp().start();
        let client = client_of(&user(&server, &[]), any, false);
        let report = client.doctor().unwrap();
        assert_eq!(
            about(&report, "permissions").concern,
            Concern::Fine,
            "{strategy}: {report}"
        );
        assert_eq!(server.keys(), [""; 0], "{strategy}");
    }
}

#[test]
fn a_look_with_fences_leaves_no_key_either() {
    for (strategy, any) in scripted() {
        let server = Server::options().tcp().start();
        let client = client_of(&user(&server, &[]), any, true);
        let report = client.doctor().unwrap();
        assert_eq!(
            about(&report, "permissions").concern,
            Concern::Fine,
            "{strategy}: {report}"
        );
        assert_eq!(server.keys(), [""; 0], "{strategy}");
    }
}

/// What a user without that command is told, and what is left then.
fn without(command: &str, strategy: &str, fence: bool) -> (Finding, Vec<(String, i64)>) {
    let server = Server::options().tcp().start();
    let url = user(&server, &[&format!("-{command}")]);
    let report = client_of(&url, Any::named(strategy), fence)
        .doctor()
        .unwrap();
    (about(&report, "permissions").clone(), server.ttls())
}

#[test]
fn a_command_that_is_missing_is_named_with_the_step_that_needs_it() {
    for (strategy, command, step) in [
        ("token", "evalsha", "acquired"),
        ("token", "set", "acquired"),
        ("token", "pexpire", "extended"),
        ("token", "pttl", "extended"),
        ("token", "del", "released"),
        ("reentrant", "hset", "acquired"),
        ("reentrant", "hexists", "acquired"),
        ("reentrant", "hkeys", "inspected"),
        ("reentrant", "del", "released"),
        ("guarded-ms", "time", "acquired"),
        ("guarded-ms", "set", "acquired"),
        ("guarded-ms", "del", "released"),
        ("classic-s", "setnx", "acquired"),
        ("classic-s", "getset", "extended"),
        ("classic-s", "del", "released"),
    ] {
        let (finding, _) = without(command, strategy, false);
        let text = finding.text.to_lowercase();
        assert_eq!(
            finding.concern,
            Concern::Danger,
            "{strategy} -{command}: {text}"
        );
        assert!(
            text.contains(&format!("could not be {step}")),
            "{strategy} -{command}: {text}"
        );
        assert!(
            text.contains(&format!("`{command}`")),
            "{strategy} -{command}: {text}"
        );
    }
}

#[test]
fn what_a_fence_needs_is_tried_where_fences_are_on() {
    for (strategy, command) in [
        ("token", "time"),
        ("reentrant", "time"),
        ("reentrant", "set"),
    ] {
        let (without_fence, _) = without(command, strategy, false);
        assert_eq!(
            without_fence.concern,
            Concern::Fine,
            "{strategy}: {}",
            without_fence.text
        );
        let (finding, _) = without(command, strategy, true);
        assert_eq!(finding.concern, Concern::Danger, "{strategy}");
        let text = finding.text.to_lowercase();
        assert!(
            text.contains(&format!("`{command}`")),
            "{strategy} -{command}: {text}"
        );
    }
}

#[test]
fn a_look_that_fails_half_way_leaves_no_key_for_long() {
    for command in [
        "pexpire", "set", "hset", "time", "pttl", "hkeys", "publish", "exists",
    ] {
        for (strategy, _) in scripted() {
            let (finding, left) = without(command, strategy, false);
            for (key, millis) in left {
                let text = &finding.text;
                // It is there for no longer than the second of a look's lease and a margin.
                let short = (0..=70_000).contains(&millis);
                assert!(
                    short,
                    "{strategy} -{command}: {key} lives {millis} ms; {text}"
                );
            }
        }
    }
}

#[test]
fn keys_that_are_out_of_bounds_are_told() {
    let server = Server::options().tcp().start();
    let url = user(&server, &["resetkeys", "~lock:*"]);
    let report = client_of(&url, Any::named("token"), false)
        .doctor()
        .unwrap();
    let finding = about(&report, "permissions");
    assert_eq!(finding.concern, Concern::Danger, "{report}");
    assert!(finding.text.contains("acquired"), "{report}");
}

#[test]
fn what_it_may_not_ask_is_a_finding_and_no_error() {
    let server = Server::options().tcp().start();
    let url = user(&server, &["-info"]);
    let report = client_of(&url, Any::named("token"), false)
        .doctor()
        .unwrap();
    assert_eq!((report.make(), report.version()), ("", ""));
    assert_eq!((report.role(), report.eviction()), (Role::Unknown, None));
    assert_eq!(
        about(&report, "server").concern,
        Concern::Notice,
        "{report}"
    );
    assert_eq!(
        about(&report, "permissions").concern,
        Concern::Fine,
        "{report}"
    );

    let url = user(&server, &["-time"]);
    let report = client_of(&url, Any::named("token"), false)
        .doctor()
        .unwrap();
    assert_eq!(report.clock_skew(), None);
    assert_eq!(about(&report, "clock").concern, Concern::Notice, "{report}");
}

// --- and without being asked --------------------------------------------------------------

#[test]
fn a_policy_that_drops_locks_is_a_warning_when_the_keeper_starts() {
    for (policy, warns) in [("allkeys-lru", true), ("noeviction", false)] {
        let server = Server::options().arg("maxmemory-policy", policy).start();
        let proxy = Proxy::of(&server);
        let diary = Diary::new();
        let client = lively(builder(proxy.url())).observer(diary.clone());
        let client = client.strategy(Reentrant::default()).build().unwrap();
        let lease = client.lock("job").unwrap().acquire().unwrap();
        eventually(PATIENCE, "it is renewed", || diary.renewals("job") >= 4);
        let told = |event: &Event| matches!(event, Event::Warned { .. });
        assert_eq!(
            diary.count(told),
            usize::from(warns),
            "once, where there is a reason"
        );
        let looks = proxy
            .seen()
            .iter()
            .filter(|command| *command == "INFO")
            .count();
        assert_eq!(looks, 1);
        if warns {
            let Event::Warned { address, warning } =
                diary.first("the warning", |event| told(event).then(|| event.clone()))
            else {
                unreachable!()
            };
            assert_eq!(address, format!("127.0.0.1:{}", proxy.port()));
            assert!(warning.contains("allkeys-lru") && warning.contains("noeviction"));
        }
        drop(lease);
    }
}

#[test]
fn a_keeper_that_may_not_look_renews_all_the_same() {
    let server = Server::options()
        .tcp()
        .arg("maxmemory-policy", "allkeys-lru")
        .start();
    let diary = Diary::new();
    let client = lively(builder(user(&server, &["-info"]))).observer(diary.clone());
    let client = client.build().unwrap();
    let lease = client.lock("job").unwrap().acquire().unwrap();
    eventually(PATIENCE, "it is renewed", || diary.renewals("job") >= 4);
    assert_eq!(
        diary.count(|event| matches!(event, Event::Warned { .. })),
        0
    );
    lease.release().unwrap();
}
