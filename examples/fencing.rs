//! A table that refuses a holder who is too late, by the fence of his lease.
//!
//! A holder that is stopped for longer than its lease (a collector of garbage, a full disk, a
//! suspended machine) goes on where it was, and nobody can keep it from that: only what it writes to
//! can refuse it. Two processes share a balance in `SQLite`; the first is stopped while it holds the
//! lock, the second works meanwhile, and then the first wakes.
//!
//! `cargo run --example fencing`

mod common;

use std::{
    env,
    io::{BufRead, BufReader, Write, stdin},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use leasehold::{Client, Fence};
use rusqlite::{Connection, OptionalExtension, params};
use rustix::process::{Pid, Signal, kill_process};

/// Short, so that one need not wait for it here.
const LEASE: Duration = Duration::from_millis(500);

type Failure = Box<dyn std::error::Error>;

/// The first access of a hold: it registers the fence, and reads. A later holder has registered a
/// greater one, which no row satisfies then.
const ENTER: &str = "UPDATE account SET fence = ?1 WHERE id = 1 AND fence <= ?1 RETURNING balance";

/// Every write after it: by who registered last, and by nobody else.
const WRITE: &str = "UPDATE account SET balance = ?1 WHERE id = 1 AND fence = ?2";

/// The balance, guarded by a row's fence.
struct Account(Connection);

impl Account {
    fn open(path: &Path) -> Result<Self, Failure> {
        let sqlite = Connection::open(path)?;
        sqlite.busy_timeout(Duration::from_secs(5))?;
        sqlite.execute_batch(
            "CREATE TABLE IF NOT EXISTS account (
                 id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, fence INTEGER NOT NULL);
             INSERT OR IGNORE INTO account VALUES (1, 100, 0);",
        )?;
        Ok(Self(sqlite))
    }

    /// Begins a hold's work; `None` for one that is too late, which must not even read: what it
    /// works out from an old balance is wrong, whoever writes it.
    fn enter(&self, fence: Fence) -> Result<Option<i64>, Failure> {
        let row = self.0.query_row(ENTER, [number(fence)?], |row| row.get(0));
        Ok(row.optional()?)
    }

    /// Whether the balance was written.
    fn write(&self, balance: i64, fence: Fence) -> Result<bool, Failure> {
        Ok(self.0.execute(WRITE, params![balance, number(fence)?])? == 1)
    }
}

/// A fence is below 2^53, and so fits every store's integers.
fn number(fence: Fence) -> Result<i64, Failure> {
    Ok(i64::try_from(fence.number())?)
}

fn main() -> Result<(), Failure> {
    let args: Vec<_> = env::args().collect();
    match args.get(1).map(String::as_str) {
        Some(pause) => teller(pause, &args[2], Path::new(&args[3])),
        None => demonstrate(),
    }
}

/// One process: adds 10 to the balance under the lock, stopped where `pause` says.
fn teller(pause: &str, url: &str, path: &Path) -> Result<(), Failure> {
    let client = Client::builder(url).lease(LEASE).fence(true).build()?;
    let account = Account::open(path)?;
    let lease = client.lock("example:account:1")?.acquire()?;
    let fence = lease.fence().expect("the client was told to bring fences");
    println!("  teller: has the lock, with fence {fence}");
    let stop_here = |at: &str| {
        if at == pause {
            println!("stopped");
            let _ = stdin().read_line(&mut String::new());
        }
    };

    stop_here("before-it-reads");
    let Some(balance) = account.enter(fence)? else {
        println!("  teller: is refused at its first access, though it only wanted to read");
        return Ok(());
    };
    println!("  teller: reads a balance of {balance}");
    stop_here("before-it-writes");
    if !account.write(balance + 10, fence)? {
        println!("  teller: wants to write {}, and is refused", balance + 10);
        // `check` knows it too, had it been asked; what comes after it is what only a fence closes.
        println!("  teller: its lease says: {}", lease.check().unwrap_err());
        return Ok(());
    }
    println!("  teller: writes {}", balance + 10);
    lease.release()?;
    Ok(())
}

fn demonstrate() -> Result<(), Failure> {
    let place = common::Place::find();
    let path = env::temp_dir().join(format!("leasehold-fencing-{}.db", std::process::id()));
    let account = Account::open(&path)?;
    let client = Client::builder(place.url()).fence(true).build()?;
    let lock = client.lock("example:account:1")?;

    for pause in ["before-it-writes", "before-it-reads"] {
        println!("a teller is stopped {}", pause.replace('-', " "));
        let mut teller = Teller::start(pause, place.url(), &path)?;
        teller.hear_until("stopped");
        teller.signal(Signal::STOP)?;

        let lease = lock.acquire()?; // as soon as the stopped one's lease has ended
        let fence = lease.fence().expect("the client was told to bring fences");
        let balance = account
            .enter(fence)?
            .ok_or("the newest holder is never refused")?;
        assert!(account.write(balance + 1, fence)?);
        println!(
            "next: has the lock, with fence {fence}; writes {}",
            balance + 1
        );
        lease.release()?;

        teller.signal(Signal::CONT)?;
        teller.go_on()?;
        teller.hear_until("");
        println!();
    }

    let lease = lock.acquire()?;
    let balance = account.enter(lease.fence().expect("as above"))?;
    println!("the balance is {balance:?}: 100, and 1 for each who was in time");
    assert_eq!(balance, Some(102));
    drop(account);
    std::fs::remove_file(&path)?;
    Ok(())
}

/// Another process: this example, run again.
struct Teller {
    process: Child,
    stdin: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Teller {
    fn start(pause: &str, url: &str, path: &PathBuf) -> Result<Self, Failure> {
        let mut process = Command::new(env::current_exe()?)
            .args([pause, url])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = process.stdin.take().expect("it is a pipe");
        let stdout = process.stdout.take().expect("it is a pipe");
        let lines = BufReader::new(stdout).lines();
        Ok(Self {
            process,
            stdin,
            lines,
        })
    }

    /// Prints what it says until it says that, or ends.
    fn hear_until(&mut self, word: &str) {
        for line in self.lines.by_ref().map_while(Result::ok) {
            if line == word {
                return;
            }
            println!("{line}");
        }
    }

    fn go_on(&mut self) -> Result<(), Failure> {
        Ok(writeln!(self.stdin)?)
    }

    fn signal(&self, signal: Signal) -> Result<(), Failure> {
        Ok(kill_process(Pid::from_child(&self.process), signal)?)
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
