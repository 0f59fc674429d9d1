//! Scripts do not roll back: whatever they are given, they check it before the first write.

#[path = "common/mod.rs"]
mod common;
#[path = "ground/mod.rs"]
mod ground;

use common::Make;
use ground::{Ground, Recorder, all, ms};
use leasehold::{Call, strategy::LockStrategy};

/// What is no number, and numbers that cannot be.
const BAD: [&str; 14] = [
    "",
    "x",
    "-1",
    "0",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "0x10",
    "9223372036854775807",
    "99999999999999999999999",
    " 7",
    "7\r\n",
];

/// The call with `bad` in the place of its argument `at`, sent by its SHA.
fn send(ground: &Ground, call: &Call, at: usize, bad: &str) -> redis::RedisResult<redis::Value> {
    let script = call.called().expect("it is a script");
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.sha()).arg(call.keys().len());
    for key in call.keys() {
        command.arg(key.as_slice());
    }
    for (position, arg) in call.args().iter().enumerate() {
        let arg = if position == at { bad.as_bytes() } else { arg };
        command.arg(arg);
    }
    command.query(&mut ground.server().connection())
}

fn numbers(call: &Call) -> Vec<usize> {
    let is_number = |arg: &[u8]| !arg.is_empty() && arg.iter().all(u8::is_ascii_digit);
    let args = call.args().iter().enumerate();
    args.filter_map(|(at, arg)| is_number(arg).then_some(at))
        .collect()
}

/// Sends the call of `question` with each bad number in each number's place, each time to a server
/// as `prepare` leaves it.
fn mistreat(ground: &Ground, name: &str, prepare: impl Fn(), question: impl Fn() -> Call) {
    let places = numbers(&question());
    assert!(!places.is_empty(), "{name}");
    let mut refused = 0;
    for at in places {
        for bad in BAD {
            prepare();
            let before = ground.picture();
            let call = question();
            let answer = send(ground, &call, at, bad);
            let told = format!("{name}: argument {at} is {bad:?}: {answer:?}");
            if answer.is_err() {
                assert_eq!(ground.picture(), before, "{told}");
                refused += 1;
            }
            for (key, ttl) in ground.ttls() {
                assert!(ttl >= 0, "{told}: {key} lives for {ttl} ms");
            }
        }
    }
    assert!(refused > BAD.len() / 2, "{name}: {refused} refused");
}

#[test]
fn a_number_that_cannot_be_is_refused_before_anything_is_written() {
    for (name, _, strategy) in all() {
        if name.starts_with("classic") {
            continue; // it has no scripts
        }
        let ground = Ground::one(Make::Found);
        let asked = Recorder::of(strategy.clone());
        let lock = ground.client(asked.clone()).lock("lock").unwrap();
        let lease = lock.acquire().unwrap();
        lease.extend(ms(40_000)).unwrap();
        lease.release().unwrap();
        let holding = || {
            ground.everywhere(&["FLUSHDB"]);
            let claim = asked.acquire_again();
            let call = claim.call();
            send(&ground, call, usize::MAX, "").expect("it is taken");
        };
        let free = || ground.everywhere(&["FLUSHDB"]);
        let acquire = || strategy.acquire(&asked.last_claim()).call().clone();
        mistreat(&ground, name, free, acquire);
        mistreat(&ground, name, holding, acquire);
        mistreat(&ground, name, holding, || {
            asked.extend_again().call().clone()
        });
        mistreat(&ground, name, holding, || {
            asked.leave_again().call().clone()
        });
    }
}
