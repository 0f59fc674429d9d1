#![no_main]

use leasehold::strategy::{Kept, Left};
use leasehold_fuzz::{Any, Script, hold, lease};
use libfuzzer_sys::fuzz_target;

// Whatever is said to a holder that extends or leaves, it is an answer or a fault; and an error is
// never good news.
fuzz_target!(|input: (bool, Script)| {
    let (extends, script) = input;
    let strategy = script.strategy();
    let fails = script
        .replies
        .iter()
        .all(|(_, reply)| matches!(reply, Any::Error(..)));
    if extends {
        let kept = script.run(strategy.extend(hold(), lease()));
        if let Some(Ok(Kept::Kept { .. })) = kept {
            assert!(!fails, "kept by an error");
        }
    } else {
        let left = script.run(strategy.leave(hold()));
        if let Some(Ok(Left::Freed | Left::StillHeld)) = left {
            assert!(!fails, "left by an error");
        }
    }
});
