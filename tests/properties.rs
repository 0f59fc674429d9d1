//! What holds for every name and for every reply.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use std::{cell::RefCell, time::Duration};

use common::{Make, Server};
use ground::{Recorder, all, ask::answer_all, ms};
use leasehold::{
    Fault, LeaseTime, Name, Reply, ServerError,
    strategy::{Attempt, Claim, Dialect, Kept, Left, LockStrategy, Token},
};
use proptest::prelude::*;

// Names and slots.

/// CRC-16/XMODEM, by which a cluster's specification spreads keys.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 {
                shifted
            } else {
                shifted ^ 0x1021
            }
        })
    })
}

/// The slot of a key: that of what stands between the first `{` and the first `}` behind it, where
/// there is something.
fn slot(key: &[u8]) -> u16 {
    let tag = || {
        let open = key.iter().position(|byte| *byte == b'{')?;
        let rest = &key[open + 1..];
        let close = rest.iter().position(|byte| *byte == b'}')?;
        Some(&rest[..close]).filter(|tag| !tag.is_empty())
    };
    crc16(tag().unwrap_or(key)) % 16384
}

/// Names with more braces in them than chance would put there.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        2 => Just(b'{'),
        2 => Just(b'}'),
        1 => Just(b':'),
        4 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..40)
}

#[test]
fn the_checksum_is_that_of_the_specification() {
    assert_eq!(crc16(b"123456789"), 0x31C3);
}

#[test]
fn slots_are_those_of_a_server() {
    let server = Server::options()
        .make(Make::Found)
        .tcp()
        .arg("cluster-enabled", "yes")
        .start();
    let connection = RefCell::new(server.connection());
    let mut runner = proptest::test_runner::TestRunner::default();
    let asked = runner.run(&bytes(), |key| {
        let command = redis::cmd("CLUSTER").arg("KEYSLOT").arg(&key).to_owned();
        let theirs: u16 = command.query(&mut *connection.borrow_mut()).unwrap();
        prop_assert_eq!(theirs, slot(&key));
        Ok(())
    });
    asked.unwrap();
}

proptest! {
    #[test]
    fn side_keys_share_the_slot_of_their_name(bytes in bytes(), suffix in "[a-z0-9:-]{1,40}") {
        let Ok(name) = Name::new(&bytes) else { return Ok(()) };
        prop_assert_eq!(slot(&name.side(&suffix)), slot(&bytes));
    }

    #[test]
    fn every_key_that_a_strategy_names_shares_the_slot_of_the_name(bytes in bytes()) {
        let Ok(name) = Name::new(&bytes) else { return Ok(()) };
        let claim = Claim::new(name, LeaseTime::new(ms(30_000)).unwrap());
        for (strategy, _, any) in all() {
            for key in any.acquire(&claim).call().keys() {
                prop_assert_eq!(slot(key), slot(&bytes), "{}", strategy);
            }
            for key in any.inspect(claim.name()).call().keys() {
                prop_assert_eq!(slot(key), slot(&bytes), "{}", strategy);
            }
        }
    }

    #[test]
    fn a_name_is_refused_only_where_a_side_key_would_stray(bytes in bytes()) {
        if Name::new(&bytes).is_ok() || bytes.is_empty() {
            return Ok(());
        }
        let side = [b"{", &bytes[..], b"}:x"].concat();
        let tagged = [&bytes[..], b"::x"].concat();
        let strays = slot(&side) != slot(&bytes) || slot(&tagged) != slot(&bytes);
        prop_assert!(strays, "{:?}", bytes.escape_ascii().to_string());
    }

    #[test]
    fn side_keys_of_two_names_are_two_keys(one in bytes(), other in bytes()) {
        let (Ok(a), Ok(b)) = (Name::new(&one), Name::new(&other)) else { return Ok(()) };
        prop_assert_eq!(a.side("x") == b.side("x"), one == other);
        prop_assert_ne!(a.side("x"), one);
    }

    #[test]
    fn a_name_keeps_its_bytes(bytes in prop::collection::vec(any::<u8>(), 0..1100)) {
        let fits = (1..=1024).contains(&bytes.len());
        match Name::new(&bytes) {
            Ok(name) => {
                prop_assert!(fits);
                prop_assert_eq!(name.as_bytes(), bytes);
                prop_assert!(name.to_string().is_ascii());
            }
            Err(error) => {
                let has_a_brace = bytes.contains(&b'}');
                prop_assert!(!fits || has_a_brace);
                prop_assert!(error.is_invalid_name());
            }
        }
    }

    #[test]
    fn an_owner_is_what_its_text_says(text in "\\PC{0,60}") {
        if let Ok(owner) = text.parse::<leasehold::Owner>() {
            let again: leasehold::Owner = owner.to_string().parse().unwrap();
            prop_assert_eq!(again, owner);
        }
    }

    #[test]
    fn a_stamp_that_is_no_number_never_passes(
        bytes in prop::collection::vec(any::<u8>(), 0..24),
        now in any::<u64>(),
    ) {
        let now = leasehold::WallTime::from_epoch(Duration::from_millis(now));
        let is_number = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
        for dialect in [Dialect::seconds(), Dialect::java_millis()] {
            prop_assert!(is_number || dialect.parse(&bytes).is_none());
            prop_assert!(is_number || !dialect.has_passed(&bytes, now));
        }
    }
}

// Replies.

