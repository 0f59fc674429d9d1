//! What a lock costs in figures that do not depend on the machine's speed: commands at the server,
//! and instructions at the client. They are kept in `benches/guard.txt`.
//!
//! ```text
//! scripts/guard            compares; fails where something costs more than it did
//! scripts/guard --write    keeps what is measured now
//! ```
//!
//! Instructions are counted by valgrind's callgrind, where it is found: those of two runs that
//! differ in nothing but the number of cycles, so that what is done once does not count. Only the
//! client's process is counted.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use leasehold::{Lock, Retry};

use support::harness::{Monitor, Server};
use support::rows::{ROWS, Row, Servers, row};
use support::{LEASE, client};

/// Where the figures are kept.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/guard.txt");

/// How many times what was kept a count of instructions may be: another compiler makes other code.
const TOLERANCE: f64 = 1.10;

/// The numbers of steps of the two runs.
const STEPS: [u32; 2] = [100, 600];

type Figures = BTreeMap<String, f64>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["steps", id, step, url, times] => steps(id, step, url, times.parse().expect("a number")),
        ["--write"] => keep(&measure()),
        [] => return compare(&measure()),
        _ => panic!("usage: guard [--write]"),
    }
    ExitCode::SUCCESS
}

fn measure() -> Figures {
    let servers = Servers::start();
    let mut figures = Figures::new();
    let counts = env::consts::ARCH == "x86_64" && has_valgrind();
    if !counts {
        println!("no valgrind on x86_64 here: instructions are not counted");
    }
    for row in &ROWS {
        let Some(server) = servers.of(row) else {
            println!("{}: no server here understands it", row.id);
            continue;
        };
        for (step, commands) in commands(server, row) {
            figures.insert(format!("{}/{step}/commands", row.id), commands);
        }
        if counts {
            for step in steps_of(row) {
                let count = instructions(server, row.id, step);
                figures.insert(format!("{}/{step}/instructions", row.id), count);
            }
        }
    }
    figures
}

fn steps_of(row: &Row) -> &'static [&'static str] {
    match row.id {
        "reentrant" => &["cycle", "extend", "nested"],
        _ => &["cycle", "extend"],
    }
}

/// Commands as the server receives them, of every step.
fn commands(server: &Server, row: &Row) -> Vec<(&'static str, f64)> {
    let lock = warm(&server.socket_url(), row);
    let mut monitor = Monitor::of(server);
    let mut count = |times: u32, work: &mut dyn FnMut()| {
        monitor.take();
        (0..times).for_each(|_| work());
        f64::from(u32::try_from(monitor.take().len()).expect("a few")) / f64::from(times)
    };
    let cycle = count(50, &mut || cycle(&lock));
    let lease = lock.acquire().expect("the lock is free");
    let extend = count(50, &mut || lease.extend(LEASE).expect("the lease lasts"));
    let vain = count(50, &mut || {
        assert!(lock.try_acquire().expect("it can be asked").is_none());
    });
    let check = count(50, &mut || lease.check().expect("the lease lasts"));
    vec![
        ("cycle", cycle),
        ("extend", extend),
        ("try-held", vain),
        ("check", check),
    ]
}

/// The lock, used once: the client has dialled, and the server knows the scripts.
fn warm(url: &str, row: &Row) -> Lock {
    let lock = client(url, row, Retry::default()).lock("guard");
    let lock = lock.expect("the name is one");
    let lease = lock.acquire().expect("the lock is free");
    lease.extend(LEASE).expect("the lease lasts");
    lease.release().expect("the lease has lasted");
    lock
}

fn cycle(lock: &Lock) {
    let lease = lock.acquire().expect("the lock is free");
    assert!(lease.is_held());
    lease.release().expect("the lease lasts");
}

/// Instructions of one step at the client.
fn instructions(server: &Server, id: &str, step: &str) -> f64 {
    let url = server.socket_url();
    let [few, many] = STEPS.map(|times| counted(&[id, step, &url, &times.to_string()]));
    ((many - few) / f64::from(STEPS[1] - STEPS[0])).round()
}

/// What this program executes as `steps`, in instructions.
fn counted(args: &[&str]) -> f64 {
    let program = env::current_exe().expect("this program has a path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg("steps")
        .args(args)
        .output()
        .expect("valgrind was found");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "valgrind fails; it says\n{said}");
    let line = said.lines().find_map(|line| line.split_once("Collected :"));
    let count = line.and_then(|(_, count)| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("valgrind counts nothing; it says\n{said}"))
}

fn has_valgrind() -> bool {
    let mut command = Command::new("valgrind");
    command.arg("--version").stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The client whose instructions are counted.
fn steps(id: &str, step: &str, url: &str, times: u32) {
    let lock = warm(url, &row(id));
    match step {
        "cycle" => (0..times).for_each(|_| cycle(&lock)),
        "extend" => {
            let lease = lock.acquire().expect("the lock is free");
            (0..times).for_each(|_| lease.extend(LEASE).expect("the lease lasts"));
        }
        "nested" => {
            let _outer = lock.thread().acquire().expect("the lock is free");
            for _ in 0..times {
                let inner = lock.thread().acquire().expect("the thread holds it");
                inner.release().expect("the lease lasts");
            }
        }
        step => panic!("there is no step {step}"),
    }
}

fn keep(figures: &Figures) {
    let mut text = String::from(
        "# What every step costs: commands as the server receives them, instructions of the client \
         on x86_64.\n# Written by scripts/guard --write, checked by scripts/guard.\n",
    );
    for (name, figure) in figures {
        let _ = writeln!(text, "{name} {figure}");
    }
    fs::write(KEPT, text).expect("the file can be written");
    println!("{} figures are kept", figures.len());
}

fn kept() -> Figures {
    let text = fs::read_to_string(KEPT).expect("the file is there");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parse = |line: &str| {
        let (name, figure) = line.split_once(' ')?;
        Some((name.to_owned(), figure.parse().ok()?))
    };
    lines
        .map(|line| parse(line).unwrap_or_else(|| panic!("{KEPT}: {line:?}")))
        .collect()
}

fn compare(measured: &Figures) -> ExitCode {
    let kept = kept();
    let mut worse = 0;
    for (name, figure) in measured {
        let Some(before) = kept.get(name) else {
            println!("{name} is {figure}, and nothing is kept of it: scripts/guard --write");
            worse += 1;
            continue;
        };
        let bound = if name.ends_with("/instructions") {
            before * TOLERANCE
        } else {
            *before
        };
        if *figure > bound {
            println!("{name} is {figure}, was {before}, may be {bound:.0}");
            worse += 1;
        } else if *figure < before / TOLERANCE {
            println!("{name} is {figure}, was {before}: better; scripts/guard --write keeps it");
        }
    }
    println!("{} figures, {worse} worse than before", measured.len());
    ExitCode::from(u8::from(worse > 0))
}
