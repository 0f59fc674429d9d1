//! Settings: a builder takes them, `build` checks them, what comes out is valid.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::client::Client;
use crate::clock;
use crate::error::Error;
use crate::keeper::validity::drift;
use crate::link::{Endpoint, MOST, Nodes, Servers, Timeouts, Wire};
use crate::observe::{Observer, Watched};
use crate::retry::Retry;
use crate::strategy::{LockStrategy, Token};

/// The shortest lease: below it, a socket's own time-outs are longer than the lease.
const SHORTEST_LEASE: Duration = Duration::from_millis(10);

/// The longest lease: ten years.
const LONGEST_LEASE: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// How long a lease runs: 10 ms to 10 years, in whole milliseconds.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::LeaseTime;
///
/// let lease = LeaseTime::new(Duration::from_micros(10_500))?;
/// assert_eq!(lease.as_millis(), 11); // never shorter than asked for
/// assert!(LeaseTime::new(Duration::from_millis(9)).is_err());
/// # Ok::<(), leasehold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaseTime(u64);

impl LeaseTime {
    /// Checks `duration`, and rounds it up to a whole millisecond.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig) for less than 10 ms or
    /// more than 10 years.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// assert!(leasehold::LeaseTime::new(Duration::MAX).is_err());
    /// ```
    pub fn new(duration: Duration) -> Result<Self, Error> {
        if (SHORTEST_LEASE..=LONGEST_LEASE).contains(&duration) {
            Ok(Self::at_least(duration))
        } else {
            Err(Error::config(
                "lease",
                format_args!("{duration:?}"),
                "a lease has 10 ms to 10 years",
            ))
        }
    }

