//! The end of a client: release what is held, stop the threads, say what is left.

use std::sync::Arc;
use std::time::Duration;

use crate::client::Client;
use crate::clock::{self, Moment};
use crate::core::Core;
use crate::exchange::Talk;
use crate::hold::Held;
use crate::keeper::Errand;
use crate::loss::Loss;
use crate::name::Name;
use crate::strategy::{Left, sure};

/// The most releases that go into one pipeline.
const BATCH: usize = 256;

/// The pause before what was not answered is said again.
const PAUSE: Duration = Duration::from_millis(50);

/// What came of [`Client::shutdown`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let client = leasehold::Client::connect(server())?;
/// use std::time::Duration;
///
/// let lease = client.lock("orders:42")?.acquire()?;
/// let shutdown = client.shutdown(Duration::from_secs(1));
/// assert_eq!(shutdown.released(), 1);
/// assert!(shutdown.is_complete());
/// assert!(!lease.is_held());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shutdown {
    released: usize,
    lost: Vec<Name>,
    unreleased: Vec<Name>,
    stopped: bool,
}

impl Shutdown {
    /// How many locks were held and are free now.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::Duration;
    ///
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// let shutdown = client.shutdown(Duration::from_secs(1));
    /// assert_eq!(shutdown.released(), 1);
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn released(&self) -> usize {
        self.released
    }

    /// The locks that turned out to be no longer the client's.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::Duration;
    ///
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// let shutdown = client.shutdown(Duration::from_secs(1));
    /// assert!(shutdown.lost().is_empty());
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn lost(&self) -> &[Name] {
        &self.lost
    }

    /// The locks that could not be released: they end with their leases.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::Duration;
    ///
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// let shutdown = client.shutdown(Duration::from_secs(1));
    /// assert!(shutdown.unreleased().is_empty());
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn unreleased(&self) -> &[Name] {
        &self.unreleased
    }

    /// Whether everything that was held is free and every thread has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use std::time::Duration;
    ///
    /// let lease = client.lock("orders:42")?.acquire()?;
    /// let shutdown = client.shutdown(Duration::from_secs(1));
    /// assert!(shutdown.is_complete());
    /// # drop(lease);
    /// # Ok(()) }
    /// ```
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty() && self.unreleased.is_empty() && self.stopped
    }
}

impl Client {
    /// Releases what this client and all its clones hold, ends their waits and their threads,
    /// in at most `patience`; and says what could not be released.
    ///
    /// To be called before the process ends: `process::exit` and the end of `main` run no
    /// destructors of other threads, and what is held then stays locked for what is left of
    /// its lease. Every lease of the client is lost by it ([`Loss::ShutDown`]), and whoever
    /// acquires afterwards gets [`ErrorKind::ShutDown`](crate::ErrorKind::ShutDown).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// use leasehold::ErrorKind;
    ///
    /// let shutdown = client.shutdown(std::time::Duration::from_secs(1));
    /// assert!(shutdown.is_complete());
    /// let error = client.lock("orders:42")?.acquire().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ShutDown);
    /// # Ok(()) }
    /// ```
    pub fn shutdown(&self, patience: Duration) -> Shutdown {
        let until = clock::now() + patience;
        let core = self.core();
        core.close();
        let holdings = core.holdings.drain();
        let mut shutdown = Shutdown {
            released: 0,
            lost: Vec::new(),
            unreleased: Vec::new(),
            stopped: false,
        };
        for batch in holdings.chunks(BATCH) {
            release(core, batch, until, &mut shutdown);
        }
        shutdown.stopped = core.keeper.stop(until.remaining());
        for batch in core.keeper.errands().chunks(BATCH) {
            finish(core, batch, until, &mut shutdown);
        }
        shutdown
    }
}

/// Releases `batch`; what could not be is held still, for another shutdown to find.
fn release(core: &Core, batch: &[Arc<Held>], until: Moment, shutdown: &mut Shutdown) {
    let valid: Vec<_> = batch.iter().map(|held| end(core, held, until)).collect();
    let ask = |held: &Arc<Held>| Talk::new(sure(held.strategy.leave(&held.describe(0)), is_bad));
    let open = insist(core, batch, ask, until, |position, left| {
        if left == Left::Freed && valid[position] {
            shutdown.released += 1;
        } else {
            shutdown.lost.push(batch[position].name.clone());
        }
    });
    for position in open {
        core.holdings.add(&batch[position]);
        shutdown.unreleased.push(batch[position].name.clone());
    }
}

/// Ends what is believed of `held`; whether it was believed to be held.
fn end(core: &Core, held: &Arc<Held>, until: Moment) -> bool {
    core.keeper.forget(held);
    // A renewal that is on its way is let through, or is late and will be refused.
    drop(held.turn(until.min(core.link.patience())));
    held.lose(Loss::ShutDown);
    held.end();
    held.lost() == Some(Loss::ShutDown)
}

/// Says once more what could not be left before.
fn finish(core: &Core, batch: &[Errand], until: Moment, shutdown: &mut Shutdown) {
    let ask = |errand: &Errand| Talk::by_source(sure(errand.ask(), is_bad));
    let open = insist(core, batch, ask, until, |_, _| {});
    let names = open
        .into_iter()
        .map(|position| batch[position].name().clone());
    shutdown.unreleased.extend(names);
}

/// Whether an answer is not to be believed from a replica.
#[allow(clippy::trivially_copy_pass_by_ref)] // it is handed to `sure`
fn is_bad(left: &Left) -> bool {
    left.loss().is_some()
}

/// Asks for each of `batch` in one pipeline, and again for those without an answer, until
/// `until`; gives the positions of those that never had one.
fn insist<T>(
    core: &Core,
    batch: &[T],
    ask: impl Fn(&T) -> Talk<Left>,
    until: Moment,
    mut answered: impl FnMut(usize, Left),
) -> Vec<usize> {
    let mut open: Vec<_> = (0..batch.len()).collect();
    loop {
        let asked = open.clone();
        let talks = asked
            .iter()
            .map(|&position| ask(&batch[position]))
            .collect();
        let mut conn = core.link.connection();
        let _ = conn.run_all(talks, until, |which, left| {
            if let Ok(left) = left {
                open.retain(|&position| position != asked[which]);
                answered(asked[which], left);
            }
        });
        if open.is_empty() || until.remaining().is_zero() {
            return open;
        }
        clock::sleep(PAUSE.min(until.remaining()));
    }
}
