//! The conversations of a bridge: both sides, one after the other, and the marker.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::sides::{Marks, both_granted, both_held, both_left, caught, settled};
use super::{Parts, Phase, phase};
use crate::config::LeaseTime;
use crate::exchange::{Exchange, Fault, Step};
use crate::name::{Name, Owner, Ticket};
use crate::strategy::{Attempt, Claim, Grant, Hold, Holder, Kept, Left};

impl Parts {
    /// Whether the sides count re-entries alike.
    pub(super) fn reenters(&self) -> bool {
        match self.phase {
            Phase::Old => self.old.reenters(),
            Phase::Both => self.old.reenters() && self.new.reenters(),
            Phase::New => self.new.reenters(),
        }
    }

    /// An owner that holds twice on the old side and is then refused on the new one would lose
    /// its first hold by leaving the second. So it is another owner each time.
    fn old_owner(&self, owner: &Owner, ticket: &Ticket) -> Owner {
        if self.phase == Phase::Both && self.old.reenters() && !self.reenters() {
            Owner::of_ticket(ticket)
        } else {
            *owner
        }
    }

    fn old_claim(&self, claim: &Claim) -> Claim {
        let fences = if self.phase == Phase::Both && self.new.fences() {
            0
        } else {
            claim.fences
        };
        Claim {
            owner: self.old_owner(&claim.owner, &claim.ticket),
            fences,
            waits: false,
            ..claim.clone()
        }
    }

    fn new_claim(&self, claim: &Claim) -> Claim {
        Claim {
            name: (self.names)(&claim.name),
            fences: if self.new.fences() { claim.fences } else { 0 },
            waits: false,
            ..claim.clone()
        }
    }

    fn old_hold(&self, hold: &Hold) -> Hold {
        Hold {
            owner: self.old_owner(&hold.owner, &hold.ticket),
            mark: hold.mark().and_then(|mark| Marks::split(mark).old),
            ..hold.clone()
        }
    }

    fn new_hold(&self, hold: &Hold) -> Hold {
        Hold {
            name: (self.names)(&hold.name),
            mark: hold.mark().and_then(|mark| Marks::split(mark).new),
            ..hold.clone()
        }
    }

    /// What `claim` was granted, to be left again.
    fn granted(claim: &Claim, grant: &Grant) -> Hold {
        Hold {
            mark: grant.mark().map(<[u8]>::to_vec),
            fence: grant.fence(),
            undo: None,
            ..claim.undo()
        }
    }

    /// Takes what the phase takes, once the marker has admitted this client.
    pub(super) fn acquire(self: Arc<Self>, claim: Claim) -> Exchange<Attempt> {
        let one_key = (self.names)(&claim.name) == claim.name;
        if self.started.load(Ordering::Relaxed) && !one_key {
            return self.take(claim);
        }
        let asked = phase::lowest(self.marker.as_bytes());
        settled(
            caught(asked).and_then(move |lowest| match self.admitted(lowest) {
                Ok(()) if one_key => Step::Done(Err(Fault::Declined(
                    "the names of the bridge give the old name for the new one, and no key holds both \
                     locks"
                        .to_owned(),
                ))),
                Ok(()) => {
                    self.started.store(true, Ordering::Relaxed);
                    Step::Ask(caught(self.take(claim)))
                }
                Err(fault) => Step::Done(Err(fault)),
            }),
        )
    }

    fn admitted(&self, lowest: Result<Phase, Fault>) -> Result<(), Fault> {
        phase::refusal(self.phase, lowest?, &self.marker).map_or(Ok(()), Err)
    }