    /// The lease of at least `duration`, cut to what a lease can be.
    pub(crate) fn at_least(duration: Duration) -> Self {
        let duration = duration.clamp(SHORTEST_LEASE, LONGEST_LEASE);
        let millis = duration.as_nanos().div_ceil(1_000_000);
        Self(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    /// Whole milliseconds, as a server is told.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// assert_eq!(leasehold::LeaseTime::new(Duration::from_secs(30))?.as_millis(), 30_000);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// The lease as a duration.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// let lease = leasehold::LeaseTime::new(Duration::from_secs(30))?;
    /// assert_eq!(lease.as_duration(), Duration::from_secs(30));
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn as_duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

/// When a lease is renewed while it is held.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::{Client, Renewal};
///
/// let builder = Client::builder("redis://127.0.0.1/")
///     .lease(Duration::from_secs(30))
///     .renewal(Renewal::Every(Duration::from_secs(30)));
/// assert!(builder.build().is_err()); // too late for it
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Renewal {
    /// When a third of it has passed.
    #[default]
    Third,
    /// When that much of it has passed.
    Every(Duration),
    /// Never: it ends when it ends.
    Off,
}

impl Renewal {
    pub(crate) fn every(self, lease: LeaseTime) -> Option<Duration> {
        match self {
            Self::Third => Some(lease.as_duration() / 3),
            Self::Every(every) => Some(every),
            Self::Off => None,
        }
    }
}

/// The terms on which a lock is taken.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) strategy: Arc<dyn LockStrategy>,
    pub(crate) lease: LeaseTime,
    pub(crate) wait: Duration,
    pub(crate) retry: Retry,
    pub(crate) renewal: Renewal,
    pub(crate) max_hold: Duration,
    pub(crate) fence: bool,
    /// How long each of several servers may take; `None` where there is one.
    pub(crate) share: Option<Duration>,
}

impl Terms {
    /// The terms with another strategy, where that one admits them.
    pub(crate) fn with_strategy(&self, strategy: Arc<dyn LockStrategy>) -> Result<Self, Error> {
        Self {
            strategy,
            ..self.clone()
        }
        .checked()
    }

    pub(crate) fn with_lease(&self, lease: Duration) -> Result<Self, Error> {
        Self {
            lease: LeaseTime::new(lease)?,
            ..self.clone()
        }
        .checked()
    }

    pub(crate) fn with_renewal(&self, renewal: Renewal) -> Result<Self, Error> {
        Self {
            renewal,
            ..self.clone()
        }
        .checked()
    }

    pub(crate) fn with_max_hold(&self, max_hold: Duration) -> Result<Self, Error> {
        Self {
            max_hold,
            ..self.clone()
        }
        .checked()
    }

    pub(crate) fn with_fence(&self, fence: bool) -> Result<Self, Error> {
        Self {
            fence,
            ..self.clone()
        }
        .checked()
    }

    pub(crate) fn with_wait(&self, wait: Duration) -> Result<Self, Error> {
        Self {
            wait,
            ..self.clone()
        }
        .checked()
    }

    fn checked(self) -> Result<Self, Error> {
        let shown = format!("{:?}", self.lease.as_duration());
        self.strategy
            .admit(self.lease)
            .map_err(|why| Error::config("lease", shown, why))?;
        check_wait(self.wait)?;
        self.check_renewal()?;
        self.check_share()?;
        if self.fence && !self.strategy.fences() {
            let why = "the strategy has none: fences take a script";
            return Err(Error::config("fence", true, why));
        }
        Ok(self)
    }

    /// Refuses what is not safe on several servers.
    fn check_share(&self) -> Result<(), Error> {
        let Some(share) = self.share else {
            return Ok(());
        };
        let admitted = self.strategy.admit_many();
        let strategy = || format!("{:?}", self.strategy);
        admitted.map_err(|why| Error::config("strategy", strategy(), why))?;
        if share >= self.lease.as_duration() {
            let why = "each of several servers must answer within the lease";
            return Err(Error::config("io_timeout", format!("{share:?}"), why));
        }
        Ok(())
    }

    fn check_renewal(&self) -> Result<(), Error> {
        let refuse = |field, value, why| {
            let value = format!("{value:?}");
            Err(Error::config(field, value, why))
        };
        let lease = self.lease.as_duration();
        match self.renewal {
            Renewal::Every(every) if every >= lease.saturating_sub(drift(lease)) => {
                refuse("renewal", every, "it must be shorter than the lease")
            }
            Renewal::Every(every) if every < Duration::from_millis(1) => {
                refuse("renewal", every, "the server would do nothing else")
            }
            _ if self.max_hold < lease => refuse(
                "max_hold",
                self.max_hold,
                "it must not be shorter than the lease",
            ),
            _ if clock::now().checked_add(self.max_hold).is_none() => refuse(
                "max_hold",
                self.max_hold,
                "its end is beyond what a clock can say",
            ),
            _ => Ok(()),
        }
    }
}

/// Refuses a wait that no clock can hold.
pub(crate) fn check_wait(wait: Duration) -> Result<(), Error> {
    match clock::now().checked_add(wait) {
        Some(_) if wait < Duration::from_secs(u64::MAX / 4) => Ok(()),
        _ => Err(Error::config(
            "wait",
            format_args!("{wait:?}"),
            "its end is beyond what a clock can say",
        )),
    }
}

/// The settings of a [`Client`] to be.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use leasehold::Client;
///
/// let client = Client::builder("redis://127.0.0.1/")
///     .lease(Duration::from_secs(15))
///     .wait(Duration::from_secs(5))
///     .build()?;
/// # drop(client);
/// # Ok::<(), leasehold::Error>(())
/// ```
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    urls: Vec<String>,
    /// Whether they are servers of their own, of which a majority decides.
    redlock: bool,
    quarantine: Option<Duration>,
    strategy: Arc<dyn LockStrategy>,
    lease: Duration,
    wait: Duration,
    retry: Retry,
    pool_size: u32,
    connect_timeout: Duration,
    io_timeout: Duration,
    drop_timeout: Duration,
    renewal: Renewal,
    max_hold: Option<Duration>,
    fence: bool,
    watched: Watched,
}

/// How long one of several servers may take unless told otherwise: a majority of them is
/// enough, and none is worth waiting for.
const SHARE: Duration = Duration::from_millis(50);

/// For how long a hold is renewed unless told otherwise.
const MAX_HOLD: Duration = Duration::from_secs(3600);

impl Builder {
    /// The settings of a client of several independent servers.
    pub(crate) fn redlock(urls: Vec<String>) -> Self {
        Self {
            urls,
            redlock: true,
            connect_timeout: SHARE,
            io_timeout: SHARE,
            ..Self::new(String::new())
        }
    }

    pub(crate) fn new(url: String) -> Self {
        Self {
            urls: vec![url],
            redlock: false,
            quarantine: None,
            strategy: Arc::new(Token::default()),
            lease: Duration::from_secs(30),
            wait: Duration::from_secs(10),
            retry: Retry::default(),
            pool_size: 8,
            connect_timeout: Duration::from_secs(1),
            io_timeout: Duration::from_secs(1),
            drop_timeout: Duration::from_millis(250),
            renewal: Renewal::default(),
            max_hold: None,
            fence: false,
            watched: Watched::default(),
        }
    }

