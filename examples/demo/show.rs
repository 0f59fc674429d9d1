//! What a person sees of it.

use std::env;
use std::io::{IsTerminal, stdout};

use super::{ADDITIONS, Outcome, PROCESSES, THREADS, WAYS};

const COLUMNS: u64 = 72;
const COLUMN: u64 = 1_000; // us

/// A thread at work: from when to when, and how long it had waited for that; in us.
#[derive(Clone, Copy)]
pub(super) struct Spell {
    process: usize,
    thread: usize,
    pub(super) from: u64,
    to: u64,
    waited: u64,
}

impl Spell {
    /// Reads what a process says of one.
    pub(super) fn parse(process: usize, line: &str) -> Outcome<Self> {
        let numbers = line.split(' ').map(str::parse);
        let numbers = numbers.collect::<Result<Vec<u64>, _>>()?;
        let [thread, from, to, waited] = numbers[..] else {
            return Err(format!("a process said {line:?}").into());
        };
        let thread = usize::try_from(thread)?;
        Ok(Self {
            process,
            thread,
            from,
            to,
            waited,
        })
    }
}

/// What came of one way.
pub(super) struct Round {
    pub(super) way: &'static str,
    /// In the order in which they began.
    pub(super) spells: Vec<Spell>,
    pub(super) counted: usize,
    pub(super) holder: Option<String>,
    pub(super) left_locked: bool,
}

impl Round {
    fn lost(&self) -> usize {
        (PROCESSES * THREADS * ADDITIONS).abs_diff(self.counted)
    }

    /// How many began while another was at work.
    fn intruders(&self) -> usize {
        let mut end = 0;
        let mut intrudes = |spell: &&Spell| {
            let before = end;
            end = end.max(spell.to);
            spell.from < before
        };
        self.spells.iter().filter(|spell| intrudes(spell)).count()
    }

    fn is_good(&self) -> bool {
        self.lost() == 0 && self.intruders() == 0 && !self.left_locked
    }

    /// The time of the first column: the row shows the middle of the run.
    fn begin(&self) -> u64 {
        let (first, last) = (self.spells[0].from, self.spells[self.spells.len() - 1].to);
        first + (last - first).saturating_sub(COLUMNS * COLUMN) / 2
    }

    /// What a process was at, at that time.
    fn cell(&self, process: usize, at: u64) -> String {
        let at_work = |spell: &&Spell| (spell.from..spell.to).contains(&at);
        let everybody: Vec<_> = self.spells.iter().filter(at_work).collect();
        let ours = everybody.iter().filter(|spell| spell.process == process);
        let ours: Vec<_> = ours.collect();
        let color = match everybody.len() {
            1 => ["32", "33", "34", "35"][process % 4],
            _ => "31",
        };
        match ours[..] {
            [] => paint("2", "·"),
            [spell] => paint(color, &letter(spell.thread).to_string()),
            _ => paint(color, &ours.len().to_string()),
        }
    }
}

pub(super) fn opening() {
    println!(
        "{PROCESSES} processes with {THREADS} threads each add 1 to a number in a file, \
         {ADDITIONS} times per thread:\n\
         first without a lock, then under each kind of lock that leasehold speaks.\n\n\
         A letter is a thread at work (a to {}), a digit is that many at once. A column is {} ms,\n\
         a row a process, in the middle of the run.",
        letter(THREADS - 1),
        COLUMN / 1_000
    );
}

pub(super) fn round(round: &Round) {
    println!("\n{}", paint("1", round.way));
    for process in 0..PROCESSES {
        let at = |column| round.begin() + column * COLUMN;
        let row: String = (0..COLUMNS)
            .map(|column| round.cell(process, at(column)))
            .collect();
        println!("  process {}  {row}", process + 1);
    }
    if let Some(holder) = &round.holder {
        println!("  the holder, as the server tells it: {holder}");
    }
}

/// Says what was seen; whether every lock guarded the number.
pub(super) fn conclusion(rounds: &[Round]) -> bool {
    println!(
        "\n{:<20}{:>12}{:>7}{:>22}{:>15}",
        "", "counted", "lost", "began beside another", "longest wait"
    );
    for round in rounds {
        let counted = format!("{} of {}", round.counted, round.spells.len());
        let waited = round.spells.iter().map(|spell| spell.waited).max();
        let waited = if round.way == WAYS[0] {
            "-".to_owned()
        } else {
            format!("{} ms", waited.unwrap_or(0) / 1_000)
        };
        println!(
            "{:<20}{counted:>12}{:>7}{:>22}{waited:>15}",
            round.way,
            round.lost(),
            round.intruders()
        );
    }
    let (without, with) = rounds.split_first().expect("there is a round");
    let good = with.iter().filter(|round| round.is_good()).count();
    println!(
        "\nWithout a lock, {} of {} additions were lost. {good} of {} kinds of lock lost none, let \
         nobody in\nbeside another, and left nothing locked behind.",
        without.lost(),
        without.spells.len(),
        with.len()
    );
    good == with.len()
}

fn letter(thread: usize) -> char {
    ('a'..='z').cycle().nth(thread).unwrap_or('?')
}

/// The text in a color, where somebody looks who wants colors.
fn paint(color: &str, text: &str) -> String {
    let plain = env::var_os("NO_COLOR").is_some_and(|no| !no.is_empty());
    if plain || !stdout().is_terminal() {
        return text.to_owned();
    }
    format!("\x1b[{color}m{text}\x1b[0m")
}
