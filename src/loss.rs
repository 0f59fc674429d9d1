//! Why a lease is no longer its holder's, and who is told.

use std::fmt;
use std::thread;
use std::time::Duration;

/// How a lease was lost.
///
/// # Examples
///
/// ```no_run
/// # fn main() -> Result<(), leasehold::Error> {
/// # let lock = leasehold::Client::connect("redis://127.0.0.1/")?.lock("orders:42")?;
/// let lease = lock.acquire()?;
/// if let Err(error) = lease.check() {
///     if let Some(loss) = error.loss() {
///         eprintln!("stop: {loss}");
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Its end passed unnoticed: it was not renewed, or the process was stopped.
    Expired {
        /// How long ago the end was when that was noticed.
        ago: Duration,
    },
    /// Somebody else holds the lock, although this lease had not ended.
    Taken,
    /// The lock was deleted before this lease had ended.
    Deleted,
    /// The server was started anew since, and does not know the lock.
    Forgotten,
    /// No renewal came through until its end.
    Unreachable,
    /// It was held for as long as [`max_hold`](crate::Builder::max_hold) lets it.
    Overstayed,
    /// A client of another protocol wrote its own time stamp over this hold's.
    Contested,
    /// The client was [shut down](crate::Client::shutdown).
    ShutDown,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { ago } => write!(f, "it ended {} ago", shown(*ago)),
            Self::Taken => f.write_str("somebody else holds it"),
            Self::Deleted => f.write_str("it was deleted before its end"),
            Self::Forgotten => f.write_str("the server was started anew and has forgotten it"),
            Self::Unreachable => f.write_str("no renewal came through until its end"),
            Self::Overstayed => f.write_str("it was held for as long as `max_hold` lets it"),
            Self::Contested => f.write_str("a foreign stamp stands in its place"),
            Self::ShutDown => f.write_str("the client was shut down"),
        }
    }
}

/// Who wants to know of a loss.
#[derive(Default)]
pub(crate) struct OnLost(Vec<(u64, Call)>);

type Call = Box<dyn FnOnce(Loss) + Send>;

impl OnLost {
    /// Adds what the lease of that number wants to have called.
    pub(crate) fn add(&mut self, lease: u64, call: Call) {
        self.0.push((lease, call));
    }

    /// Drops what the lease of that number wanted to have called.
    pub(crate) fn forget(&mut self, lease: u64) {
        self.0.retain(|(of, _)| *of != lease);
    }

    /// Runs every call, once, on a thread of their own: they may block, and panic.
    pub(crate) fn run(&mut self, loss: Loss) {
        let calls = std::mem::take(&mut self.0);
        if calls.is_empty() {
            return;
        }
        // A thread that cannot be had is no reason to bring the keeper down; `check` still
        // tells of the loss.
        let _ = thread::Builder::new()
            .name("leasehold-lost".to_owned())
            .spawn(move || {
                for (_, call) in calls {
                    let call = std::panic::AssertUnwindSafe(|| call(loss));
                    let _ = std::panic::catch_unwind(call);
                }
            });
    }
}

/// A duration for a person: three digits at most behind the point.
pub(crate) fn shown(duration: Duration) -> String {
    match duration.as_millis() {
        0..1_000 => format!("{} ms", duration.as_millis()),
        1_000..10_000 => format!("{:.2} s", duration.as_secs_f64()),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_shown_as_a_person_would() {
        assert_eq!(shown(Duration::from_micros(2_900)), "2 ms");
        assert_eq!(shown(Duration::from_millis(1_234)), "1.23 s");
        assert_eq!(shown(Duration::from_millis(12_340)), "12.3 s");
    }

    #[test]
    fn a_lease_that_has_left_is_not_called() {
        let (tell, told) = std::sync::mpsc::channel();
        let mut calls = OnLost::default();
        for lease in [1, 2] {
            let tell = tell.clone();
            calls.add(lease, Box::new(move |_| tell.send(lease).unwrap()));
        }
        drop(tell);
        calls.forget(1);
        calls.run(Loss::Taken);
        assert_eq!(told.iter().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_call_that_panics_does_not_keep_the_next_from_running() {
        let (tell, told) = std::sync::mpsc::channel();
        let mut calls = OnLost::default();
        calls.add(1, Box::new(|_| panic!("of a user's making")));
        calls.add(2, Box::new(move |loss| tell.send(loss).unwrap()));
        calls.run(Loss::Taken);
        assert_eq!(told.recv_timeout(Duration::from_secs(10)), Ok(Loss::Taken));
    }
}
