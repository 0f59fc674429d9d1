//! A look at a server: what it is, and what that means for locks.

use std::fmt;
use std::time::Duration;

use crate::client::Client;
use crate::clock;
use crate::config::LeaseTime;
use crate::core::Core;
use crate::environment::{dropping_policy, field};
use crate::error::Error;
use crate::exchange::{Call, Exchange, Fault, Reply};
use crate::link::{Failure, Lane};
use crate::name::{Name, Ticket};
use crate::strategy::{Attempt, Claim, Hold};

/// What [`Client::doctor`] found.
///
/// It displays as one line for each finding.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let client = leasehold::Client::connect(server())?;
/// let report = client.doctor()?;
/// println!("{report}");
/// assert_eq!(report.role(), leasehold::Role::Primary);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    make: String,
    version: String,
    role: Role,
    eviction: Option<String>,
    clock_skew: Option<Duration>,
    findings: Vec<Finding>,
}

/// Whether a server takes writes.
///
/// # Examples
///
/// ```
/// assert_ne!(leasehold::Role::Primary, leasehold::Role::Replica);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// It does.
    Primary,
    /// It copies another one.
    Replica,
    /// It did not say.
    Unknown,
}

/// One thing about a server that matters to locks.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
/// # fn main() -> Result<(), leasehold::Error> {
/// # let client = leasehold::Client::connect(server())?;
/// use leasehold::Concern;
///
/// for finding in client.doctor()?.findings() {
///     if finding.concern == Concern::Danger {
///         eprintln!("{}: {}", finding.about, finding.text);
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub concern: Concern,
    /// What it is about: `server`, `role`, `eviction`, `replication`, `persistence`, `clock`
    /// or `permissions`.
    pub about: &'static str,
    /// What was found, and what it means.
    pub text: String,
}

/// How bad a finding is.
///
/// # Examples
///
/// ```
/// use leasehold::Concern;
///
/// assert!(Concern::Danger > Concern::Notice);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Notice,
    /// Locks may be lost by it, or cannot be taken at all.
    Danger,
}

impl Report {
    /// Who made the server: `redis` or `valkey`, or empty where it did not say.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert!(["redis", "valkey"].contains(&report.make()));
    /// # Ok(()) }
    /// ```
    pub fn make(&self) -> &str {
        &self.make
    }

    /// The server's version.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert!(report.version().contains('.'));
    /// # Ok(()) }
    /// ```
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether it takes writes.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert_eq!(report.role(), leasehold::Role::Primary);
    /// # Ok(()) }
    /// ```
    pub fn role(&self) -> Role {
        self.role
    }

    /// The policy by which it drops keys when it is full; `None` where it never does, or did
    /// not say.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert_eq!(report.eviction(), None); // noeviction
    /// # Ok(()) }
    /// ```
    pub fn eviction(&self) -> Option<&str> {
        self.eviction.as_deref()
    }

    /// How far the server's clock and this machine's are apart, at most; `None` where it did
    /// not say.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert!(report.clock_skew().is_some());
    /// # Ok(()) }
    /// ```
    pub fn clock_skew(&self) -> Option<Duration> {
        self.clock_skew
    }

    /// Everything that was found.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert!(report.findings().iter().any(|finding| finding.about == "role"));
    /// # Ok(()) }
    /// ```
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The worst of it.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// let report = client.doctor()?;
    /// assert!(report.worst() < leasehold::Concern::Danger);
    /// # Ok(()) }
    /// ```
    pub fn worst(&self) -> Concern {
        let concerns = self.findings.iter().map(|finding| finding.concern);
        concerns.max().unwrap_or(Concern::Fine)
    }

    fn find(&mut self, concern: Concern, about: &'static str, text: impl Into<String>) {
        self.findings.push(Finding {
            concern,
            about,
            text: text.into(),
        });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding {
            concern,
            about,
            text,
        } in &self.findings
        {
            let concern = match concern {
                Concern::Fine => "fine",
                Concern::Notice => "notice",
                Concern::Danger => "danger",
            };
            writeln!(f, "{concern:<6}  {about:<11}  {text}")?;
        }
        Ok(())
    }
}