    /// Sets the wire protocol.
    ///
    /// Defaults to [`Token`]. Clients exclude each other only by the same one.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{strategy::Reentrant, Client};
    ///
    /// let client = Client::builder("redis://127.0.0.1/").strategy(Reentrant::default()).build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn strategy(mut self, strategy: impl LockStrategy + 'static) -> Self {
        self.strategy = Arc::new(strategy);
        self
    }

    /// Sets how long a lease runs.
    ///
    /// Defaults to 30 seconds. After a crash of its holder a lock stays locked for what is
    /// left of the lease; a holder that is stopped for longer than it has lost the lock.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::Client;
    /// let builder = Client::builder("redis://127.0.0.1/").lease(Duration::from_millis(9));
    /// let error = builder.build().unwrap_err();
    /// assert!(error.to_string().contains("`lease` = 9ms"));
    /// ```
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets when a lease is renewed while it is held.
    ///
    /// Defaults to [`Renewal::Third`]: two renewals may fail before the lease ends. With
    /// [`Renewal::Off`] a lease ends when it ends, and no thread is started.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::{Client, Renewal};
    ///
    /// let client = Client::builder("redis://127.0.0.1/").renewal(Renewal::Off).build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn renewal(mut self, renewal: Renewal) -> Self {
        self.renewal = renewal;
        self
    }

    /// Sets for how long a lock may be held by renewing its lease.
    ///
    /// Defaults to one hour, or the lease where that is longer. A lease that was forgotten
    /// somewhere ends then, instead of being renewed for ever. Extending it by
    /// [`Lease::extend`](crate::Lease::extend) is not bounded by it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::Client;
    ///
    /// let client = Client::builder("redis://127.0.0.1/")
    ///     .max_hold(Duration::from_secs(300))
    ///     .build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.max_hold = Some(max_hold);
        self
    }

    /// Sets whether every lease brings a [fence](crate::Fence).
    ///
    /// Defaults to no. It costs no round trip, and one more key at the server, which stays
    /// for a day after the last grant of its name.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// let client = leasehold::Client::builder(server()).fence(true).build()?;
    /// let lock = client.lock("orders:42")?;
    /// let first = lock.with(|lease| lease.fence())?;
    /// let second = lock.with(|lease| lease.fence())?;
    /// assert!(second > first);
    /// # Ok(()) }
    /// ```
    pub fn fence(mut self, fence: bool) -> Self {
        self.fence = fence;
        self
    }

    /// Sets who is told what happens: see [`Observer`].
    ///
    /// Defaults to nobody.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::observe::{Lost, Observer};
    ///
    /// struct Alarm;
    ///
    /// impl Observer for Alarm {
    ///     fn lost(&self, event: &Lost<'_>) {
    ///         eprintln!("{} lost: {}", event.name, event.loss);
    ///     }
    /// }
    ///
    /// let client = leasehold::Client::builder("redis://127.0.0.1/").observer(Alarm).build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.watched = Watched::by(observer);
        self
    }

    /// Sets how long [`Lock::acquire`](crate::Lock::acquire) waits at most.
    ///
    /// Defaults to 10 seconds. It also bounds how long an explicit release goes on trying
    /// to reach a server. Zero makes every acquisition a single try.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::Client;
    /// let client = Client::builder("redis://127.0.0.1/").wait(Duration::from_secs(2)).build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets how long to pause between two tries.
    ///
    /// Defaults to anything from 0 to 100 ms; see [`Retry`] for what that costs.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::{Client, Retry};
    ///
    /// let client = Client::builder("redis://127.0.0.1/")
    ///     .retry(Retry::uniform(Duration::from_millis(20)))
    ///     .build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how many connections may be in use at once for acquiring and asking.
    ///
    /// Defaults to 8. No connection is in use while a thread waits for a lock, so that a
    /// few serve many threads. One more is kept back for releases.
    ///
    /// # Examples
    ///
    /// ```
    /// # use leasehold::Client;
    /// assert!(Client::builder("redis://127.0.0.1/").pool_size(0).build().is_err());
    /// ```
    pub fn pool_size(mut self, connections: u32) -> Self {
        self.pool_size = connections;
        self
    }

    /// Sets how long connecting may take.
    ///
    /// Defaults to 1 second, and to 50 ms for each of [several servers](Client::redlock). A
    /// server that is not there is reported within it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::Client;
    /// let builder = Client::builder("redis://127.0.0.1/").connect_timeout(Duration::from_millis(300));
    /// # drop(builder);
    /// ```
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long the server may take for an answer.
    ///
    /// Defaults to 1 second, and to 50 ms for each of [several servers](Client::redlock). A wait
    /// ends at its deadline, or at most this much later; with several servers a few times
    /// this much, since what a minority granted is undone before it ends. It should lie well below the lease: an answer that comes after the lease's end is no
    /// grant any more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::Client;
    /// let builder = Client::builder("redis://127.0.0.1/").io_timeout(Duration::from_millis(300));
    /// # drop(builder);
    /// ```
    pub fn io_timeout(mut self, timeout: Duration) -> Self {
        self.io_timeout = timeout;
        self
    }

    /// Sets how long one of [several servers](Client::redlock) must have been up before it
    /// counts.
    ///
    /// Defaults to the lease, the client's or a lock's own, whichever is longer. A server that
    /// was restarted may have forgotten a lock that somebody holds: counted at once, it would
    /// help a second holder to a majority. Set the longest lease of any client on these servers
    /// if others run longer ones. It costs an `INFO server` for each connection that is made,
    /// and after a restart of a majority nobody is granted a lock for that long. Zero switches
    /// it off: for servers that write every command to disk before they answer
    /// (`appendfsync always`), and for tests.
    ///
    /// One server alone is not asked: it has nobody to stand in for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use leasehold::Client;
    ///
    /// let client = Client::redlock(["redis://a.example", "redis://b.example", "redis://c.example"])
    ///     .quarantine(Duration::from_secs(120))
    ///     .build()?;
    /// # drop(client);
    /// # Ok::<(), leasehold::Error>(())
    /// ```
    pub fn quarantine(mut self, uptime: Duration) -> Self {
        self.quarantine = Some(uptime);
        self
    }

    /// Sets how long dropping a [`Lease`](crate::Lease) may block.
    ///
    /// Defaults to 250 ms. What could not be released by then ends with its lease.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use leasehold::Client;
    /// let builder = Client::builder("redis://127.0.0.1/").drop_timeout(Duration::from_millis(50));
    /// # drop(builder);
    /// ```
    pub fn drop_timeout(mut self, timeout: Duration) -> Self {
        self.drop_timeout = timeout;
        self
    }

    /// Checks the settings and makes a client of them. Nothing is sent: a server that is
    /// down is reported by what first needs it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`](crate::ErrorKind::InvalidConfig), naming the field and
    /// its value.
    ///
    /// # Examples
    ///
    /// ```
    /// use leasehold::Client;
    ///
    /// assert!(Client::builder("redis://127.0.0.1/").build().is_ok());
    /// assert!(Client::builder("127.0.0.1").build().is_err());
    /// ```
    pub fn build(self) -> Result<Client, Error> {
        let endpoints = self.endpoints()?;
        if self.pool_size == 0 {
            return Err(Error::config("pool_size", 0, "there must be a connection"));
        }
        let timeouts = Timeouts {
            connect: timeout("connect_timeout", self.connect_timeout)?,
            io: timeout("io_timeout", self.io_timeout)?,
        };
        let terms = Terms {
            strategy: self.strategy,
            lease: LeaseTime::new(self.lease)?,
            wait: self.wait,
            retry: self.retry,
            renewal: self.renewal,
            max_hold: self.max_hold.unwrap_or(MAX_HOLD.max(self.lease)),
            fence: self.fence,
            share: self.redlock.then_some(timeouts.io),
        }
        .checked()?;
        let watched = self.watched;
        let wires = endpoints
            .into_iter()
            .map(|endpoint| Wire::new(endpoint, timeouts, watched.clone()));
        let mut wires: Vec<_> = wires.collect();
        let servers = match wires.pop() {
            Some(only) if !self.redlock => Servers::One(Arc::new(only)),
            last => {
                wires.extend(last);
                let quarantine = self.quarantine.unwrap_or(terms.lease.as_duration());
                Servers::Many(Arc::new(Nodes::new(wires, timeouts, watched, quarantine)))
            }
        };
        Ok(Client::new(
            servers,
            self.pool_size,
            timeout("drop_timeout", self.drop_timeout)?,
            terms,
        ))
    }
}

