//! A process that fights for locks, as one of many: what it is told, and what it tells.
//!
//! Whatever kind of lock it uses and in whatever language it is written, it reads these lines and
//! answers with those. The clock is `CLOCK_MONOTONIC`, the same for all processes of a machine.
//!
//! ```text
//! cycle NAME N           takes and gives back an uncontended lock N times
//!     batch P50 MEAN     in nanoseconds
//! check NAME             takes the lock
//!     inside             and waits for another line before it gives it back
//!     outside
//! fight FILE NAMES THREADS HOLD_US TURNS MILLIS
//!                        TURNS is 1 where who has been inside asks again only after another was
//!     ready              once every thread is, which all then wait for another line
//!     thread COUNT LONGEST_WAIT      one per thread
//!     wait NS TIMES                  how long an acquisition took
//!     handover NS TIMES              from the begin of a release to the next holder's first step
//!     late TIMES                     how many had the lock after the time was up
//!     cpu NS                         of this process, while it fought
//!     vain TIMES                     tries that found it held, where the kind can tell
//!     done
//! settings               says how it is set up
//!     settings TEXT
//! anything that goes wrong
//!     fault TEXT
//! ```

#![allow(
    unreachable_pub,
    reason = "each program includes this as a private module"
)]
#![allow(dead_code, reason = "each program uses a part")]

mod fight;
mod stage;

use std::io::{self, Write};

use rustix::time::{ClockId, clock_gettime};

pub use fight::Fight;
pub use stage::Stage;

/// One thread's way to a lock.
pub trait Contender: Send {
    /// Takes the lock of that name, however long it takes, calls `inside`, and gives it back.
    ///
    /// # Errors
    ///
    /// What went wrong, in words: also where the lock did not last until it was given back.
    fn with(&mut self, name: &str, inside: &mut dyn FnMut()) -> Result<(), String>;
}

/// A kind of lock: what the threads of a process share.
pub trait Kind: Sync {
    /// Another thread's way.
    fn contender(&self) -> Box<dyn Contender>;

    /// How it is set up, in a line.
    fn settings(&self) -> String;

    /// How many tries have found a lock held, where it can tell.
    fn vain(&self) -> Option<u64> {
        None
    }
}

/// Reads lines and does what they say, until there are no more.
///
/// # Errors
///
/// Where the other side is gone.
pub fn serve(kind: &dyn Kind) -> io::Result<()> {
    let mut contender = kind.contender();
    let mut lines = io::stdin().lines();
    while let Some(line) = lines.next().transpose()? {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["cycle", name, times] => cycle(contender.as_mut(), name, number(times))?,
            ["check", name] => check(contender.as_mut(), name, &mut lines)?,
            ["settings"] => say(&format!("settings {}", kind.settings()))?,
            ["fight", file, names, threads, hold, turns, millis] => {
                let words = [names, threads, hold, turns, millis];
                Fight::new(file, words).run(kind, &mut lines)?;
            }
            _ => say(&format!("fault what is {line:?}?"))?,
        }
    }
    Ok(())
}

fn cycle(contender: &mut dyn Contender, name: &str, times: u64) -> io::Result<()> {
    let mut took = Vec::new();
    for _ in 0..times {
        let began = now();
        let mut inside = false;
        if let Err(fault) = contender.with(name, &mut || inside = true) {
            return say(&format!("fault {fault}"));
        }
        took.push(now() - began);
        if !inside {
            return say("fault it was not inside");
        }
    }
    took.sort_unstable();
    let mean = took.iter().sum::<u64>() / times.max(1);
    say(&format!("batch {} {mean}", took[took.len() / 2]))
}

fn check(
    contender: &mut dyn Contender,
    name: &str,
    lines: &mut dyn Iterator<Item = io::Result<String>>,
) -> io::Result<()> {
    let mut heard = Ok(());
    let result = contender.with(name, &mut || {
        heard = say("inside").and_then(|()| hear(&mut *lines));
    });
    heard?;
    match result {
        Ok(()) => say("outside"),
        Err(fault) => say(&format!("fault {fault}")),
    }
}

fn hear(lines: &mut dyn Iterator<Item = io::Result<String>>) -> io::Result<()> {
    lines.next().transpose().map(|_| ())
}

/// Says a line, whole.
fn say(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

fn number<T: std::str::FromStr>(word: &str) -> T {
    let number = word.parse().ok();
    number.unwrap_or_else(|| panic!("{word:?} is no number"))
}

/// Nanoseconds on the clock that all processes share.
pub fn now() -> u64 {
    read(ClockId::Monotonic)
}

/// Nanoseconds that all threads of this process have run.
pub fn cpu() -> u64 {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let whole = |number| u64::try_from(number).unwrap_or(0);
    whole(time.tv_sec) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}
