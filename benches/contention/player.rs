//! Another process that fights, as this one sees it.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::args::Rival;
use crate::support::harness::process::Leashed;

/// How long a process may take to answer: a fight lasts seconds, its last holders a few more.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that does as `benches/worker/mod.rs` says. It is killed when dropped.
pub struct Player {
    _process: Leashed,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Player {
    /// This program, as that kind of lock.
    pub fn ours(id: &str, url: &str) -> Player {
        Player::playing(&["worker", id, url])
    }

    /// This program, with these arguments.
    pub fn playing(args: &[impl AsRef<OsStr>]) -> Player {
        let program = env::current_exe().expect("this program has a path");
        Player::start(Command::new(program).args(args))
    }

    /// Somebody else's program.
    pub fn rival(rival: &Rival, url: &str) -> Player {
        let (program, args) = rival.command.split_first().expect("a rival is a program");
        Player::start(Command::new(program).args(args).arg(url))
    }

    fn start(command: &mut Command) -> Player {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Leashed::spawn(command);
        let child = process.child();
        let stdin = child.stdin.take().expect("stdin is a pipe");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Player {
            _process: process,
            stdin,
            lines,
        }
    }

    /// Tells it something; the answer of one who is gone is missed later.
    pub fn tell(&mut self, line: &str) {
        let _ = writeln!(self.stdin, "{line}");
        let _ = self.stdin.flush();
    }

    /// The next line it says.
    ///
    /// # Errors
    ///
    /// Where it says that something went wrong, or nothing.
    pub fn hear(&mut self) -> Result<String, String> {
        self.hear_within(PATIENCE)?
            .ok_or_else(|| format!("it said nothing for {PATIENCE:?}"))
    }

    /// The next line that it says within that time, if any.
    ///
    /// # Errors
    ///
    /// Where it says that something went wrong, or is gone.
    pub fn hear_within(&mut self, patience: Duration) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => match line.strip_prefix("fault ") {
                Some(fault) => Err(fault.to_owned()),
                None => Ok(Some(line)),
            },
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("it is gone".to_owned()),
        }
    }

    /// Tells it something and takes its answer, which begins with that word.
    ///
    /// # Errors
    ///
    /// As [`hear`](Player::hear), and where it says something else.
    pub fn ask(&mut self, line: &str, word: &str) -> Result<String, String> {
        self.tell(line);
        let answer = self.hear()?;
        match answer.strip_prefix(word) {
            Some(rest) => Ok(rest.trim_start().to_owned()),
            None => Err(format!("it said {answer:?}")),
        }
    }

    /// Uncontended cycles: the median of one, in nanoseconds.
    ///
    /// # Errors
    ///
    /// As [`ask`](Player::ask).
    pub fn cycles(&mut self, name: &str, times: u64) -> Result<f64, String> {
        let answer = self.ask(&format!("cycle {name} {times}"), "batch")?;
        let median = answer.split(' ').next().and_then(|word| word.parse().ok());
        median.ok_or_else(|| format!("it said {answer:?}"))
    }
}
