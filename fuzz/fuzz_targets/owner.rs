#![no_main]

use leasehold::Owner;
use libfuzzer_sys::fuzz_target;

// What is read as an owner is written as one, and read again as the same.
fuzz_target!(|text: &str| {
    if let Ok(owner) = text.parse::<Owner>() {
        let written = owner.to_string();
        assert_eq!(written.parse::<Owner>().ok(), Some(owner));
    }
});
