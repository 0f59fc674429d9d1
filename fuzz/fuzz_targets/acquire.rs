#![no_main]

use leasehold::strategy::Attempt;
use leasehold_fuzz::{Any, Script, claim};
use libfuzzer_sys::fuzz_target;

// Whatever is said to a claim, it gives an attempt or a fault; and silence, an error or nothing but
// noughts never give the lock.
fuzz_target!(|script: Script| {
    let strategy = script.strategy();
    let refuses = script.replies.iter().all(|(_, reply)| {
        matches!(reply, Any::Error(..) | Any::Small(0) | Any::Int(0))
            || matches!(reply, Any::Array(parts) if parts.is_empty())
    });
    match script.run(strategy.acquire(&claim())) {
        Some(Ok(Attempt::Granted(grant))) => {
            assert!(!refuses, "granted by a refusal");
            drop(format!("{grant:?}"));
        }
        Some(Ok(attempt)) => drop(format!("{attempt:?}")),
        Some(Err(fault)) => assert!(!fault.to_string().is_empty()),
        None => {}
    }
});
