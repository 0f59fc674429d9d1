//! Something that is no lock of this strategy is left alone, and named.

use leasehold::{Error, ErrorKind};

use crate::ground::{PATIENCE, Recorder, timed};

#[track_caller]
fn assert_foreign(error: &Error, kind: &str) {
    assert_eq!(error.kind(), ErrorKind::ForeignLock, "{error}");
    assert!(error.to_string().contains(&format!("a {kind} ")), "{error}");
    assert!(!error.is_passing());
}

#[test]
fn an_acquire_names_the_type_and_changes_nothing() {
    let ground = super::start();
    let strategy = Recorder::of(super::strategy());
    let lock = ground.client(strategy.clone()).lock("lock").unwrap();
    super::WIRE.each_other_type(ground.server(), "lock", |kind| {
        let (picture, tries) = (ground.picture(), strategy.tries());
        let (result, took) = timed(|| lock.acquire_within(PATIENCE));
        assert_foreign(&result.unwrap_err(), kind);
        assert_eq!(strategy.tries(), tries + 1, "waiting would not help");
        assert!(took < PATIENCE);
        assert_foreign(&lock.try_acquire().unwrap_err(), kind);
        assert_foreign(&lock.holder().unwrap_err(), kind);
        assert_foreign(&lock.is_locked().unwrap_err(), kind);
        assert_eq!(ground.picture(), picture);
    });
}

#[test]
fn a_release_and_an_extension_name_the_type_and_change_nothing() {
    let ground = super::start();
    let lock = ground.client(super::strategy()).lock("lock").unwrap();
    super::WIRE.each_other_type(ground.server(), "lock", |kind| {
        let foreign: Vec<u8> = ground.server().command(&["DUMP", "lock"]);
        ground.everywhere(&["RENAME", "lock", "aside"]);
        let lease = lock.acquire().unwrap();
        ground.everywhere(&["RENAME", "aside", "lock"]);
        assert_foreign(&lease.extend(PATIENCE).unwrap_err(), kind);
        assert_foreign(&lease.release().unwrap_err(), kind);
        let now: Vec<u8> = ground.server().command(&["DUMP", "lock"]);
        assert_eq!(now, foreign);
        ground.everywhere(&["FLUSHALL"]);
    });
}
