//! What bad input gets, and a server that cannot: the table in the documentation, row by row.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{collections::BTreeSet, fs, thread, time::Duration};

use common::{Make, Monitor, Proxy, Server, eventually};
use ground::{Ground, PATIENCE, Recorder, Wire, all, builder, ms, timed};
use leasehold::{
    Client, Error, ErrorKind, Name,
    strategy::{Dialect, LockStrategy, Reentrant, Timestamp, Token},
};

fn guarded(dialect: Dialect) -> Timestamp {
    Timestamp::guarded(dialect, Duration::from_secs(60))
}

// Names.

#[test]
fn a_name_that_cannot_be_is_refused_before_anything_is_sent() {
    let ground = Ground::one(Make::Found);
    let client = ground.client(Token::default());
    drop(client.lock("warm-up").unwrap().acquire().unwrap());
    let monitor = Monitor::of(ground.server());
    let long = "x".repeat(1025);
    for (bad, why) in [
        ("", "it is empty"),
        (long.as_str(), "it has 1025 bytes"),
        ("x}y", "x}y"),
        ("{}x", "{}x"),
        ("}", "}"),
    ] {
        for error in [Name::new(bad).unwrap_err(), client.lock(bad).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::InvalidName);
            assert!(error.is_invalid_name() && !error.is_passing());
            assert!(error.to_string().contains(why), "{error}");
        }
    }
    assert_eq!(monitor.finish(), []);
}

// Settings.

#[test]
fn a_setting_that_cannot_be_is_named_with_its_value() {
    let refused = |result: Result<Client, Error>, field: &str, value: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        let named = format!("`{field}` = {value}");
        assert!(error.to_string().contains(&named), "{error}");
    };
    let some = || Client::builder("redis://127.0.0.1/");
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    refused(some().lease(ms(9)).build(), "lease", "9ms");
    refused(some().lease(ms(0)).build(), "lease", "0ns");
    refused(
        some().lease(year * 10 + ms(1)).build(),
        "lease",
        "315360000.001s",
    );
    refused(some().wait(Duration::MAX).build(), "wait", "1844674407");
    refused(some().pool_size(0).build(), "pool_size", "0");
    let beside = Timestamp::guarded(Dialect::seconds(), ms(5_000));
    refused(some().strategy(beside).build(), "lease", "30s");
    assert!(some().lease(year * 10).build().is_ok());
    assert!(some().lease(ms(10)).build().is_ok());
}

#[test]
fn a_locks_own_terms_are_checked_too() {
    let client = Client::connect("redis://127.0.0.1/").unwrap();
    let lock = client.lock("lock").unwrap();
    for error in [
        lock.clone().lease(ms(9)).unwrap_err(),
        lock.clone().wait(Duration::MAX).unwrap_err(),
        lock.acquire_within(Duration::MAX).map(drop).unwrap_err(),
        client
            .with_strategy(Timestamp::guarded(Dialect::seconds(), ms(5_000)))
            .map(drop)
            .unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error}");
    }
}