impl Builder {
    /// The servers, each of them once.
    fn endpoints(&self) -> Result<Vec<Endpoint>, Error> {
        let refuse = |value: &dyn fmt::Display, why| Err(Error::config("urls", value, why));
        if !(1..=MOST).contains(&self.urls.len()) {
            return refuse(&self.urls.len(), "there must be 1 to 32 servers");
        }
        let mut endpoints: Vec<Endpoint> = Vec::with_capacity(self.urls.len());
        for url in &self.urls {
            let endpoint = Endpoint::parse(url)?;
            if endpoints
                .iter()
                .any(|other| other.address() == endpoint.address())
            {
                let why = "it is named twice, and must not be counted twice";
                return refuse(&endpoint.address(), why);
            }
            endpoints.push(endpoint);
        }
        Ok(endpoints)
    }
}

/// Refuses a time-out that a socket cannot keep.
fn timeout(field: &'static str, timeout: Duration) -> Result<Duration, Error> {
    if (Duration::from_millis(10)..=Duration::from_secs(3600)).contains(&timeout) {
        Ok(timeout)
    } else {
        let value = format!("{timeout:?}");
        Err(Error::config(
            field,
            value,
            "a time-out has 10 ms to an hour",
        ))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("strategy", &self.strategy)
            .field("lease", &self.lease)
            .field("wait", &self.wait)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder() -> Builder {
        Builder::new("redis://127.0.0.1/".to_owned())
    }

    fn refusal(builder: Builder) -> String {
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_names_the_field_and_the_value() {
        let ms = Duration::from_millis;
        for (builder, field, value) in [
            (builder().lease(ms(9)), "lease", "9ms"),
            (
                builder().lease(Duration::MAX),
                "lease",
                "18446744073709551615",
            ),
            (builder().lease(Duration::ZERO), "lease", "0ns"),
            (
                builder().wait(Duration::MAX),
                "wait",
                "18446744073709551615",
            ),
            (
                builder().renewal(Renewal::Every(Duration::from_secs(30))),
                "renewal",
                "30s",
            ),
            (
                builder().renewal(Renewal::Every(Duration::ZERO)),
                "renewal",
                "0ns",
            ),
            (builder().max_hold(ms(29_999)), "max_hold", "29.999s"),
            (
                builder().max_hold(Duration::MAX),
                "max_hold",
                "18446744073709551615",
            ),
            (
                builder().strategy(Token::commands()).fence(true),
                "fence",
                "true",
            ),
            (builder().pool_size(0), "pool_size", "0"),
            (
                builder().connect_timeout(Duration::ZERO),
                "connect_timeout",
                "0ns",
            ),
            (builder().io_timeout(ms(1)), "io_timeout", "1ms"),
            (
                builder().drop_timeout(Duration::MAX),
                "drop_timeout",
                "18446744073709551615",
            ),
        ] {
            let error = refusal(builder);
            assert!(error.contains(&format!("`{field}` = {value}")), "{error}");
        }
    }

    #[test]
    fn a_lease_is_rounded_up_and_bounded() {
        let lease = LeaseTime::new(Duration::from_nanos(10_000_001)).unwrap();
        assert_eq!(lease.as_millis(), 11);
        assert!(LeaseTime::new(LONGEST_LEASE).is_ok());
        assert!(LeaseTime::new(LONGEST_LEASE + Duration::from_nanos(1)).is_err());
        assert_eq!(
            LeaseTime::at_least(Duration::MAX).as_duration(),
            LONGEST_LEASE
        );
    }

    #[test]
    fn a_strategy_may_refuse_a_lease() {
        use crate::strategy::{Dialect, Timestamp};
        let beside = |lease| {
            builder()
                .strategy(Timestamp::guarded(
                    Dialect::seconds(),
                    Duration::from_secs(10),
                ))
                .lease(lease)
        };
        assert!(beside(Duration::from_secs(10)).build().is_ok());
        assert!(refusal(beside(Duration::from_secs(11))).contains("`lease` = 11s"));
    }

    #[test]
    fn a_builder_does_not_print_its_url() {
        let builder = Builder::new("redis://:hunter2@localhost".to_owned());
        assert!(!format!("{builder:?}").contains("hunter2"));
    }
}