    fn take(self: Arc<Self>, claim: Claim) -> Exchange<Attempt> {
        let old_claim = self.old_claim(&claim);
        match self.phase {
            Phase::Old => {
                let taken = self.old.acquire(&old_claim);
                self.confirm(claim, taken.map(|attempt| joined(attempt, true)))
            }
            Phase::New => {
                let new_claim = self.new_claim(&claim);
                let taken = on_new(self.new.acquire(&new_claim), new_claim.name);
                self.confirm(claim, taken.map(|attempt| joined(attempt, false)))
            }
            Phase::Both => {
                let taken = self.old.acquire(&old_claim);
                let parts = Arc::clone(&self);
                let both = taken.and_then({
                    let claim = claim.clone();
                    move |attempt| match attempt {
                        Attempt::Granted(old) => Step::Ask(parts.take_new(claim, old)),
                        other => Step::Done(joined(other, true)),
                    }
                });
                self.confirm(claim, both)
            }
        }
    }

    /// Takes the new lock beside the old one; where it is not had, leaves the old one.
    fn take_new(self: Arc<Self>, claim: Claim, old: Grant) -> Exchange<Attempt> {
        let new_claim = self.new_claim(&claim);
        let taken = caught(self.new.acquire(&new_claim));
        settled(taken.and_then(move |taken| {
            let result = match taken {
                Ok(Attempt::Granted(new)) => {
                    let grant = both_granted(&old, &new);
                    return Step::Done(Ok(Attempt::Granted(grant)));
                }
                Ok(other) => Ok(joined(other, false)),
                Err(fault) => Err(foreign(fault, &new_claim.name)),
            };
            let hold = Self::granted(&self.old_claim(&claim), &old);
            let left = caught(self.old.leave(&hold));
            Step::Ask(left.map(|left| left.map_err(|fault| half_done(&fault)).and(result)))
        }))
    }

    /// Looks at the marker once more after a grant. The check after is worth more than one before:
    /// who was stopped between them would hold by a phase that is over.
    fn confirm(self: Arc<Self>, claim: Claim, taken: Exchange<Attempt>) -> Exchange<Attempt> {
        settled(caught(taken).and_then(move |attempt| {
            let Ok(Attempt::Granted(grant)) = attempt else {
                return Step::Done(attempt);
            };
            let asked = caught(phase::lowest(self.marker.as_bytes()));
            Step::Ask(asked.and_then(move |lowest| {
                let Err(fault) = self.admitted(lowest) else {
                    return Step::Done(Ok(Attempt::Granted(grant)));
                };
                let hold = Self::granted(&claim, &grant);
                let left = caught(self.leave(&hold));
                Step::Ask(left.map(|left| left.map_err(|fault| half_done(&fault)).and(Err(fault))))
            }))
        }))
    }

    /// Leaves in the reverse order. What one side says does not keep the other from being left.
    pub(super) fn leave(self: &Arc<Self>, hold: &Hold) -> Exchange<Left> {
        let (old, new) = (self.old_hold(hold), self.new_hold(hold));
        let left = on_new(self.new.leave(&new), new.name.clone());
        match self.phase {
            Phase::Old => return self.old.leave(&old),
            Phase::New => return left,
            Phase::Both => {}
        }
        // Of a hold that is forced to end, that side is left which was seen to hold.
        let seen = hold.mark().map(Marks::split).unwrap_or_default();
        if hold.is_forced() && seen.new.is_none() {
            return self.old.leave(&old);
        } else if hold.is_forced() && seen.old.is_none() {
            return left;
        }
        if hold.undo().is_some() {
            return self.undo(&old, new);
        }
        let forced = hold.is_forced();
        let old_left = caught(self.old.leave(&old));
        settled(caught(left).and_then(move |new| {
            Step::Ask(old_left.map(move |old| Ok(both_left(old?, new?, forced))))
        }))
    }

    /// Undoes what may have been granted. Where the old lock can never have been granted, since
    /// its key is of another type, the new one was not asked for, and is not told to expect it.
    fn undo(self: &Arc<Self>, old: &Hold, new: Hold) -> Exchange<Left> {
        let parts = Arc::clone(self);
        settled(caught(self.old.leave(old)).and_then(move |old| {
            let never = matches!(&old, Err(Fault::Refused(error)) if error.code() == "WRONGTYPE");
            let undo = new.undo.filter(|_| !never);
            let name = new.name.clone();
            let new = parts.new.leave(&Hold { undo, ..new });
            let left = caught(on_new(new, name));
            Step::Ask(left.map(move |new| Ok(both_left(old?, new?, true))))
        }))
    }