#[test]
fn a_url_that_leads_nowhere_says_what_would() {
    for (url, why) in [
        ("localhost", "scheme"),
        ("", "scheme"),
        ("http://localhost", "not supported"),
        ("redis://localhost:port", ""),
        ("redis://localhost/database", ""),
        ("redis://", ""),
        ("://", ""),
    ] {
        let error = Client::connect(url).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{url}");
        assert!(error.to_string().contains("`url`"), "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn a_url_of_a_feature_that_is_off_says_what_to_enable() {
    let error = Client::connect("rediss://localhost").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert!(error.to_string().contains("enable the feature `tls`"));
}

#[test]
fn every_url_that_a_server_has_leads_there() {
    let server = Server::options().tcp().start();
    let port = server.port().unwrap();
    let socket = server.socket_url();
    let path = socket.strip_prefix("redis+unix://").unwrap();
    for url in [
        format!("redis://127.0.0.1:{port}"),
        format!("redis://127.0.0.1:{port}/"),
        format!("redis://127.0.0.1:{port}/0"),
        format!("redis://localhost:{port}/5"),
        format!("unix://{path}"),
        format!("redis+unix://{path}?db=7"),
    ] {
        let lock = builder(url.as_str()).build().unwrap().lock(&url).unwrap();
        lock.acquire()
            .unwrap()
            .release()
            .unwrap_or_else(|error| panic!("{url}: {error}"));
    }
}

#[test]
fn a_database_is_the_one_that_the_url_names() {
    let server = Server::options().tcp().start();
    let client = builder(format!("{}/3", server.url())).build().unwrap();
    let _lease = client.lock("lock").unwrap().acquire().unwrap();
    assert_eq!(server.keys(), [""; 0]);
    let keyspace: String = server.command(&["INFO", "keyspace"]);
    assert!(keyspace.contains("db3:keys=1"), "{keyspace}");
    let error = builder(format!("{}/99", server.url()))
        .build()
        .unwrap()
        .lock("lock")
        .unwrap()
        .try_acquire()
        .unwrap_err();
    assert!(error.to_string().contains("out of range"), "{error}");
}

// Who may not.

/// Denied at once and for good: the error names the command.
#[track_caller]
fn assert_denied(error: &Error, command: &str) {
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(!error.is_passing());
    let named = format!("`{command}`").to_lowercase();
    let text = error.to_string().to_lowercase();
    assert!(text.contains(&named), "{text} does not name {named}");
}

#[test]
fn a_wrong_password_is_denied_and_not_tried_again() {
    let ground = Ground::of(Server::options().tcp().password("hunter2").start());
    let proxy = Proxy::of(ground.server());
    let port = proxy.port();
    for url in [
        format!("redis://:wrong@127.0.0.1:{port}"),
        format!("redis://nobody:hunter2@127.0.0.1:{port}"),
    ] {
        let before = proxy.accepted();
        let lock = builder(url).build().unwrap().lock("lock").unwrap();
        let (result, took) = timed(|| lock.acquire_within(PATIENCE));
        let error = result.unwrap_err();
        assert_denied(&error, "AUTH");
        assert!(took < PATIENCE, "{took:?}");
        assert_eq!(proxy.accepted(), before + 1);
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
    let anonymous = builder(format!("redis://127.0.0.1:{port}"))
        .build()
        .unwrap();
    let error = anonymous
        .lock("lock")
        .unwrap()
        .acquire()
        .map(drop)
        .unwrap_err();
    assert_denied(&error, "EVALSHA");
    assert!(error.to_string().contains("NOAUTH"), "{error}");
    let right = builder(proxy.url()).build().unwrap();
    right
        .lock("lock")
        .unwrap()
        .acquire()
        .unwrap()
        .release()
        .unwrap();
}

/// A client of `ground` that may do everything but `command`.
fn without(ground: &Ground, command: &str, strategy: impl LockStrategy + 'static) -> Client {
    let forbidden = format!("-{}", command.to_lowercase());
    let user = [
        "ACL", "SETUSER", "limited", "reset", "on", ">pass", "~*", "&*", "+@all", &forbidden,
    ];
    ground.everywhere(&user);
    let socket = ground.server().socket_url();
    builder(format!("{socket}?user=limited&pass=pass"))
        .strategy(strategy)
        .build()
        .unwrap()
}

/// Everything that a client asks, and the errors it gets: on a lock that is free, on one that
/// somebody else holds, and on one that it holds by `hold`'s grace.
fn everything(ground: &Ground, limited: &Client, wire: Wire) -> Vec<Error> {
    ground.everywhere(&["FLUSHALL"]);
    ground.seize(wire, "held", PATIENCE);
    let (free, held) = (limited.lock("free").unwrap(), limited.lock("held").unwrap());
    let mut errors = Vec::new();
    errors.extend(held.acquire_within(ms(0)).map(drop).err());
    errors.extend(held.holder().map(drop).err());
    errors.extend(free.holder().map(drop).err());
    match free.acquire_within(PATIENCE) {
        Ok(lease) => {
            errors.extend(lease.extend(ms(40_000)).err());
            errors.extend(lease.release().err());
        }
        Err(error) => errors.push(error),
    }
    errors.retain(|error| !error.is_timeout());
    errors
}

/// Each of these commands, once forbidden, is named by an error, and by every error.
fn assert_each_is_named<S: LockStrategy + Clone + 'static>(
    make: Make,
    strategy: &S,
    wire: Wire,
    commands: &[&str],
) {
    let ground = Ground::one(make);
    // Somebody who may load the scripts has done so.
    let errors = everything(&ground, &ground.client(strategy.clone()), wire);
    assert!(errors.is_empty(), "{errors:?}");
    let mut wrong = BTreeSet::new();
    for command in commands {
        let limited = without(&ground, command, strategy.clone());
        let (errors, took) = timed(|| everything(&ground, &limited, wire));
        assert!(took < PATIENCE, "{command}: {took:?}");
        if errors.is_empty() {
            wrong.insert(format!("{command} is not missed"));
        }
        for error in errors {
            let named = format!("`{command}`").to_lowercase();
            if error.kind() != ErrorKind::Denied
                || !error.to_string().to_lowercase().contains(&named)
            {
                wrong.insert(format!("without {command}: {error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_command_that_a_token_may_not_call_is_named() {
    for make in [Make::Found, Make::Valkey] {
        let calls = ["EVALSHA", "GET", "PTTL", "EXISTS", "SET", "PEXPIRE", "DEL"];
        assert_each_is_named(make, &Token::default(), Wire::Text, &calls);
    }
}

#[test]
fn a_command_that_a_token_without_scripts_may_not_call_is_named() {
    let calls = ["SET", "DELIFEQ", "PTTL", "GET"];
    assert_each_is_named(Make::Valkey, &Token::commands(), Wire::Text, &calls);
}

#[test]
fn a_command_that_a_reentrant_lock_may_not_call_is_named() {
    for make in [Make::Found, Make::Valkey] {
        let calls = [
            "EVALSHA", "HEXISTS", "EXISTS", "HKEYS", "PTTL", "HSET", "PEXPIRE", "DEL",
        ];
        assert_each_is_named(make, &Reentrant::default(), Wire::Hash, &calls);
    }
}

#[test]
fn a_command_that_a_guarded_stamp_may_not_call_is_named() {
    for make in [Make::Found, Make::Valkey] {
        let calls = ["EVALSHA", "GET", "TIME", "EXISTS", "SET", "PEXPIRE", "DEL"];
        let strategy = guarded(Dialect::java_millis());
        assert_each_is_named(make, &strategy, Wire::Millis, &calls);
    }
}

#[test]
fn a_command_that_a_classic_stamp_may_not_send_is_named() {
    let calls = ["SETNX", "GET", "GETSET", "DEL"];
    let strategy = Timestamp::classic(Dialect::seconds());
    assert_each_is_named(Make::Found, &strategy, Wire::Seconds, &calls);
}

#[test]
fn who_may_not_load_a_script_is_told_so() {
    let ground = Ground::one(Make::Found);
    let limited = without(&ground, "EVAL", Token::default());
    let error = limited.lock("lock").unwrap().try_acquire().unwrap_err();
    assert_denied(&error, "EVAL");
}

#[test]
fn who_may_not_publish_releases_all_the_same() {
    let ground = Ground::one(Make::Found);
    let limited = without(&ground, "PUBLISH", Reentrant::default());
    let lock = limited.lock("lock").unwrap();
    lock.acquire().unwrap().release().unwrap();
    assert_eq!(ground.keys(), [""; 0]);
}

#[test]
fn who_may_not_touch_the_key_is_denied() {
    let ground = Ground::one(Make::Found);
    ground.everywhere(&[
        "ACL",
        "SETUSER",
        "limited",
        "reset",
        "on",
        ">pass",
        "~theirs:*",
        "~{theirs:*",
        "+@all",
    ]);
    let url = format!("{}?user=limited&pass=pass", ground.server().socket_url());
    let client = builder(url).build().unwrap();
    let error = client
        .lock("ours")
        .unwrap()
        .acquire()
        .map(drop)
        .unwrap_err();
    assert_denied(&error, "EVALSHA");
    let lock = client.lock("theirs:42").unwrap();
    lock.acquire().unwrap().release().unwrap();
}

// What stands under the key.

#[test]
fn a_legacy_value_that_does_not_parse_is_held_and_shown() {
    let long = "x".repeat(100);
    for dialect in [Dialect::seconds(), Dialect::java_millis()] {
        for strategy in [guarded(dialect.clone()), Timestamp::classic(dialect)] {
            let ground = Ground::one(Make::Found);
            let lock = ground.client(strategy).lock("lock").unwrap();
            for (value, shown) in [
                ("", "\"\""),
                ("soon", "\"soon\""),
                ("1", ""), // a stamp: long past
                ("-5", "\"-5\""),
                ("1369146345.5", "\"1369146345.5\""),
                ("1e9", "\"1e9\""),
                (" 7", "\" 7\""),
                ("0x7", "\"0x7\""),
                ("9999999999999999999", "\"9999999999999999999\""),
                (
                    "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:1369146405124",
                    "\"3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:1369146405124\"",
                ),
                ("a\r\nb", "\"a\\r\\nb\""),
                (&long, &format!("\"{}\"", &long[..64])),
            ] {
                ground.everywhere(&["SET", "lock", value]);
                if shown.is_empty() {
                    lock.try_acquire().unwrap().unwrap().release().unwrap();
                    continue;
                }
                assert!(lock.try_acquire().unwrap().is_none(), "{value:?}");
                let error = lock.acquire_within(ms(10)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
                assert!(error.to_string().contains(shown), "{error}");
                assert!(!error.to_string().contains(&long), "{error}");
                assert_eq!(error.holder().unwrap().remaining(), None);
                assert!(lock.is_locked().unwrap(), "{value:?}");
                let now: String = ground.server().command(&["GET", "lock"]);
                assert_eq!(now, value);
            }
        }
    }
}

// A server that cannot just now.

/// Refused in the server's own words, after tries for as long as the wait allows.
fn assert_refused(ground: &Ground, reply: &str, wait: Duration) {
    for (name, _, strategy) in all() {
        let strategy = Recorder::of(strategy);
        let lock = ground.client(strategy.clone()).lock(name).unwrap();
        let (result, took) = timed(|| lock.acquire_within(wait));
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
        assert!(error.is_passing());
        assert!(error.to_string().contains(reply), "{name}: {error}");
        assert!(took >= wait, "{name}: {took:?}");
        assert!(strategy.tries() > 1, "{name}: it is tried again");
        let error = lock.try_acquire().unwrap_err();
        assert!(error.to_string().contains(reply), "{name}: {error}");
    }
}

/// The server can again: whoever waits has its lock.
fn assert_recovers(ground: &Ground, mend: impl FnOnce()) {
    let lock = ground.client(Token::default()).lock("recovers").unwrap();
    assert!(lock.try_acquire().is_err());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| lock.acquire_within(PATIENCE).map(drop));
        mend();
        waiter.join().unwrap().expect("the server can again");
    });
}

#[test]
fn a_server_without_memory_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let ground = Ground::one(make);
        ground.everywhere(&["CONFIG", "SET", "maxmemory", "1"]);
        assert_refused(&ground, "OOM ", ms(120));
        assert_recovers(&ground, || {
            ground.everywhere(&["CONFIG", "SET", "maxmemory", "0"]);
        });
    }
}

#[test]
fn a_server_without_its_replicas_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let ground = Ground::of(
            Server::options()
                .make(make)
                .arg("min-replicas-to-write", "1")
                .start(),
        );
        assert_refused(&ground, "NOREPLICAS ", ms(120));
        assert_recovers(&ground, || {
            ground.everywhere(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        });
    }
}

#[test]
fn a_server_that_cannot_save_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let ground = Ground::of(Server::options().make(make).arg("save", "3600 1").start());
        let in_the_way = ground.server().dir().join("dump.rdb/not-empty");
        fs::create_dir_all(&in_the_way).unwrap();
        ground.everywhere(&["SET", "something", "to save"]);
        ground.everywhere(&["BGSAVE"]);
        eventually(PATIENCE, "the server has failed to save", || {
            let info: String = ground.server().command(&["INFO", "persistence"]);
            info.contains("rdb_last_bgsave_status:err")
        });
        assert_refused(&ground, "MISCONF ", ms(120));
        assert_recovers(&ground, || {
            ground.everywhere(&["CONFIG", "SET", "stop-writes-on-bgsave-error", "no"]);
        });
    }
}