impl Client {
    /// Looks at the server: what it is, whether it may drop or forget locks, how far its clock
    /// is from ours, and whether this user may do what the strategy needs, which is tried on
    /// a key of its own, `leasehold:doctor:<uuid>`.
    ///
    /// What the server does not let us ask is a finding, not an error.
    ///
    /// # Errors
    ///
    /// Why the server could not be reached, or does not know us.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/doc.rs"));
    /// # fn main() -> Result<(), leasehold::Error> {
    /// # let client = leasehold::Client::connect(server())?;
    /// print!("{}", client.doctor()?);
    /// # Ok(()) }
    /// ```
    pub fn doctor(&self) -> Result<Report, Error> {
        let probe = Name::new(format!("leasehold:doctor:{}", Ticket::fresh()))?;
        let core = self.core();
        let mut report = Report {
            make: String::new(),
            version: String::new(),
            role: Role::Unknown,
            eviction: None,
            clock_skew: None,
            findings: Vec::new(),
        };
        match ask(core, &probe, Call::command("INFO"), Reply::text) {
            Ok(info) => report.read(&info),
            Err(failure) if is_answer(&failure) => report.find(
                Concern::Notice,
                "server",
                format!("it does not say what it is: {failure}"),
            ),
            Err(failure) => return Err(core.explain("examine the server by", &probe, failure)),
        }
        report.compare_clocks(core, &probe);
        report.try_permissions(self, &probe);
        Ok(report)
    }
}

impl Report {
    /// Reads INFO.
    fn read(&mut self, info: &str) {
        let valkey = field(info, "valkey_version");
        let version = valkey.or(field(info, "redis_version")).unwrap_or_default();
        version.clone_into(&mut self.version);
        let make = if valkey.is_some() { "valkey" } else { "redis" };
        make.clone_into(&mut self.make);
        self.find(Concern::Fine, "server", format!("{} {version}", self.make));
        self.read_role(info);
        self.read_eviction(info);
        self.read_replication(info);
        self.read_persistence(info);
    }

    fn read_role(&mut self, info: &str) {
        match field(info, "role") {
            Some("master") => {
                self.role = Role::Primary;
                self.find(Concern::Fine, "role", "a primary");
            }
            Some(_) => {
                self.role = Role::Replica;
                let text = "a replica: it refuses every lock (READONLY); connect to its primary";
                self.find(Concern::Danger, "role", text);
            }
            None => self.find(Concern::Notice, "role", "it does not say"),
        }
    }

    fn read_eviction(&mut self, info: &str) {
        let policy = dropping_policy(info).map(str::to_owned);
        let bounded = field(info, "maxmemory").is_some_and(|bytes| bytes != "0");
        match &policy {
            Some(policy) if bounded => self.find(
                Concern::Danger,
                "eviction",
                format!("{policy}: when it is full it drops keys, and locks first; use noeviction"),
            ),
            Some(policy) => self.find(
                Concern::Notice,
                "eviction",
                format!("{policy}: once a maxmemory is set, a full server drops locks"),
            ),
            None => self.find(
                Concern::Fine,
                "eviction",
                "noeviction: it never drops a lock",
            ),
        }
        self.eviction = policy;
    }

    fn read_replication(&mut self, info: &str) {
        let replicas = field(info, "connected_slaves").unwrap_or("0");
        if replicas == "0" {
            let text = "no replica: when it is gone for good, so are its locks";
            self.find(Concern::Notice, "replication", text);
        } else {
            let text = format!(
                "{replicas} replicas, which are told of a lock after its holder is: a failover may \
                 forget the newest ones; use fences"
            );
            self.find(Concern::Notice, "replication", text);
        }
    }

    fn read_persistence(&mut self, info: &str) {
        let aof = field(info, "aof_enabled") == Some("1");
        let text = if aof {
            "an append-only file: after a restart it knows all locks but those of the last \
             moment, unless appendfsync is always"
        } else {
            "no append-only file: after a restart it has forgotten every lock since its last \
             snapshot"
        };
        self.find(Concern::Notice, "persistence", text);
    }

    /// Compares the clocks: only the timestamp locks of legacy clients depend on it.
    fn compare_clocks(&mut self, core: &Core, probe: &Name) {
        let before = clock::wall().since_epoch();
        let Ok(server) = ask(core, probe, Call::command("TIME"), read_time) else {
            return self.find(Concern::Notice, "clock", "it does not say");
        };
        let after = clock::wall().since_epoch();
        let skew = before
            .saturating_sub(server)
            .max(server.saturating_sub(after));
        self.clock_skew = Some(skew);
        let concern = if skew < Duration::from_millis(500) {
            Concern::Fine
        } else {
            Concern::Notice
        };
        let text = format!("{skew:?} from ours, or less; only time stamps depend on it");
        self.find(concern, "clock", text);
    }

    /// Takes, keeps, inspects and leaves a lock of its own.
    fn try_permissions(&mut self, client: &Client, probe: &Name) {
        match rehearse(client, probe) {
            Ok(()) => self.find(
                Concern::Fine,
                "permissions",
                "a lock was acquired, extended, inspected and released",
            ),
            Err((step, failure)) => self.find(
                Concern::Danger,
                "permissions",
                format!("a lock could not be {step}: {failure}"),
            ),
        }
    }
}

