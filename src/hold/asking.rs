//! How a hold is extended and left: what its leases ask of the server.

use std::sync::Arc;
use std::time::Duration;

use super::Held;
use crate::clock::{self, Moment};
use crate::config::LeaseTime;
use crate::core::Core;
use crate::error::Error;
use crate::keeper::Errand;
use crate::lease::Released;
use crate::link::{Failure, Lane};
use crate::loss::Loss;
use crate::observe;
use crate::strategy::{Kept, Left, sure};

/// Until when the server is asked again about a hold: as long as it lasts, at most for
/// `patience`, and at least for one answer.
pub(crate) fn patience(core: &Core, held: &Held, patience: Duration) -> Moment {
    let soon = clock::now() + patience;
    soon.min(held.valid_until()).max(core.link.patience())
}

/// Makes `held` last for at least `lease` from now.
pub(crate) fn extend(
    core: &Core,
    held: &Arc<Held>,
    lease: LeaseTime,
    until: Moment,
) -> Result<(), Error> {
    held.check()?;
    let mut asked = (lease, clock::now());
    let persisted = core.persist(Lane::Common, until, |place, _| {
        // The turn is not kept while a place is waited for: the keeper has a connection of its
        // own, and may renew meanwhile.
        let _turn = held.turn(until).ok_or(Failure::Busy)?;
        asked = (held.at_least(lease), clock::now());
        let (hold, lease) = (held.describe(0), asked.0);
        let extend = || {
            sure(held.strategy.extend(&hold, lease), |kept| {
                kept.loss().is_some()
            })
        };
        core.ask_from(place, &held.name, extend, until)
    });
    match persisted.answer {
        Ok(kept) => {
            if kept == Kept::Gone && core.was_forgotten(held, until) {
                held.lose(Loss::Forgotten);
            }
            held.keep(kept, asked.0, asked.1)
                .map_err(|loss| Error::lost(&held.name, loss))
        }
        Err(failure) => {
            held.check()?;
            Err(core.explain("extend", &held.name, failure))
        }
    }
}

/// Leaves `held` once: releases it where this was its last lease.
///
/// What could not be said to the server by `until` goes to the keeper, which goes on until
/// the lease has ended.
pub(crate) fn leave(
    core: &Core,
    held: &Arc<Held>,
    until: Moment,
    dropped: bool,
) -> Result<Released, Error> {
    // Whoever has the turn for longer than this is late, and will be refused for it.
    let _turn = held.turn(clock::now() + until.remaining() / 2);
    let before = held.check();
    if held.is_over() {
        return before.map(|()| Released::Freed); // the client was shut down
    }
    let holds_left = held.leave();
    if holds_left == 0 {
        core.keeper.forget(held);
        core.holdings.remove(held);
    }
    let hold = held.describe(holds_left);
    let persisted = core.persist(Lane::Release, until, |place, doubtful| {
        let hold = hold.clone();
        let hold = if doubtful { hold.again() } else { hold };
        core.leave_from(place, &held.strategy, &hold, until)
    });
    let result = match persisted.answer {
        Ok(left) => judge(core, held, left, persisted.doubtful, until),
        Err(failure) => {
            if holds_left == 0 {
                core.leave_later(&Errand::release(&held.strategy, hold.again()));
            }
            Err(if dropped {
                Error::failed("release", &held.name, failure)
            } else {
                core.explain("release", &held.name, failure)
            })
        }
    };
    let result = before.and(result);
    core.watched().tell(|observer| {
        observer.released(&observe::Released {
            name: &held.name,
            owner: &held.owner,
            result: &result,
            dropped,
        });
    });
    result
}

/// What the server's answer to a release means. Where an earlier one stayed out, "not held"
/// says that it was carried out, as long as the lease had not ended.
fn judge(
    core: &Core,
    held: &Held,
    left: Left,
    doubtful: bool,
    until: Moment,
) -> Result<Released, Error> {
    let loss = match left {
        Left::Freed => return Ok(Released::Freed),
        Left::StillHeld => return Ok(Released::StillHeld),
        Left::Gone | Left::Taken if doubtful && !held.valid_until().remaining().is_zero() => {
            return Ok(Released::Freed);
        }
        Left::Gone | Left::Taken if doubtful => {
            return Err(Error::failed("release", &held.name, Failure::EndedUnheard));
        }
        Left::Gone if core.was_forgotten(held, until) => Loss::Forgotten,
        Left::Gone => Loss::Deleted,
        Left::Taken => Loss::Taken,
        Left::Contested => Loss::Contested,
    };
    held.lose(loss);
    Err(Error::lost(&held.name, loss))
}