#[test]
fn a_replica_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let ground = Ground::one(make);
        ground.everywhere(&["REPLICAOF", "127.0.0.1", "1"]);
        assert_refused(&ground, "READONLY ", ms(120));
        assert_recovers(&ground, || ground.everywhere(&["REPLICAOF", "NO", "ONE"]));
    }
}

#[test]
fn a_replica_that_has_lost_its_master_refuses() {
    let ground = Ground::of(
        Server::options()
            .arg("replica-serve-stale-data", "no")
            .start(),
    );
    ground.everywhere(&["REPLICAOF", "127.0.0.1", "1"]);
    let lock = ground.client(Token::default()).lock("lock").unwrap();
    let error = lock.acquire_within(ms(50)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.is_passing());
    assert!(error.to_string().contains("MASTERDOWN "), "{error}");
    assert_recovers(&ground, || ground.everywhere(&["REPLICAOF", "NO", "ONE"]));
}

#[test]
fn a_server_that_loads_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let server = Server::options()
            .make(make)
            .arg("enable-debug-command", "yes")
            .arg("loading-process-events-interval-bytes", "1024")
            .start();
        let ground = Ground::of(server);
        ground.everywhere(&["DEBUG", "POPULATE", "4000"]);
        ground.everywhere(&["CONFIG", "SET", "key-load-delay", "500"]); // us for each key
        thread::scope(|scope| {
            // Its answer comes when all is loaded, or its time is up: it is not waited for.
            let reload = scope.spawn(|| {
                let mut connection = ground.server().connection();
                redis::cmd("DEBUG")
                    .arg("RELOAD")
                    .query::<redis::Value>(&mut connection)
            });
            let lock = ground.client(Token::default()).lock("lock").unwrap();
            eventually(PATIENCE, "the server loads", || {
                match lock.acquire_within(ms(0)) {
                    Ok(lease) => {
                        drop(lease);
                        false
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
                        assert!(error.is_passing());
                        assert!(error.to_string().contains("LOADING "), "{error}");
                        true
                    }
                }
            });
            drop(lock.acquire_within(PATIENCE).expect("it has loaded"));
            let _ = reload.join().unwrap();
        });
    }
}

