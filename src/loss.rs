//! Why a lease is no longer its holder's.

use std::fmt;
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
    /// Its end passed unnoticed: no renewal came through in time, or there was none.
    Expired {
        /// How long ago the end was when that was noticed.
        ago: Duration,
    },
    /// Somebody else holds the lock, although this lease had not ended.
    Taken,
    /// The lock was deleted before this lease had ended.
    Deleted,
    /// A client of another protocol wrote its own time stamp over this hold's.
    Contested,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { ago } => write!(f, "it ended {} ago", shown(*ago)),
            Self::Taken => f.write_str("somebody else holds it"),
            Self::Deleted => f.write_str("it was deleted before its end"),
            Self::Contested => f.write_str("a foreign stamp stands in its place"),
        }
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
}
