//! Taking over by sight: what stood there, unchanged, for a whole lease of our own clock.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::name::Name;

/// How many names are kept in sight. Who waits for more than this at once sees some of them
/// later.
const MOST: usize = 4096;

/// A memory of foreign stamps, one a client: a copy of it starts with nothing.
#[derive(Debug)]
pub(super) struct Sight {
    /// The longest lease of the legacy clients.
    pub(super) longest: Duration,
    seen: Arc<Mutex<HashMap<Name, Seen>>>,
}

#[derive(Debug)]
struct Seen {
    stamp: Vec<u8>,
    /// The reading of the clock that never jumps, when the answer with that stamp came first.
    since: Duration,
}

impl Sight {
    pub(super) fn new(longest: Duration) -> Self {
        Self {
            longest,
            seen: Arc::default(),
        }
    }

    /// The same memory, for an exchange to note in.
    pub(super) fn shared(&self) -> Self {
        Self {
            longest: self.longest,
            seen: Arc::clone(&self.seen),
        }
    }

    /// The stamp that has stood there for a whole lease and the margin, for who asks at `now`.
    pub(super) fn ripe(&self, name: &Name, now: Duration, margin: Duration) -> Option<Vec<u8>> {
        let seen = self.seen.lock();
        let seen = seen.get(name)?;
        let needed = self.longest.saturating_add(margin);
        (now.saturating_sub(seen.since) >= needed).then(|| seen.stamp.clone())
    }

    /// Notes that `stamp` stood there in an answer that came at `now`; `None`: nothing foreign
    /// did.
    pub(super) fn note(&self, name: &Name, stamp: Option<&[u8]>, now: Duration) {
        let mut seen = self.seen.lock();
        let Some(stamp) = stamp else {
            seen.remove(name);
            return;
        };
        if seen.get(name).is_some_and(|before| before.stamp == stamp) {
            return;
        }
        if seen.len() >= MOST && !seen.contains_key(name) {
            let oldest = seen.iter().min_by_key(|(_, seen)| seen.since);
            let oldest = oldest.map(|(name, _)| name.clone());
            oldest.and_then(|oldest| seen.remove(&oldest));
        }
        let stamp = stamp.to_vec();
        seen.insert(name.clone(), Seen { stamp, since: now });
    }
}

impl Clone for Sight {
    fn clone(&self) -> Self {
        Self::new(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);
    const MARGIN: Duration = Duration::from_secs(6);
    const BEGIN: Duration = Duration::from_secs(1_000);

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn a_stamp_is_ripe_when_it_stood_for_a_lease_and_the_margin() {
        let (sight, name) = (Sight::new(LEASE), name("a"));
        let ripe = |now| sight.ripe(&name, now, MARGIN);
        assert_eq!(ripe(BEGIN + LEASE * 9), None, "it was never seen");
        sight.note(&name, Some(b"1"), BEGIN);
        sight.note(&name, Some(b"1"), BEGIN + LEASE);
        assert_eq!(ripe(BEGIN + LEASE), None);
        assert_eq!(ripe(BEGIN + LEASE + MARGIN), Some(b"1".to_vec()));
        assert_eq!(sight.clone().ripe(&name, BEGIN * 9, MARGIN), None);
    }

    #[test]
    fn a_change_begins_anew_and_a_free_lock_forgets() {
        let (sight, name) = (Sight::new(LEASE), name("a"));
        sight.note(&name, Some(b"1"), BEGIN);
        sight.note(&name, Some(b"2"), BEGIN + LEASE);
        assert_eq!(sight.ripe(&name, BEGIN + LEASE + MARGIN, MARGIN), None);
        sight.note(&name, None, BEGIN + LEASE);
        assert_eq!(sight.ripe(&name, BEGIN * 9, MARGIN), None);
    }

    #[test]
    fn the_memory_is_bounded() {
        let sight = Sight::new(LEASE);
        for number in 0..MOST + 10 {
            let later = Duration::from_millis(u64::try_from(number).unwrap());
            sight.note(&name(&number.to_string()), Some(b"1"), BEGIN + later);
        }
        assert_eq!(sight.seen.lock().len(), MOST);
        assert!(sight.ripe(&name("0"), BEGIN * 9, MARGIN).is_none());
        assert!(sight.ripe(&name("20"), BEGIN * 9, MARGIN).is_some());
    }
}