#[test]
fn a_cluster_without_this_slot_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let server = Server::options()
            .make(make)
            .tcp()
            .arg("cluster-enabled", "yes")
            .start();
        let ground = Ground::of(server);
        assert_refused(&ground, "CLUSTERDOWN ", ms(120));
        assert_recovers(&ground, || {
            ground.everywhere(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
        });
    }
}

#[test]
fn a_server_that_runs_a_long_script_refuses() {
    for make in [Make::Found, Make::Valkey] {
        let ground = Ground::of(
            Server::options()
                .make(make)
                .arg("busy-reply-threshold", "20")
                .start(),
        );
        thread::scope(|scope| {
            let looping = scope.spawn(|| {
                let mut connection = ground.server().connection();
                redis::cmd("EVAL")
                    .arg("while true do end")
                    .arg(0)
                    .query::<redis::Value>(&mut connection)
            });
            let lock = ground.client(Token::default()).lock("lock").unwrap();
            eventually(PATIENCE, "the script runs", || {
                let error = lock.acquire_within(ms(0)).map(drop).err();
                error.is_some_and(|error| {
                    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
                    error.to_string().contains("BUSY ")
                })
            });
            assert_refused(&ground, "BUSY ", ms(500));
            assert_recovers(&ground, || ground.everywhere(&["SCRIPT", "KILL"]));
            assert!(looping.join().unwrap().is_err());
        });
    }
}