/// Any reply whatsoever, and oftener one that looks like an answer.
fn reply() -> impl Strategy<Value = Reply> {
    let number = prop_oneof![-3_i64..4, any::<i64>()];
    let text = prop_oneof![
        Just(String::new()),
        Just("OK".to_owned()),
        "[0-9]{1,20}",
        "-?[0-9]{1,3}",
        "lh:[0-9a-f-]{0,36}:[a-z]{0,5}",
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}:[0-9]{1,20}",
        "\\PC{0,12}",
    ];
    let code = prop_oneof![
        Just("OOM"),
        Just("ERR"),
        Just("WRONGTYPE"),
        Just("NOPERM"),
        Just("NOSCRIPT"),
        Just(""),
    ];
    let leaf = prop_oneof![
        Just(Reply::Nil),
        number.prop_map(Reply::Int),
        text.clone()
            .prop_map(|text| Reply::Bytes(text.into_bytes())),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Reply::Bytes),
        text.prop_map(Reply::Status),
        (code, "\\PC{0,40}").prop_map(|(code, text)| Reply::Error(ServerError::new(code, text))),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop::collection::vec(inner, 0..5).prop_map(Reply::Array)
    })
}

/// Replies in a row, for an exchange that may ask several times.
fn replies() -> impl Strategy<Value = Vec<Reply>> {
    prop::collection::vec(reply(), 6)
}

/// Whether a server that has granted the lock says so by `replies`.
fn grants(strategy: &str, replies: &[Reply]) -> bool {
    let number = |reply: &Reply, wanted: i64| match reply {
        Reply::Int(number) => *number == wanted,
        Reply::Bytes(bytes) => bytes == wanted.to_string().as_bytes(),
        _ => false,
    };
    if strategy.starts_with("classic") {
        // SETNX has set it, or GETSET has replaced what had been read and had passed.
        let text = |reply: &Reply| matches!(reply, Reply::Bytes(_) | Reply::Status(_));
        return number(&replies[0], 1)
            || text(&replies[1]) && (text(&replies[2]) || replies[2] == Reply::Nil);
    }
    let Reply::Array(parts) = &replies[0] else {
        return false;
    };
    let fence = match parts.get(1) {
        Some(Reply::Bytes(bytes)) => bytes.clone(),
        Some(Reply::Status(text)) => text.clone().into_bytes(),
        _ => return false,
    };
    let is_fence =
        fence.is_empty() || String::from_utf8(fence).is_ok_and(|text| text.parse::<u64>().is_ok());
    parts.len() == 2 && number(&parts[0], 1) && is_fence
}

fn claim() -> Claim {
    let lease = LeaseTime::new(ms(30_000)).unwrap();
    Claim::new(Name::new("lock").unwrap(), lease)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_but_a_grant_is_a_grant(replies in replies()) {
        for (name, _, strategy) in all() {
            let attempt = answer_all(strategy.acquire(&claim()), &replies);
            if let Ok(Attempt::Granted(_)) = attempt {
                prop_assert!(grants(name, &replies), "{} by {:?}", name, replies);
            }
        }
    }

    #[test]
    fn a_lock_without_scripts_is_granted_by_nothing_but_a_grant(replies in replies()) {
        // DELIFEQ, perhaps DELEX, then SET: granted by nothing that stood there before.
        let attempt = answer_all(Token::commands().acquire(&claim()), &replies);
        if let Ok(Attempt::Granted(_)) = attempt {
            prop_assert!(replies[1..].contains(&Reply::Nil), "{:?}", replies);
        }
    }

    #[test]
    fn whoever_is_asked_about_a_holder_answers_or_fails(replies in replies()) {
        for (_, _, strategy) in all() {
            match answer_all(strategy.inspect(claim().name()), &replies) {
                Ok(Some(holder)) => drop(format!("{holder} {holder:?}")),
                Ok(None) => {}
                Err(fault) => prop_assert!(!fault.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn an_error_is_never_an_answer(code in "[A-Z]{1,9}", text in "\\PC{0,40}") {
        let error = ServerError::new(code, text);
        let replies = vec![Reply::Error(error.clone()); 6];
        for (_, _, strategy) in all() {
            let fault = answer_all(strategy.acquire(&claim()), &replies).unwrap_err();
            prop_assert_eq!(fault, Fault::Refused(error.clone()));
            let fault = answer_all(strategy.inspect(claim().name()), &replies).unwrap_err();
            prop_assert_eq!(fault, Fault::Refused(error.clone()));
        }
    }
}

/// A hold is made by a client alone, so each strategy is asked for one lock at a real server.
#[test]
fn nothing_but_an_answer_keeps_or_leaves_a_hold() {
    let ground = ground::Ground::one(Make::Found);
    for (name, _, strategy) in all() {
        let asked = Recorder::of(strategy);
        let lock = ground.client(asked.clone()).lock(name).unwrap();
        let lease = lock.acquire().unwrap();
        lease.extend(ms(31_000)).unwrap();
        lease.release().unwrap();
        let classic = name.starts_with("classic");
        let number = |reply: &Reply, answers: &[i64]| match reply {
            Reply::Int(number) => answers.contains(number),
            Reply::Bytes(bytes) => answers
                .iter()
                .any(|number| bytes == number.to_string().as_bytes()),
            _ => false,
        };
        let mut runner = proptest::test_runner::TestRunner::default();
        let all_read = runner.run(&replies(), |replies| {
            let kept = answer_all(asked.extend_again(), &replies);
            if let Ok(Kept::Kept { .. }) = kept {
                prop_assert!(classic || number(&replies[0], &[1]), "{:?}", replies);
            }
            let left = answer_all(asked.leave_again(), &replies);
            if let Ok(Left::Freed | Left::StillHeld) = left {
                let last = if classic { &replies[1] } else { &replies[0] };
                prop_assert!(number(last, &[1, 2]), "{:?}", replies);
            }
            Ok(())
        });
        all_read.unwrap();
    }
}
