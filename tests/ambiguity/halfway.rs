//! A script that fails halfway is not one that did nothing.

use leasehold::{
    ErrorKind, Released,
    strategy::{Reentrant, Token},
};

use crate::common::Server;
use crate::ground::{Any, ms};
use crate::stage::{Stage, each, locks};

/// A stage whose clients may do everything but `denied`.
fn without(denied: &str) -> Stage {
    let stage = Stage::new();
    deny(&stage.server, denied);
    stage
}

fn deny(server: &Server, denied: &str) {
    let everything = ["ACL", "SETUSER", "default", "+@all"];
    let mut command: Vec<_> = everything.into_iter().collect();
    command.extend(denied.split_whitespace());
    let _: String = server.command(&command);
}

/// Gives everything back, for the harness and the next question.
fn allow(server: &Server) {
    deny(server, "");
}

#[test]
fn who_may_not_publish_still_releases() {
    let stage = without("-publish");
    let lock = stage.client(Reentrant::default()).lock("lock").unwrap();
    let lease = lock.acquire().unwrap();
    assert_eq!(lease.release().unwrap(), Released::Freed);
    assert_eq!(stage.locks(), [""; 0]);
}

#[test]
fn a_lock_whose_end_could_not_be_set_is_not_left_behind() {
    let stage = without("-pexpire");
    let lock = stage.client(Reentrant::default()).lock("lock").unwrap();
    let error = lock.acquire().unwrap_err(); // HSET is done by then
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("`PEXPIRE`"), "{error}");
    assert_eq!(stage.locks(), [""; 0], "a lock without an end is left");
    assert_eq!(stage.told.of("Undone").len(), 1);
    allow(&stage.server);
    assert_eq!(lock.acquire().unwrap().release().unwrap(), Released::Freed);
}

#[test]
fn no_denied_command_of_an_acquire_leaves_anything_without_an_end() {
    each(|name, strategy| {
        for denied in [
            "set", "get", "exists", "pexpire", "hset", "hexists", "time", "pttl",
        ] {
            let stage = without(&format!("-{denied}"));
            let lock = stage.client(strategy.clone()).lock("lock").unwrap();
            let result = lock.fence(true).unwrap().try_acquire();
            allow(&stage.server);
            match result {
                Ok(lease) => drop(lease), // it does without
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Denied, "{name}, {denied}: {error}");
                    let named = error.to_string().to_lowercase();
                    assert!(named.contains(&format!("`{denied}`")), "{denied}: {error}");
                }
            }
            for (key, ttl) in stage.server.ttls() {
                assert!(ttl >= 0, "{name} without {denied} leaves {key} for ever");
            }
            assert_eq!(stage.locks(), [""; 0], "{name} without {denied}");
        }
    });
}

#[test]
fn a_denied_command_of_a_release_is_no_success() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).wait(ms(100)).unwrap();
        let lease = lock.acquire().unwrap();
        deny(&stage.server, "-del");
        let error = lease.release().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{name}: {error}");
        assert!(error.to_string().contains("`DEL`"), "{name}: {error}");
        assert!(!stage.locks().is_empty(), "{name}");
    });
}

#[test]
fn a_denied_command_of_an_extension_keeps_the_old_end() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy);
        let lease = lock.acquire().unwrap();
        let before = lease.remaining();
        deny(&stage.server, "-pexpire");
        let error = lease.extend(ms(50_000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{name}: {error}");
        assert!(lease.is_held() && lease.remaining() <= before, "{name}");
        allow(&stage.server);
        lease.extend(ms(50_000)).unwrap();
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
    });
}

#[test]
fn a_fence_key_of_another_type_fails_before_anything_is_written() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).fence(true).unwrap();
        let _: u32 = stage.server.command(&["RPUSH", "{lock}:fence", "x"]);
        let error = lock.acquire().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{name}: {error}");
        assert!(!error.to_string().contains("a none"), "{name}: {error}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
        let kind: String = stage.server.command(&["TYPE", "{lock}:fence"]);
        assert_eq!(kind, "list", "{name}: it was touched");
    });
}

#[test]
fn a_fence_that_is_no_number_fails_before_anything_is_written() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).fence(true).unwrap();
        for fence in ["x", "-1", "1.5", "9007199254740992", "1e300", "nan", ""] {
            let _: String = stage.server.command(&["SET", "{lock}:fence", fence]);
            let error = lock.acquire().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{name}, {fence}: {error}");
            assert_eq!(stage.locks(), [""; 0], "{name}, {fence}");
        }
    });
}

#[test]
fn a_fence_key_that_became_another_type_costs_no_lease() {
    each(|name, strategy| {
        let stage = Stage::new();
        let lock = stage.lock(strategy).fence(true).unwrap();
        let lease = lock.acquire().unwrap();
        let _: u32 = stage.server.command(&["DEL", "{lock}:fence"]);
        let _: u32 = stage.server.command(&["RPUSH", "{lock}:fence", "x"]);
        if let Err(error) = lease.extend(ms(50_000)) {
            assert!(!error.is_lost(), "{name}: {error}");
            assert!(
                lease.remaining() <= ms(20_000),
                "{name}: it believes in an error"
            );
        }
        assert!(lease.is_held(), "{name}");
        assert_eq!(lease.release().unwrap(), Released::Freed, "{name}");
        assert_eq!(stage.locks(), [""; 0], "{name}");
        let kind: String = stage.server.command(&["TYPE", "{lock}:fence"]);
        assert_eq!(kind, "list", "{name}: it was touched");
    });
}

#[test]
fn what_was_denied_halfway_is_undone_in_the_next_try_as_well() {
    for strategy in [Any::of(Token::default()), Any::of(Reentrant::default())] {
        let stage = without("-pexpire -set");
        let lock = stage.client(strategy).lock("lock").unwrap();
        for _ in 0..3 {
            assert_eq!(lock.try_acquire().unwrap_err().kind(), ErrorKind::Denied);
        }
        allow(&stage.server);
        crate::common::eventually(crate::ground::PATIENCE, "nothing is left", || {
            locks(&stage.server).is_empty()
        });
    }
}
