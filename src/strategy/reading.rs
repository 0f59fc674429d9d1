//! How the answers of scripts are read: the same for every strategy, and at hand for one of
//! your own.

use std::time::Duration;

use super::{Attempt, Grant, Holder, Kept, Left};
use crate::exchange::{Fault, Reply};
use crate::fence::Fence;

impl Attempt {
    /// Reads what a script that acquires answers, if it keeps to the form of ours:
    ///
    /// - `{1, fence}`: granted; the fence as text, `''` where there is none
    /// - `{0, ms, mark}`: held for so many ms, -1 for ever; `holder` makes a holder of the mark
    /// - `{-1}`: the acquisition was left before
    /// - `{-2}`: the owner does not hold what it thought to hold already
    ///
    /// # Errors
    ///
    /// [`Fault`] for anything else.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::strategy::{Attempt, Holder};
    /// use leasehold::Reply;
    ///
    /// let reply = Reply::Array(vec![Reply::Int(0), Reply::Int(250), Reply::Bytes(b"x".to_vec())]);
    /// let Attempt::Held(holder) = Attempt::read(reply, Holder::of)? else { panic!() };
    /// assert_eq!(holder.remaining().unwrap().as_millis(), 250);
    /// # Ok::<(), leasehold::Fault>(())
    /// ```
    pub fn read(reply: Reply, holder: impl FnOnce(Vec<u8>) -> Holder) -> Result<Self, Fault> {
        attempt(reply, holder)
    }
}

impl Kept {
    /// Reads what a script that extends answers, if it keeps to the form of ours: 1 kept,
    /// 0 gone, -1 taken, -2 contested.
    ///
    /// # Errors
    ///
    /// [`Fault`] for anything else.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{strategy::Kept, Reply};
    ///
    /// assert_eq!(Kept::read(Reply::Int(0))?, Kept::Gone);
    /// # Ok::<(), leasehold::Fault>(())
    /// ```
    pub fn read(reply: Reply) -> Result<Self, Fault> {
        match reply.int()? {
            1 => Ok(Self::Kept { mark: None }),
            0 => Ok(Self::Gone),
            -1 => Ok(Self::Taken),
            -2 => Ok(Self::Contested),
            other => Err(Reply::Int(other).misfit("1, 0, -1 or -2")),
        }
    }
}

impl Left {
    /// Reads what a script that leaves answers, if it keeps to the form of ours: 1 freed,
    /// 2 still held, 0 gone, -1 taken, -2 contested.
    ///
    /// # Errors
    ///
    /// [`Fault`] for anything else.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{strategy::Left, Reply};
    ///
    /// assert_eq!(Left::read(Reply::Int(1))?, Left::Freed);
    /// # Ok::<(), leasehold::Fault>(())
    /// ```
    pub fn read(reply: Reply) -> Result<Self, Fault> {
        match reply.int()? {
            1 => Ok(Self::Freed),
            2 => Ok(Self::StillHeld),
            0 => Ok(Self::Gone),
            -1 => Ok(Self::Taken),
            -2 => Ok(Self::Contested),
            other => Err(Reply::Int(other).misfit("2, 1, 0, -1 or -2")),
        }
    }
}

fn attempt(reply: Reply, holder: impl FnOnce(Vec<u8>) -> Holder) -> Result<Attempt, Fault> {
    let mut parts = reply.array()?.into_iter();
    let parts = [parts.next(), parts.next(), parts.next(), parts.next()];
    match parts {
        [Some(Reply::Int(1)), Some(text), None, None] => {
            Ok(Attempt::Granted(Grant::default().with_fence(fence(text)?)))
        }
        [Some(Reply::Int(0)), Some(millis), Some(mark), None] => {
            let remaining = lasting(millis.int()?);
            Ok(Attempt::Held(holder(mark.bytes()?).lasting(remaining)))
        }
        [Some(Reply::Int(-1)), None, None, None] => Ok(Attempt::Withdrawn),
        [Some(Reply::Int(-2)), None, None, None] => Ok(Attempt::OuterGone),
        [Some(first), ..] => Err(first.misfit("1, 0, -1 or -2, and what belongs to it")),
        _ => Err(Reply::Nil.misfit("1, 0, -1 or -2")),
    }
}

/// Reads a PTTL: `None` for a key without an end, nothing for one that is gone.
pub(super) fn lasting(millis: i64) -> Option<Duration> {
    match u64::try_from(millis) {
        Ok(millis) => Some(Duration::from_millis(millis)),
        Err(_) if millis == -1 => None,
        Err(_) => Some(Duration::ZERO),
    }
}

fn fence(reply: Reply) -> Result<Option<Fence>, Fault> {
    let text = reply.text()?;
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(|number| Some(Fence::new(number)))
        .map_err(|_| Reply::Bytes(text.into_bytes()).misfit("a fence"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Reply {
        Reply::Bytes(text.into())
    }

    fn read(parts: Vec<Reply>) -> Result<Attempt, Fault> {
        attempt(Reply::Array(parts), Holder::of)
    }

    #[test]
    fn a_grant_brings_its_fence() {
        for (text, fence) in [("7", Some(Fence::new(7))), ("", None)] {
            let Attempt::Granted(grant) = read(vec![Reply::Int(1), bytes(text)]).unwrap() else {
                panic!()
            };
            assert_eq!(grant.fence(), fence);
        }
    }

    #[test]
    fn a_holder_without_an_end_lasts_for_ever() {
        let Attempt::Held(holder) = read(vec![Reply::Int(0), Reply::Int(-1), bytes("x")]).unwrap()
        else {
            panic!()
        };
        assert_eq!((holder.remaining(), holder.mark()), (None, &b"x"[..]));
    }

    #[test]
    fn nonsense_is_a_fault_and_never_a_grant() {
        for parts in [
            vec![],
            vec![Reply::Int(7)],
            vec![bytes("x")],
            vec![Reply::Int(1)],
            vec![Reply::Int(1), bytes("-3")],
            vec![Reply::Int(1), bytes("1e9")],
            vec![Reply::Int(0), bytes("soon")],
        ] {
            assert!(read(parts.clone()).is_err(), "{parts:?}");
        }
        assert!(Kept::read(Reply::Int(2)).is_err() && Kept::read(Reply::Nil).is_err());
        assert!(Left::read(Reply::Int(3)).is_err() && Left::read(Reply::Nil).is_err());
    }
}
