#![no_main]

use std::time::Duration;

use leasehold::WallTime;
use leasehold::strategy::Dialect;
use libfuzzer_sys::fuzz_target;

// What does not parse never passes, and what has passed once has passed for good.
fuzz_target!(|input: (&[u8], u64, u32)| {
    let (stamp, now, later) = input;
    let now = WallTime::from_epoch(Duration::from_millis(now));
    let later = WallTime::from_epoch(now.since_epoch() + Duration::from_millis(later.into()));
    for dialect in Dialect::all() {
        let end = dialect.parse(stamp);
        let has_passed = dialect.has_passed(stamp, now);
        assert!(!has_passed || end.is_some_and(|end| end <= now));
        assert!(!has_passed || dialect.has_passed(stamp, later));
    }
});
