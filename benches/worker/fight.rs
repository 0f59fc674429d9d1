//! Threads of one process that want the same locks, for a while.

use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{hint, io, thread};

use hdrhistogram::Histogram;

use super::{Contender, Kind, Stage, cpu, hear, now, number, say};

/// Below this a thread spins rather than sleeps, since a sleep takes longer.
const SHORT: Duration = Duration::from_micros(50);

/// How often a thread that takes turns looks whether another has been inside.
const GLANCE: Duration = Duration::from_micros(20);

/// What a process is to do.
#[derive(Debug)]
pub struct Fight {
    file: PathBuf,
    names: u64,
    threads: u64,
    hold: Duration,
    turns: bool,
    lasts: Duration,
}

/// What came of it for one thread.
struct Fate {
    count: u64,
    late: u64,
    longest: u64,
    waits: Histogram<u64>,
    handovers: Histogram<u64>,
    fault: Option<String>,
}

impl Fight {
    /// `words` as the head of `benches/worker/mod.rs` names them.
    pub fn new(file: &str, words: [&str; 5]) -> Fight {
        let [names, threads, hold, turns, millis] = words.map(number);
        Fight {
            file: file.into(),
            names,
            threads,
            hold: Duration::from_micros(hold),
            turns: turns == 1,
            lasts: Duration::from_millis(millis),
        }
    }

    /// Fights, and tells what came of it. Begins when another of the `lines` has come.
    ///
    /// # Errors
    ///
    /// Where the other side is gone.
    ///
    /// # Panics
    ///
    /// If the file is not there.
    pub fn run(
        &self,
        kind: &dyn Kind,
        lines: &mut dyn Iterator<Item = io::Result<String>>,
    ) -> io::Result<()> {
        let stage = Stage::open(&self.file).expect("the file is there");
        let gate = Barrier::new(usize::try_from(self.threads).unwrap_or(0) + 1);
        let ends = AtomicU64::new(0);
        let vain = kind.vain();
        let (fates, spent) = thread::scope(|scope| {
            let fight = |number| {
                let (stage, gate, ends) = (&stage, &gate, &ends);
                scope.spawn(move || {
                    let mut contender = kind.contender();
                    // Dials, where it has a connection of its own.
                    let warm = contender.with(&format!("warm-up-{number}"), &mut || ());
                    gate.wait();
                    gate.wait();
                    let ends = ends.load(Ordering::SeqCst);
                    let mut fate = self.thread(number, contender.as_mut(), stage, ends);
                    fate.fault = fate.fault.or(warm.err());
                    fate
                })
            };
            let threads: Vec<_> = (0..self.threads).map(fight).collect();
            gate.wait();
            say("ready")?;
            hear(lines)?;
            let lasts = u64::try_from(self.lasts.as_nanos()).unwrap_or(u64::MAX);
            ends.store(now() + lasts, Ordering::SeqCst);
            let before = cpu();
            gate.wait();
            let fates: Vec<Fate> = threads
                .into_iter()
                .map(|thread| thread.join().expect("no thread panics"))
                .collect();
            io::Result::Ok((fates, cpu() - before))
        })?;
        tell(&fates)?;
        if let (Some(before), Some(after)) = (vain, kind.vain()) {
            say(&format!("vain {}", after - before))?;
        }
        say(&format!("cpu {spent}"))?;
        say("done")
    }

    fn thread(&self, number: u64, contender: &mut dyn Contender, stage: &Stage, ends: u64) -> Fate {
        let mut fate = Fate::new();
        let mut random = u64::from(std::process::id()) << 32 | number << 1 | 1;
        while now() < ends && fate.fault.is_none() {
            let name = next(&mut random) % self.names;
            let asked = now();
            let mut entered_as = None;
            let result = contender.with(&format!("name-{name}"), &mut || {
                let entered = now();
                fate.longest = fate.longest.max(entered - asked);
                if entered >= ends {
                    fate.late += 1;
                    return;
                }
                let (count, left) = stage.read(name);
                fate.count += 1;
                fate.waits.saturating_record(entered - asked);
                // Who came after it was free has waited for nobody.
                if (asked..entered).contains(&left) {
                    fate.handovers.saturating_record(entered - left);
                }
                stage.write(name, count + 1, left); // who takes turns sees that another is inside
                work(self.hold);
                stage.write(name, count + 1, now());
                entered_as = Some(count + 1);
            });
            fate.fault = result.err();
            while self.turns && entered_as == Some(stage.read(name).0) && now() < ends {
                thread::sleep(GLANCE);
            }
        }
        fate
    }
}

impl Fate {
    fn new() -> Fate {
        // From 100 ns to a minute, to three digits.
        let times = || Histogram::new_with_bounds(100, 60_000_000_000, 3);
        let times = || times().expect("the bounds are valid");
        Fate {
            count: 0,
            late: 0,
            longest: 0,
            waits: times(),
            handovers: times(),
            fault: None,
        }
    }
}

fn tell(fates: &[Fate]) -> io::Result<()> {
    let mut waits = Fate::new().waits;
    let mut handovers = Fate::new().handovers;
    for fate in fates {
        say(&format!("thread {} {}", fate.count, fate.longest))?;
        waits.add(&fate.waits).expect("the bounds are the same");
        handovers
            .add(&fate.handovers)
            .expect("the bounds are the same");
        if let Some(fault) = &fate.fault {
            say(&format!("fault {fault}"))?;
        }
    }
    for (word, times) in [("wait", waits), ("handover", handovers)] {
        for bucket in times.iter_recorded() {
            let (value, count) = (bucket.value_iterated_to(), bucket.count_at_value());
            say(&format!("{word} {value} {count}"))?;
        }
    }
    let late: u64 = fates.iter().map(|fate| fate.late).sum();
    say(&format!("late {late}"))
}

/// What a holder does.
fn work(hold: Duration) {
    if hold >= SHORT {
        thread::sleep(hold);
    } else {
        let until = now() + u64::try_from(hold.as_nanos()).unwrap_or(u64::MAX);
        while now() < until {
            hint::spin_loop();
        }
    }
}

/// xorshift: which name is next needs no better chance.
fn next(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}
