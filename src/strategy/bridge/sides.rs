//! The two sides of a bridge: what each is asked with, and what both answers mean together.

use crate::exchange::{Exchange, Fault, Step};
use crate::strategy::{Grant, Holder, Left};

/// The signs of both holds, as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<Vec<u8>>,
}

impl Marks {
    /// `<length>:<length>:<old><new>`, a length being `-` where there is no mark.
    pub(super) fn join(&self) -> Vec<u8> {
        let length = |mark: &Option<Vec<u8>>| {
            mark.as_ref()
                .map_or_else(|| "-".to_owned(), |mark| mark.len().to_string())
        };
        let head = format!("{}:{}:", length(&self.old), length(&self.new)).into_bytes();
        let (old, new) = (self.old.as_deref(), self.new.as_deref());
        [&head, old.unwrap_or_default(), new.unwrap_or_default()].concat()
    }

    /// The marks that were joined; none where it is no such thing.
    pub(super) fn split(joined: &[u8]) -> Self {
        Self::try_split(joined).unwrap_or_default()
    }

    fn try_split(joined: &[u8]) -> Option<Self> {
        let mut parts = joined.splitn(3, |&byte| byte == b':');
        let mut length = || match std::str::from_utf8(parts.next()?).ok()? {
            "-" => Some(None),
            number => number.parse::<usize>().ok().map(Some),
        };
        let (old, new) = (length()?, length()?);
        let rest = parts.next()?;
        let (first, second) = rest.split_at_checked(old.unwrap_or(0))?;
        (second.len() == new.unwrap_or(0)).then(|| Self {
            old: old.map(|_| first.to_vec()),
            new: new.map(|_| second.to_vec()),
        })
    }
}

/// Both grants as one. The fence is the new side's, where that gave one.
pub(super) fn both_granted(old: &Grant, new: &Grant) -> Grant {
    let marks = Marks {
        old: old.mark().map(<[u8]>::to_vec),
        new: new.mark().map(<[u8]>::to_vec),
    };
    Grant::default()
        .with_mark(marks.join())
        .with_fence(new.fence().or(old.fence()))
}

/// Who holds, where one side or both have a holder.
pub(super) fn both_held(old: Option<Holder>, new: Option<Holder>) -> Option<Holder> {
    let marks = Marks {
        old: old.as_ref().map(|holder| holder.mark().to_vec()),
        new: new.as_ref().map(|holder| holder.mark().to_vec()),
    };
    let remaining = match (&old, &new) {
        (Some(old), Some(new)) => old.remaining().zip(new.remaining()).map(|(a, b)| a.min(b)),
        (Some(one), None) | (None, Some(one)) => one.remaining(),
        (None, None) => None,
    };
    let holder = old.or(new)?;
    Some(holder.remarked(marks.join()).lasting(remaining))
}

/// What became of a hold of which both sides were left. Where it is `forced` to end, or undone,
/// one side that let go is enough: nobody said that both were held.
pub(super) fn both_left(old: Left, new: Left, one_is_enough: bool) -> Left {
    let freed = [old, new].contains(&Left::Freed);
    if one_is_enough && freed {
        return Left::Freed;
    }
    let worst = [Left::Contested, Left::Taken, Left::Gone, Left::StillHeld];
    let found = worst.into_iter().find(|left| [old, new].contains(left));
    found.unwrap_or(Left::Freed)
}

/// The same exchange, which ends with its fault rather than by it: something must follow.
pub(super) fn caught<T: 'static>(exchange: Exchange<T>) -> Exchange<Result<T, Fault>> {
    Exchange::new(exchange.call().clone(), |answer| {
        Ok(match exchange.answer(answer) {
            Ok(Step::Done(result)) => Step::Done(Ok(result)),
            Ok(Step::Ask(next)) => Step::Ask(caught(next)),
            Err(fault) => Step::Done(Err(fault)),
        })
    })
}

/// The same exchange, whose result is a fault where it says so.
pub(super) fn settled<T: 'static>(exchange: Exchange<Result<T, Fault>>) -> Exchange<T> {
    Exchange::new(exchange.call().clone(), |answer| {
        Ok(match exchange.answer(answer)? {
            Step::Done(result) => Step::Done(result?),
            Step::Ask(next) => Step::Ask(settled(next)),
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn marks_are_had_back(old: Option<Vec<u8>>, new: Option<Vec<u8>>) {
            let marks = Marks { old, new };
            prop_assert_eq!(Marks::split(&marks.join()), marks);
        }

        #[test]
        fn whatever_was_not_joined_is_nobodys(bytes: Vec<u8>) {
            let marks = Marks::split(&bytes);
            prop_assert!(marks == Marks::default() || marks.join().len() == bytes.len());
        }
    }

    #[test]
    fn a_hold_is_left_as_its_worse_side_says() {
        use Left::{Contested, Freed, Gone, Taken};
        for (old, new, both) in [
            (Freed, Freed, Freed),
            (Contested, Freed, Contested),
            (Freed, Gone, Gone),
            (Gone, Taken, Taken),
            (Gone, Gone, Gone),
        ] {
            assert_eq!(both_left(old, new, false), both);
        }
        assert_eq!(both_left(Freed, Gone, true), Freed);
        assert_eq!(both_left(Gone, Gone, true), Gone);
    }
}
