//! Processes and threads fight over a lock, through each strategy, and without one.
//!
//! `scripts/demo` runs it on a server of its own. The program starts itself again as the
//! processes that fight; each of them tells the first one when it was at work.
#![allow(
    clippy::disallowed_methods,
    reason = "it compares processes by the wall clock, and its work is to sleep"
)]

mod show;

use std::error::Error;
use std::io::{BufRead, BufReader, Write, stdin};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, fs, process, thread};

use leasehold::strategy::{Dialect, Reentrant, Timestamp, Token};
use leasehold::{Client, Lock, Retry};
use show::{Round, Spell};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const WAYS: [&str; 5] = [
    "no lock",
    "Token",
    "Reentrant",
    "Timestamp::guarded",
    "Timestamp::classic",
];
const PROCESSES: usize = 4;
const THREADS: usize = 3;
const ADDITIONS: usize = 25; // by each thread
const WORK: Duration = Duration::from_millis(2); // of one addition

fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    let result = match &args[..] {
        [] => watch(),
        [way, name, file] => work(way, name, Path::new(file)).map(|()| true),
        _ => Err("it takes no arguments".into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The lock `name`, taken in that way; nothing for no lock.
fn lock(way: &str, name: &str) -> Outcome<Option<Lock>> {
    let url = env::var("REDIS_URL").map_err(|_| "REDIS_URL is not set; run scripts/demo")?;
    let lease = Duration::from_secs(10);
    let builder = Client::builder(url)
        .lease(lease)
        .wait(Duration::from_secs(30))
        .retry(Retry::uniform(Duration::from_millis(10)));
    let builder = match way {
        "Token" => builder.strategy(Token::default()),
        "Reentrant" => builder.strategy(Reentrant::default()),
        "Timestamp::guarded" => builder.strategy(Timestamp::guarded(Dialect::java_millis(), lease)),
        "Timestamp::classic" => builder.strategy(Timestamp::classic(Dialect::java_millis())),
        _ => return Ok(None),
    };
    Ok(Some(builder.build()?.lock(name)?))
}

// --- a process that fights

/// Adds from several threads, and says at the end when each of them was at work.
fn work(way: &str, name: &str, file: &Path) -> Outcome<()> {
    let lock = lock(way, name)?;
    println!("ready");
    stdin().read_line(&mut String::new())?; // until everybody is
    thread::scope(|scope| {
        let add = || (0..ADDITIONS).map(|_| add(lock.as_ref(), file)).collect();
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(add)).collect();
        for (thread, handle) in threads.into_iter().enumerate() {
            let additions: Outcome<Vec<_>> = handle.join().expect("no thread panics");
            for [asked, from, to] in additions? {
                println!("{thread} {from} {to} {}", from.saturating_sub(asked));
            }
        }
        Ok(())
    })
}

/// Adds 1 to the number in `file`; when it asked for the lock, when it had it, when it was done.
fn add(lock: Option<&Lock>, file: &Path) -> Outcome<[u64; 3]> {
    let asked = now();
    let lease = lock.map(Lock::acquire).transpose()?;
    let from = now();
    let number = read(file)?;
    thread::sleep(WORK);
    // Written over the old one: without a lock, too, a reader sees one number or the other.
    let mut file = fs::OpenOptions::new().write(true).open(file)?;
    write!(file, "{:08}", number + 1)?;
    let to = now();
    if let Some(lease) = lease {
        lease.release()?;
    }
    thread::sleep(Duration::from_micros(to % 4_000)); // something else, and not in step
    Ok([asked, from, to])
}

fn read(file: &Path) -> Outcome<usize> {
    Ok(fs::read_to_string(file)?.parse()?)
}

/// Microseconds since 1970, the same for all processes.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_micros()).unwrap_or(0)
}

// --- the process that watches

/// Lets the others fight in every way; whether every lock guarded the number.
fn watch() -> Outcome<bool> {
    if let Some(lock) = lock(WAYS[1], "leasehold-demo")? {
        lock.is_locked()?; // whether there is a server, before anything else
    }
    show::opening();
    let mut rounds = Vec::new();
    for way in WAYS {
        let round = fight(way)?;
        show::round(&round);
        rounds.push(round);
    }
    Ok(show::conclusion(&rounds))
}

/// Lets the processes fight in one way.
fn fight(way: &'static str) -> Outcome<Round> {
    let name = format!("leasehold-demo:{}:{way}", process::id());
    let file = env::temp_dir().join(format!("leasehold-demo-{}", process::id()));
    fs::write(&file, "00000000")?;
    let start = || {
        Command::new(env::current_exe()?)
            .args([way, &name])
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
    };
    let mut fighters = (0..PROCESSES)
        .map(|_| start())
        .collect::<Result<Vec<_>, _>>()?;
    let mut outputs = Vec::new();
    for fighter in &mut fighters {
        let output = fighter.stdout.take().expect("stdout is a pipe");
        let mut lines = BufReader::new(output).lines();
        lines.next().transpose()?; // "ready"
        outputs.push(lines);
    }
    for fighter in &mut fighters {
        writeln!(fighter.stdin.take().expect("stdin is a pipe"), "go")?;
    }
    let lock = lock(way, &name)?;
    let holder = lock.as_ref().map(holder).transpose()?.flatten();
    let mut spells = Vec::new();
    for (process, lines) in outputs.into_iter().enumerate() {
        for line in lines {
            spells.push(Spell::parse(process, &line?)?);
        }
    }
    for mut fighter in fighters {
        if !fighter.wait()?.success() {
            return Err(format!("a process failed ({way})").into());
        }
    }
    spells.sort_by_key(|spell| spell.from);
    let counted = read(&file)?;
    fs::remove_file(file)?;
    Ok(Round {
        way,
        spells,
        counted,
        holder,
        left_locked: lock.map_or(Ok(false), |lock| lock.is_locked())?,
    })
}

/// Asks the server who holds the lock, until somebody does.
fn holder(lock: &Lock) -> Outcome<Option<String>> {
    for _ in 0..1_000 {
        if let Some(holder) = lock.holder()? {
            return Ok(Some(holder.to_string()));
        }
    }
    Ok(None)
}
