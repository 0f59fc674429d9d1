//! The arithmetic of majorities, without a server.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "a vote is one")]
fn failed<T>() -> Vote<T> {
    Some(Err(Failure::Unreachable {
        address: "a".to_owned(),
        source: Arc::new(std::io::Error::other("gone")),
    }))
}

#[expect(clippy::unnecessary_wraps, reason = "a vote is one")]
fn granted(fence: u64) -> Vote<Attempt> {
    let grant = Grant::default().with_fence(Some(Fence::new(fence)));
    Some(Ok(Attempt::Granted(grant)))
}

#[expect(clippy::unnecessary_wraps, reason = "a vote is one")]
fn held(mark: &str) -> Vote<Attempt> {
    Some(Ok(Attempt::Held(Holder::of(mark))))
}

fn attempt() -> impl Strategy<Value = Vote<Attempt>> {
    prop_oneof![
        (1..1_000_u64).prop_map(granted),
        "[ab]".prop_map(|mark| held(&mark)),
        Just(Some(Ok(Attempt::Withdrawn))),
        Just(()).prop_map(|()| failed()),
    ]
}

fn left() -> impl Strategy<Value = Vote<Left>> {
    prop_oneof![
        Just(Some(Ok(Left::Freed))),
        Just(Some(Ok(Left::Gone))),
        Just(Some(Ok(Left::Taken))),
        Just(()).prop_map(|()| failed()),
        Just(None),
    ]
}

fn kept() -> impl Strategy<Value = Vote<Kept>> {
    prop_oneof![
        Just(Some(Ok(Kept::Kept { mark: None }))),
        Just(Some(Ok(Kept::Gone))),
        Just(Some(Ok(Kept::Taken))),
        Just(()).prop_map(|()| failed()),
        Just(None),
    ]
}

#[test]
fn two_majorities_have_a_server_in_common() {
    for count in 1..=32 {
        assert!(2 * majority(count) > count);
        assert!(2 * (majority(count) - 1) <= count);
    }
}

proptest! {
    #[test]
    fn a_grant_is_one_of_a_majority(votes in prop::collection::vec(attempt(), 1..8)) {
        let of = |is: fn(&Attempt) -> bool| count(&votes, is);
        let grants = of(|attempt| matches!(attempt, Attempt::Granted(_)));
        let tallied = Attempt::tally(&votes);
        prop_assert_eq!(
            grants >= majority(votes.len()),
            matches!(tallied, Some(Attempt::Granted(_)))
        );
        if let Some(Attempt::Granted(grant)) = tallied {
            prop_assert_eq!(grant.seats.iter(votes.len()).count(), grants);
            let fences = votes.iter().flatten().flatten().filter_map(|vote| match vote {
                Attempt::Granted(grant) => grant.fence(),
                _ => None,
            });
            prop_assert_eq!(grant.fence(), fences.max());
        }
    }

    /// Whatever those say who did not: an answer of a majority stays what it is.
    #[test]
    fn what_is_decided_does_not_hang_on_who_is_silent(
        votes in prop::collection::vec(left(), 2..8),
        said in left(),
    ) {
        let asked = votes.iter().flatten().count();
        prop_assume!(asked > 1);
        let Some(decided) = Left::tally(&votes) else { return Ok(()) };
        let mut votes = votes;
        let Some(said) = said else { return Ok(()) };
        for vote in &mut votes {
            if matches!(vote, Some(Err(_))) {
                *vote = Some(said.clone());
            }
        }
        let now = Left::tally(&votes).expect("more is known than before");
        prop_assert_eq!(decided == Left::Freed, now == Left::Freed);
    }

    #[test]
    fn a_hold_is_lost_only_where_no_majority_can_keep_it(
        votes in prop::collection::vec(kept(), 1..8),
    ) {
        let lost = Kept::tally(&votes).is_some_and(|kept| kept.loss().is_some());
        let may_keep = count(&votes, |kept| kept.loss().is_none()) + silent(&votes);
        prop_assert_eq!(lost, may_keep < majority(votes.len()));
    }

    /// Servers with clocks of their own, a different majority each time, of which a majority
    /// stores the fence before it is given: it is larger than the last. `tests` without the
    /// storing find that it is not.
    #[test]
    fn fences_grow_over_any_majorities(
        skews in prop::collection::vec(0..1_000_000_u64, 1..8),
        rounds in prop::collection::vec((any::<u64>(), any::<u64>()), 2..20),
    ) {
        prop_assert!(grows(&skews, &rounds, true));
    }
}

