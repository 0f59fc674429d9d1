//! What it costs to keep many leases: processor and memory for each, at the client and the server.

use std::fs;
use std::io::stdin;
use std::process::{self, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use leasehold::observe::{Observer, Renewed};
use leasehold::{Client, Lease};

use crate::args::Args;
use crate::player::Player;
use crate::record::{Record, Records};
use crate::support::harness::Server;
use crate::worker::cpu;

/// The lease for which the share of a core is told.
const USUAL_LEASE_S: f64 = 30.0;

/// Measures growing numbers of leases.
pub fn measure(records: &mut Records, server: &Server, args: &Args) {
    let sizes = args.pick(&[100, 1_000, 10_000][..], &[100, 1_000, 10_000, 100_000]);
    for &leases in sizes {
        records.progress(&format!("{leases} leases held"));
        // Each lease is renewed three times in the window; 100,000 take their time to be taken.
        let lease_ms: u32 = if leases > 10_000 { 30_000 } else { 3_000 };
        match held(server, leases, lease_ms) {
            Ok(cost) => records.add(&cost.record(leases, lease_ms)),
            Err(fault) => records.omit(&format!("{leases} leases"), &fault),
        }
    }
}

struct Cost {
    rss_bytes: f64,
    server_bytes: f64,
    cpu_ns: f64,
    server_cpu_us: f64,
    renewals: f64,
    held: f64,
    threads: f64,
}

impl Cost {
    fn record(&self, leases: u32, lease_ms: u32) -> Record {
        let leases = f64::from(leases);
        let renewal_us = self.cpu_ns / 1e3 / self.renewals;
        let check = if (self.held - leases).abs() < 0.5 {
            "passed".to_owned()
        } else {
            format!("failed: {} of {leases} are held at the end", self.held)
        };
        Record::new("watchdog")
            .told("leases", leases)
            .figure("lease_s", f64::from(lease_ms) / 1e3)
            .figure("window_s", f64::from(lease_ms) / 1e3)
            .figure("renewals", self.renewals)
            .told("cpu_us_per_renewal", renewal_us)
            .figure(
                "server_cpu_us_per_renewal",
                self.server_cpu_us / self.renewals,
            )
            // Renewed at a third of the lease.
            .told(
                "core_percent_at_30s",
                renewal_us * leases * 3.0 / USUAL_LEASE_S / 1e4,
            )
            .told("bytes_per_lease", self.rss_bytes / leases)
            .figure("server_bytes_per_lease", self.server_bytes / leases)
            .figure("threads", self.threads)
            .shown("check", &check)
    }
}

fn held(server: &Server, leases: u32, lease_ms: u32) -> Result<Cost, String> {
    let _: String = server.command(&["FLUSHALL"]);
    let memory = memory(server);
    let words = [
        "watchdog".to_owned(),
        server.url(),
        leases.to_string(),
        lease_ms.to_string(),
        lease_ms.to_string(),
    ];
    let mut player = Player::playing(&words);
    let said = player.hear()?;
    let rss_bytes: f64 = said.parse().map_err(|_| format!("it said {said:?}"))?;
    let server_bytes = self::memory(server) - memory;
    let before = server_cpu(server);
    player.tell("go");
    let said = player.hear()?;
    let server_cpu_us = server_cpu(server) - before;
    let numbers: Vec<f64> = said
        .split(' ')
        .map_while(|word| word.parse().ok())
        .collect();
    let [cpu_ns, renewals, held, threads] = numbers[..] else {
        return Err(format!("it said {said:?}"));
    };
    Ok(Cost {
        rss_bytes,
        server_bytes,
        cpu_ns,
        server_cpu_us,
        renewals,
        held,
        threads,
    })
}

fn info(server: &Server, name: &str) -> f64 {
    let info: String = server.command(&["INFO", "everything"]);
    let value = info
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(f64::NAN)
}

fn memory(server: &Server) -> f64 {
    info(server, "used_memory")
}

fn server_cpu(server: &Server) -> f64 {
    (info(server, "used_cpu_user") + info(server, "used_cpu_sys")) * 1e6
}

/// The process that holds them: says how much memory it took, waits for a line, and says after
/// `window` milliseconds how long it ran, how often it renewed, and how many it still holds.
pub fn hold(url: &str, leases: &str, lease: &str, window: &str) {
    let number = |word: &str| word.parse::<u64>().expect("it is a number");
    let renewed = Arc::new(AtomicU64::new(0));
    let client = Client::builder(url)
        .lease(Duration::from_millis(number(lease)))
        .observer(Count(Arc::clone(&renewed)))
        .build()
        .expect("the settings are valid");
    let take = |name: String| -> Lease {
        let lock = client.lock(name).expect("the name is one");
        lock.acquire().expect("the lock is free")
    };
    drop(take("warm-up".to_owned()));
    let before = resident();
    let held: Vec<Lease> = (0..number(leases))
        .map(|at| take(format!("lease-{at}")))
        .collect();
    println!("{}", resident() - before);
    stdin()
        .read_line(&mut String::new())
        .expect("stdin is there");
    let (ran, counted) = (cpu(), renewed.load(Ordering::Relaxed));
    thread::sleep(Duration::from_millis(number(window)));
    let (ran, counted) = (cpu() - ran, renewed.load(Ordering::Relaxed) - counted);
    let left = held.iter().filter(|lease| lease.is_held()).count();
    println!("{ran} {counted} {left} {}", threads());
    // Releasing them one by one would take longer than all that was measured.
    process::exit(0);
}

struct Count(Arc<AtomicU64>);

impl Observer for Count {
    fn renewed(&self, _: &Renewed<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The memory that this process has, in bytes.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let from_proc = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    let from_ps = || {
        let pid = process::id().to_string();
        let ps = Command::new("ps").args(["-o", "rss=", "-p", &pid]).output();
        String::from_utf8(ps.ok()?.stdout).ok()?.trim().parse().ok()
    };
    from_proc.or_else(from_ps).unwrap_or(f64::NAN) * 1024.0
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
