#![no_main]

use leasehold::Name;
use libfuzzer_sys::fuzz_target;

/// The part of a key by which a cluster spreads it.
fn hashed(key: &[u8]) -> &[u8] {
    let tag = || {
        let open = key.iter().position(|byte| *byte == b'{')?;
        let rest = &key[open + 1..];
        let close = rest.iter().position(|byte| *byte == b'}')?;
        (close > 0).then(|| &rest[..close])
    };
    tag().unwrap_or(key)
}

// A name that is accepted has side keys in its own slot.
fuzz_target!(|bytes: &[u8]| {
    let Ok(name) = Name::new(bytes) else { return };
    assert_eq!(name.as_bytes(), bytes);
    assert!((1..=1024).contains(&bytes.len()));
    assert!(name.to_string().is_ascii());
    let side = name.side("fence");
    assert_eq!(hashed(&side), hashed(bytes));
    assert_ne!(side, bytes);
});
