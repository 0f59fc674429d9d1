//! How far a migration has come, and who may take part in it.

use std::fmt;

use crate::exchange::{Call, Exchange, Fault, Reply};
use crate::strategy::scripts;

/// What a client of a [`Bridge`](super::Bridge) takes.
///
/// Clients of neighbouring phases exclude each other. Clients of [`Old`](Phase::Old) and
/// [`New`](Phase::New) do not: one would hold the old lock and the other the new one.
///
/// # Examples
///
/// ```
/// use leasehold::strategy::Phase;
///
/// assert!(Phase::Old < Phase::Both && Phase::Both < Phase::New);
/// assert_eq!(Phase::New.to_string(), "new (2)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The old lock alone, as clients do that know nothing of the migration.
    Old = 0,
    /// The old lock, and then the new one.
    Both = 1,
    /// The new lock alone.
    New = 2,
}

impl Phase {
    /// The phase of that number.
    pub(crate) fn of(number: i64) -> Option<Self> {
        [Self::Old, Self::Both, Self::New]
            .into_iter()
            .find(|phase| *phase as i64 == number)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Old => "old (0)",
            Self::Both => "both (1)",
            Self::New => "new (2)",
        })
    }
}

/// Asks the marker at `key` for the lowest phase that is admitted; no marker is
/// [`Phase::Old`].
pub(crate) fn lowest(key: &[u8]) -> Exchange<Phase> {
    Exchange::one(Call::command("GET").key(key), |reply| {
        let number = reply.optional()?.map_or(Ok(0), Reply::int)?;
        Phase::of(number).ok_or_else(|| Reply::Int(number).misfit("a phase, 0 to 2"))
    })
}

/// Moves the marker at `key` by one phase. Where it stands then, and whether it is where it was
/// to be.
pub(crate) fn moved(key: &[u8], from: Phase, to: Phase) -> Exchange<(bool, Phase)> {
    let call = Call::script(&scripts::BRIDGE_MOVE)
        .key(key)
        .number(from as u64)
        .number(to as u64);
    Exchange::one(call, |reply| {
        let mut parts = reply.array()?.into_iter();
        let mut next = move || parts.next().unwrap_or(Reply::Nil).int();
        let (done, at) = (next()? == 1, next()?);
        let at = Phase::of(at).ok_or_else(|| Reply::Int(at).misfit("a phase, 0 to 2"))?;
        Ok((done, at))
    })
}

/// Why a client of `phase` may not take part where `lowest` is the lowest phase admitted.
///
/// Admitted are `lowest` and the one after it: these exclude each other, and no others do.
pub(super) fn refusal(phase: Phase, lowest: Phase, marker: &str) -> Option<Fault> {
    let text = if phase < lowest {
        format!(
            "this client runs in phase {phase}, and the marker \"{marker}\" admits none below \
             {lowest}, since clients of the phase above it may be at work; start it in phase \
             {lowest}, or stop all clients above {phase} and lower the marker to {phase}"
        )
    } else if phase as i64 > lowest as i64 + 1 {
        format!(
            "this client runs in phase {phase}, and the marker \"{marker}\" stands at {lowest}: \
             clients that know only the old lock may be at work, and would not be excluded; run \
             every client in phase {both}, see that no other is left, and raise the marker \
             to {both}",
            both = Phase::Both
        )
    } else {
        return None;
    };
    Some(Fault::Declined(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_are_admitted_together() {
        use Phase::{Both, New, Old};
        for (lowest, admitted) in [(Old, [Old, Both]), (Both, [Both, New]), (New, [New, New])] {
            for phase in [Old, Both, New] {
                let refused = refusal(phase, lowest, "m").is_some();
                assert_eq!(refused, !admitted.contains(&phase), "{phase} at {lowest}");
            }
        }
    }

    #[test]
    fn a_marker_that_says_no_phase_admits_nobody() {
        assert_eq!(Phase::of(3), None);
        assert_eq!(Phase::of(-1), None);
        assert_eq!(Phase::of(2), Some(Phase::New));
    }
}