#[test]
fn a_server_with_too_many_clients_is_asked_again() {
    let ground = Ground::of(Server::options().arg("maxclients", "3").start());
    // Two of the three; the harness comes and goes by the third.
    let mut crowd = vec![ground.server().connection(), ground.server().connection()];
    for connection in &mut crowd {
        redis::cmd("PING").query::<String>(connection).unwrap();
    }
    crowd.push(ground.server().connection());
    redis::cmd("PING").query::<String>(&mut crowd[2]).unwrap();
    let lock = ground.client(Token::default()).lock("lock").unwrap();
    // The server says why and hangs up, often before it can be asked anything.
    let error = lock.acquire_within(ms(100)).unwrap_err();
    assert!(error.is_passing(), "{error}");
    crowd.clear();
    lock.acquire_within(PATIENCE).unwrap().release().unwrap();
}

/// Refusals leave nothing that is the refused one's.
#[test]
fn a_refused_acquire_holds_nothing_afterwards() {
    let ground = Ground::one(Make::Found);
    for (name, _, strategy) in all() {
        let lock = ground.client(strategy).lock(name).unwrap();
        drop(lock.acquire().unwrap());
        ground.everywhere(&["CONFIG", "SET", "maxmemory", "1"]);
        assert!(lock.acquire_within(ms(20)).is_err());
        ground.everywhere(&["CONFIG", "SET", "maxmemory", "0"]);
        assert!(!ground.keys().contains(&name.to_owned()));
        assert!(lock.try_acquire().unwrap().is_some());
    }
}

#[test]
fn a_server_without_compare_and_delete_is_told_before_anything_is_written() {
    let ground = Ground::one(Make::Redis);
    let server = ground.server();
    let version: String = server.command(&["INFO", "server"]);
    let version = version
        .lines()
        .find_map(|line| line.strip_prefix("redis_version:"))
        .unwrap();
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap());
    let old = (parts.next(), parts.next()) < (Some(8), Some(4));
    let lock = ground.client(Token::commands()).lock("lock").unwrap();
    let tried = lock.acquire_within(PATIENCE);
    if old {
        let error = tried.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("DELIFEQ"), "{error}");
        assert_eq!(ground.keys(), [""; 0]);
    } else {
        tried.unwrap().release().unwrap();
    }
}