/// The bits of `choice` that choose a majority of `count`: the missing ones are filled up.
fn chosen(choice: u64, among: Seats, count: usize) -> Seats {
    let need = majority(count);
    let mut chosen: Vec<_> = among
        .iter(count)
        .filter(|seat| choice >> seat & 1 == 1)
        .collect();
    for seat in among.iter(count) {
        if chosen.len() < need && !chosen.contains(&seat) {
            chosen.push(seat);
        }
    }
    chosen.into_iter().collect()
}

/// Whether each grant's fence is larger than the last one's.
fn grows(skews: &[u64], rounds: &[(u64, u64)], writes_back: bool) -> bool {
    let count = skews.len();
    let mut stored = vec![0_u64; count];
    let mut last = None;
    for (now, (grants, writes)) in (1_000..).zip(rounds) {
        let seats = chosen(*grants, Seats::ALL, count);
        let votes: Vec<_> = (0..count)
            .map(|seat| {
                if !seats.has(seat) {
                    return failed();
                }
                stored[seat] = (stored[seat] + 1).max(now + skews[seat]);
                granted(stored[seat])
            })
            .collect();
        let Some(Attempt::Granted(grant)) = Attempt::tally(&votes) else {
            return false;
        };
        let fence = grant.fence().expect("all grants bring one");
        let lower = unraised(&votes, fence);
        if writes_back {
            // Of those that granted, any majority stores it in the end.
            for seat in chosen(*writes, seats, count).among(lower).iter(count) {
                stored[seat] = fence.number();
            }
        }
        if last.is_some_and(|last| fence <= last) {
            return false;
        }
        last = Some(fence);
    }
    true
}

#[test]
fn without_the_writing_back_a_fence_may_go_back() {
    // One clock is far ahead; its server grants the first time and not the second.
    assert!(!grows(&[0, 0, 1_000_000], &[(0b110, 0), (0b011, 0)], false));
    assert!(grows(&[0, 0, 1_000_000], &[(0b110, 0), (0b011, 0)], true));
}

#[test]
fn who_holds_is_whom_most_name() {
    let holder = |mark: &str, ms: u64| {
        let holder = Holder::of(mark).lasting(Some(Duration::from_millis(ms)));
        Some(Ok(Some(holder)))
    };
    let tally = Option::<Holder>::tally;
    let votes = [holder("a", 5), holder("b", 90), holder("a", 9)];
    let named = tally(&votes).unwrap().unwrap();
    assert_eq!((named.mark(), lasts(&named).as_millis()), (&b"a"[..], 9));
    assert_eq!(
        tally(&[holder("a", 5), Some(Ok(None)), Some(Ok(None))]),
        Some(None)
    );
    assert_eq!(tally(&[holder("a", 5), Some(Ok(None)), failed()]), None);
    assert_eq!(
        tally(&[Some(Ok(None)), Some(Ok(None)), failed()]),
        Some(None)
    );
}

#[test]
fn contention_is_told_from_silence() {
    let votes = [granted(1), held("b"), failed()];
    assert!(matches!(Attempt::tally(&votes), Some(Attempt::Held(_))));
    let votes = [held("b"), failed(), failed()];
    assert!(Attempt::tally(&votes).is_none());
}
