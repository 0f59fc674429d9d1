//! A connection on which an answer is owed is good for nothing but the undo.

use std::net::{Ipv4Addr, SocketAddr};

use leasehold::{ErrorKind, Released};

use crate::common::{Monitor, Proxy, Seen, Server, eventually, proxy::Target};
use crate::ground::{PATIENCE, ms};
use crate::stage::{Stage, TIMEOUT, Told, each};

/// A stage on which the server can tell one connection from another.
fn by_tcp() -> Stage {
    let server = Server::options().tcp().start();
    let port = server.port().expect("it listens by TCP");
    let proxy = Proxy::to(Target::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    Stage {
        proxy,
        server,
        told: Told::default(),
    }
}

/// What came by the connection that brought the first script, from that script on.
fn behind_the_first_script(seen: &[Seen]) -> Vec<&str> {
    let first = seen
        .iter()
        .position(|seen| seen.command.starts_with("EVAL"));
    let first = first.expect("a script was seen");
    let client = &seen[first].client;
    let behind = seen[first..].iter().filter(|seen| seen.client == *client);
    behind.map(|seen| seen.command.as_str()).collect()
}

#[test]
fn a_late_one_of_a_release_is_never_read_as_an_extensions() {
    each(|name, strategy| {
        let stage = by_tcp();
        let client = stage.builder().strategy(strategy).pool_size(1);
        let client = client.wait(ms(50)).build().unwrap();
        crate::stage::rehearse(&client);
        let released = client.lock("released").unwrap().acquire().unwrap();
        let deleted = client.lock("deleted").unwrap().acquire().unwrap();
        let _: u32 = stage.server.command(&["DEL", "deleted", "{deleted}:owner"]);
        let monitor = Monitor::of(&stage.server);
        let late = stage.proxy.replies().of("EVALSHA").held();
        let error = released.release().unwrap_err(); // the wait is over before the answer
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        late.deliver(); // a 1, which says "kept" to who reads it as an extension's
        let error = deleted.extend(ms(20_000)).unwrap_err();
        assert!(error.is_lost(), "{name}: {error}");
        let seen = monitor.finish();
        let used = behind_the_first_script(&seen);
        assert_eq!(used, ["EVALSHA"], "{name}: its connection was used again");
    });
}

#[test]
fn an_unanswered_acquires_connection_brings_the_undo_and_nothing_else() {
    each(|name, strategy| {
        let stage = by_tcp();
        let client = stage.builder().strategy(strategy).pool_size(1);
        let client = client.build().unwrap();
        crate::stage::rehearse(&client);
        let monitor = Monitor::of(&stage.server);
        stage.proxy.replies().of("EVALSHA").lost();
        let lock = client.lock("lock").unwrap();
        assert!(lock.try_acquire().unwrap_err().is_unknown(), "{name}");
        let lease = lock.acquire().unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        let seen = monitor.finish();
        let used = behind_the_first_script(&seen);
        assert_eq!(
            used,
            ["EVALSHA", "EVAL"],
            "{name}: by its source, and then no more"
        );
    });
}

#[test]
fn the_late_answers_of_an_acquire_and_its_undo_reach_nobody() {
    each(|name, strategy| {
        let stage = by_tcp();
        let client = stage.builder().strategy(strategy).pool_size(1);
        let client = client.build().unwrap();
        crate::stage::rehearse(&client);
        let lock = client.lock("lock").unwrap();
        let late = stage.proxy.replies().of("EVALSHA").held();
        assert!(lock.try_acquire().unwrap_err().is_unknown(), "{name}");
        late.deliver();
        for _ in 0..3 {
            assert!(lock.holder().unwrap().is_none(), "{name}");
            let lease = lock.acquire().unwrap();
            assert!(lock.try_acquire().unwrap().is_none(), "{name}");
            assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        }
    });
}

#[test]
fn a_command_that_was_cut_in_the_middle_is_asked_again_on_another_connection() {
    each(|name, strategy| {
        for bytes in [1, 20, 60, 90] {
            let stage = Stage::new();
            let lock = stage.lock(strategy.clone());
            let dialled = stage.proxy.accepted();
            stage.proxy.requests().of("EVALSHA").cut_within(bytes);
            let lease = lock.acquire().unwrap();
            assert!(stage.proxy.accepted() > dialled, "{name}: {bytes}");
            stage.proxy.requests().of("EVALSHA").cut_within(bytes);
            lease.extend(ms(30_000)).unwrap();
            stage.proxy.requests().of("EVALSHA").cut_within(bytes);
            assert_eq!(lease.release().unwrap(), Released::Freed, "{name}: {bytes}");
            assert_eq!(stage.locks(), [""; 0], "{name}: {bytes}");
        }
    });
}

#[test]
fn a_command_that_was_cut_in_the_middle_of_a_single_try_is_unknown_and_leaves_nothing() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        stage.proxy.requests().of("EVALSHA").cut_within(60);
        let error = lock.try_acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
        assert!(lock.try_acquire().unwrap().is_some(), "{name}");
    });
}

#[test]
fn the_keepers_connection_is_not_used_again_either() {
    each(|name, strategy| {
        let stage = by_tcp();
        let client = stage.builder().strategy(strategy).lease(ms(1_200));
        let client = client.renewal(leasehold::Renewal::Third).build().unwrap();
        let first = client.lock("rehearsal").unwrap().acquire().unwrap();
        eventually(PATIENCE, "the keeper has its connection", || {
            !stage.told.of("Renewed").is_empty()
        });
        first.release().unwrap();
        let lease = client.lock("lock").unwrap().acquire().unwrap();
        let monitor = Monitor::of(&stage.server);
        let late = stage.proxy.replies().of("EVALSHA").held();
        late.caught();
        eventually(PATIENCE, "the renewal has failed", || {
            !stage.told.of("RenewalFailed").is_empty()
        });
        let renewed = stage.told.of("Renewed").len();
        late.deliver();
        eventually(PATIENCE, "the next has not", || {
            stage.told.of("Renewed").len() > renewed
        });
        assert!(lease.is_held(), "{name}");
        let seen = monitor.finish();
        let used = behind_the_first_script(&seen);
        assert_eq!(used, ["EVALSHA"], "{name}: its connection was used again");
    });
}

#[test]
fn a_frozen_server_costs_one_time_out_and_thaws_to_a_clean_client() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        stage.server.freeze();
        let error = lock.try_acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unknown, "{name}: {error}");
        stage.server.thaw();
        eventually(PATIENCE, "what was asked meanwhile is undone", || {
            stage.locks().is_empty() && !stage.tombstones().is_empty()
        });
        let lease = lock.acquire_within(TIMEOUT * 20).unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    });
}