    /// Extends both; a side that is lost is the end of both.
    pub(super) fn extend(self: Arc<Self>, hold: &Hold, lease: LeaseTime) -> Exchange<Kept> {
        let (old, new) = (self.old_hold(hold), self.new_hold(hold));
        let marks = hold.mark().map(Marks::split).unwrap_or_default();
        let new_name = new.name.clone();
        let extend_new = move |parts: &Self, marks: Marks| {
            let kept = on_new(parts.new.extend(&new, lease), new_name);
            kept.map(|kept| {
                kept_as(kept, |mark| Marks {
                    new: mark.or(marks.new),
                    ..marks
                })
            })
        };
        if self.phase == Phase::New {
            return extend_new(&self, marks);
        }
        let kept = self.old.extend(&old, lease).map({
            let marks = marks.clone();
            |kept| {
                kept_as(kept, |mark| Marks {
                    old: mark.or(marks.old),
                    ..marks
                })
            }
        });
        if self.phase == Phase::Old {
            return kept;
        }
        kept.and_then(move |kept| match kept {
            Kept::Kept { mark } => {
                let marks = mark.as_deref().map_or(marks, Marks::split);
                Step::Ask(extend_new(&self, marks))
            }
            lost => Step::Done(lost),
        })
    }

    /// The holder of the old lock, else that of the new one.
    pub(super) fn inspect(&self, name: &Name) -> Exchange<Option<Holder>> {
        let new_name = (self.names)(name);
        let new = on_new(self.new.inspect(&new_name), new_name);
        match self.phase {
            Phase::Old => self.old.inspect(name).map(|old| both_held(old, None)),
            Phase::New => new.map(|new| both_held(None, new)),
            Phase::Both => self
                .old
                .inspect(name)
                .and_then(move |old| Step::Ask(new.map(move |new| both_held(old, new)))),
        }
    }
}

/// An attempt at one side, its marks joined to nothing on the other.
fn joined(attempt: Attempt, is_old: bool) -> Attempt {
    let marks = |mark: &[u8]| {
        let mark = Some(mark.to_vec());
        let (old, new) = if is_old { (mark, None) } else { (None, mark) };
        Marks { old, new }.join()
    };
    match attempt {
        Attempt::Granted(grant) => {
            let mark = grant.mark().map(marks);
            let mark = mark.unwrap_or_else(|| Marks::default().join());
            Attempt::Granted(grant.with_mark(mark))
        }
        Attempt::Held(holder) => {
            let mark = marks(holder.mark());
            Attempt::Held(holder.remarked(mark))
        }
        other => other,
    }
}

fn kept_as(kept: Kept, marks: impl FnOnce(Option<Vec<u8>>) -> Marks) -> Kept {
    match kept {
        Kept::Kept { mark } => Kept::Kept {
            mark: Some(marks(mark).join()),
        },
        lost => lost,
    }
}

/// The same exchange, whose fault names the new lock where that is none of its strategy's.
fn on_new<T: 'static>(exchange: Exchange<T>, name: Name) -> Exchange<T> {
    settled(caught(exchange).map(move |result| result.map_err(|fault| foreign(fault, &name))))
}

fn foreign(fault: Fault, name: &Name) -> Fault {
    match fault {
        Fault::Refused(error) if error.code() == "WRONGTYPE" => Fault::Declined(format!(
            "what stands under \"{name}\", where the new lock belongs, is no lock of the new strategy"
        )),
        fault => fault,
    }
}

/// A side that was had and could not be left again: nobody knows, and so it is undone.
fn half_done(fault: &Fault) -> Fault {
    Fault::Malformed {
        expected: "that one side of the bridge lets go",
        got: fault.to_string(),
    }
}