/// Goes through the life of a lock; the step that failed, and why.
fn rehearse(client: &Client, probe: &Name) -> Result<(), (&'static str, Failure)> {
    let (core, terms) = (client.core(), client.terms());
    let strategy = &terms.strategy;
    let lease = terms.lease.min(LeaseTime::at_least(Duration::from_secs(1)));
    let claim = Claim {
        fences: u32::from(terms.fence),
        ..Claim::new(probe.clone(), lease)
    };
    let run = |lane| (lane, core.link.patience());
    let mut hold = Hold {
        undo: None,
        ..claim.undo()
    };
    let (lane, until) = run(Lane::Common);
    match core.ask(probe, strategy.acquire(&claim), lane, until) {
        Ok(Attempt::Granted(grant)) => hold.mark = grant.mark().map(<[u8]>::to_vec),
        Ok(_) => {
            let got = "somebody else's lock on a key of ours".to_owned();
            let expected = "a grant";
            return Err((
                "acquired",
                Failure::Malformed(Fault::Malformed { expected, got }),
            ));
        }
        Err(miss) => {
            let undo = core.ask(probe, strategy.leave(&claim.undo()), Lane::Release, until);
            drop(undo); // what it could not do ends with its lease
            return Err(("acquired", miss.failure));
        }
    }
    let extended = core.ask(probe, strategy.extend(&hold, lease), lane, until);
    let inspected = core.ask(probe, strategy.inspect(probe), lane, until);
    let left = core.ask(probe, strategy.leave(&hold), Lane::Release, until);
    if terms.fence {
        let forget = Call::command("DEL").key(probe.side("fence"));
        let _ = ask(core, probe, forget, Reply::int); // else it ends with its day
    }
    extended.map_err(|miss| ("extended", miss.failure))?;
    inspected.map_err(|miss| ("inspected", miss.failure))?;
    left.map_err(|miss| ("released", miss.failure))?;
    Ok(())
}

fn ask<T: 'static>(
    core: &Core,
    probe: &Name,
    call: Call,
    read: impl FnOnce(Reply) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Failure> {
    core.ask(
        probe,
        Exchange::one(call, read),
        Lane::Common,
        core.link.patience(),
    )
    .map_err(|miss| miss.failure)
}

/// Whether the server answered, if only with a refusal of this one command.
fn is_answer(failure: &Failure) -> bool {
    match failure {
        Failure::Denied { error, .. } => error.code() == "NOPERM",
        Failure::Refused(_) | Failure::Malformed(_) => true,
        _ => false,
    }
}

fn read_time(reply: Reply) -> Result<Duration, Fault> {
    let mut parts = reply.array()?.into_iter();
    let mut next = || parts.next().unwrap_or(Reply::Nil).int();
    let (seconds, micros) = (next()?, next()?);
    let part = |number| u64::try_from(number).map_err(|_| Reply::Int(number).misfit("a time"));
    Ok(Duration::from_secs(part(seconds)?) + Duration::from_micros(part(micros)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(info: &str) -> Report {
        let mut report = Report {
            make: String::new(),
            version: String::new(),
            role: Role::Unknown,
            eviction: None,
            clock_skew: None,
            findings: Vec::new(),
        };
        report.read(info);
        report
    }

    #[test]
    fn what_a_server_says_is_read_as_it_is() {
        let report = read(
            "redis_version:7.2.4\r\nvalkey_version:9.1.2\r\nrole:master\r\nmaxmemory:1\r\n\
             maxmemory_policy:volatile-ttl\r\nconnected_slaves:2\r\naof_enabled:1\r\n",
        );
        assert_eq!((report.make(), report.version()), ("valkey", "9.1.2"));
        assert_eq!(report.role(), Role::Primary);
        assert_eq!(report.eviction(), Some("volatile-ttl"));
        assert_eq!(report.worst(), Concern::Danger);
    }

    #[test]
    fn what_it_leaves_out_is_not_made_up() {
        let report = read("");
        assert_eq!((report.version(), report.role()), ("", Role::Unknown));
        assert_eq!(report.eviction(), None);
        assert!(read("role:slave\r\n").worst() == Concern::Danger);
    }

    #[test]
    fn a_time_that_is_none_is_a_fault() {
        let time = |parts: &[i64]| {
            read_time(Reply::Array(
                parts.iter().copied().map(Reply::Int).collect(),
            ))
        };
        assert_eq!(time(&[5, 250_000]), Ok(Duration::from_millis(5_250)));
        assert!(time(&[5]).is_err() && time(&[-1, 0]).is_err());
        assert!(time(&[i64::MAX, i64::MAX]).is_ok());
    }
}
