#![no_main]

use leasehold_fuzz::{Script, claim};
use libfuzzer_sys::fuzz_target;

// Whatever stands under a name, its holder can be shown, in a line of bounded length.
fuzz_target!(|script: Script| {
    let strategy = script.strategy();
    if let Some(Ok(Some(holder))) = script.run(strategy.inspect(claim().name())) {
        let shown = holder.to_string();
        assert!(!shown.contains(['\n', '\r', '\0']), "{shown:?}");
        drop(format!("{holder:?}"));
    }
});
