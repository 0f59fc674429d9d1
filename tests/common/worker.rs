//! The test binary run again as another process, which a test may freeze and kill.
//!
//! ```ignore
//! #[test]
//! fn holder() {
//!     // Does nothing when it is run as a test among others.
//!     let Some(role) = worker::role("holder") else { return };
//!     let guard = lock(role.get("URL"));
//!     role.say("held");
//!     role.hear(); // until the test has said a word, or is gone
//! }
//!
//! #[test]
//! fn a_killed_holder_lets_go() {
//!     let mut worker = Worker::spawn("holder", &[("URL", &server.url())]);
//!     worker.expect("held");
//!     worker.kill();
//! }
//! ```

use std::{
    env,
    fmt::Display,
    io::{self, BufRead, BufReader, Read, Write},
    process::{ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use super::process::Leashed;

/// How long a worker may take to say what is expected, or to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Names the role that a process plays; not set in an ordinary run of the tests.
const ROLE: &str = "LEASEHOLD_ROLE";

/// Begins the lines that are meant for the other side. The test runner writes to stdout as well, and
/// leaves the line in which it names the test unfinished.
const MARK: &str = "@ ";

/// Another process, running one test of this binary. It is killed when dropped or when this process
/// ends.
#[derive(Debug)]
pub struct Worker {
    role: String,
    process: Leashed,
    stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
    heard: Vec<String>,
}

impl Worker {
    /// Starts the test `role`, named by its whole path (`module::name`), with these variables in its
    /// environment. It is up to the test to notice, by [`role`].
    pub fn spawn(role: &str, variables: &[(&str, &str)]) -> Worker {
        let program = env::current_exe().expect("the test binary has a path");
        let mut command = Command::new(program);
        command.args(["--exact", role, "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).envs(variables.iter().copied());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = Leashed::spawn(&mut command);
        let child = process.child();
        let stdin = child.stdin.take();
        let (sender, lines) = channel();
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let stderr = child.stderr.take().expect("stderr is a pipe");
        forward(stdout, Line::Out, sender.clone());
        forward(stderr, Line::Err, sender);
        Worker {
            role: role.to_owned(),
            process,
            stdin,
            lines,
            heard: Vec::new(),
        }
    }

    /// Says a line to the worker, which gets it by [`Role::hear`].
    pub fn say(&mut self, line: impl Display) {
        let stdin = self
            .stdin
            .as_mut()
            .expect("the worker has not been told to finish");
        let said = stdin.write_all(format!("{line}\n").as_bytes());
        if let Err(error) = said {
            self.fail(&format!("does not listen ({error})"));
        }
    }

    /// The next thing the worker says, which must begin with `prefix`; what follows the prefix,
    /// without blanks around it.
    ///
    /// # Panics
    ///
    /// If the worker says something else, nothing for 30 s, or ends; with all of its output so far.
    pub fn expect(&mut self, prefix: &str) -> String {
        let said = self.next_said(PATIENCE);
        match said.as_deref().map(|line| line.strip_prefix(prefix)) {
            Some(Some(rest)) => rest.trim().to_owned(),
            Some(None) => self.fail(&format!("was to say {prefix:?}, not {:?}", said.unwrap())),
            None => self.fail(&format!("does not say {prefix:?}")),
        }
    }

    /// What the worker has said or says within `bound`, if anything.
    pub fn says_within(&mut self, bound: Duration) -> Option<String> {
        self.next_said(bound)
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Stops the process (`SIGSTOP`), all its threads.
    pub fn freeze(&self) {
        self.process.freeze();
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        self.process.thaw();
    }

    /// Kills the process (`SIGKILL`) and returns when it is gone.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Says that nothing more will be said, and waits for the worker to end by itself.
    ///
    /// # Panics
    ///
    /// If it does not within 30 s.
    pub fn finish(mut self) -> ExitStatus {
        self.stdin = None;
        let begun = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait() {
                return status;
            }
            if begun.elapsed() > PATIENCE {
                self.fail("does not end");
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn next_said(&mut self, bound: Duration) -> Option<String> {
        let begun = Instant::now();
        loop {
            let left = bound.saturating_sub(begun.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let said = line.said();
                    self.heard.push(line.into_text());
                    if said.is_some() {
                        return said;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn fail(&mut self, what: &str) -> ! {
        self.heard
            .extend(self.lines.try_iter().map(Line::into_text));
        let status = match self.process.try_wait() {
            Some(status) => format!("has ended ({status})"),
            None => "still runs".to_owned(),
        };
        let heard = self.heard.join("\n");
        panic!(
            "the worker {:?} {what}; it {status}; its output was\n{heard}",
            self.role
        );
    }
}

/// A line of the worker's output.
#[derive(Debug)]
enum Line {
    Out(String),
    Err(String),
}

impl Line {
    fn said(&self) -> Option<String> {
        match self {
            Line::Out(text) => text.split_once(MARK).map(|(_noise, said)| said.to_owned()),
            Line::Err(_) => None,
        }
    }

    fn into_text(self) -> String {
        match self {
            Line::Out(text) | Line::Err(text) => text,
        }
    }
}

fn forward(pipe: impl Read + Send + 'static, kind: fn(String) -> Line, sender: Sender<Line>) {
    let run = move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if sender.send(kind(text)).is_err() {
                return;
            }
            line.clear();
        }
    };
    thread::Builder::new()
        .name("worker-output".into())
        .spawn(run)
        .expect("a thread can be started");
}

/// The worker's side.
#[derive(Debug)]
pub struct Role(());

/// The role this process plays, if it was started as a worker to play this one.
pub fn role(name: &str) -> Option<Role> {
    (env::var(ROLE).ok()? == name).then_some(Role(()))
}

impl Role {
    /// Says a line to the test.
    pub fn say(&self, line: impl Display) {
        let mut stdout = io::stdout().lock();
        // A test that is gone does not listen, and is about to have this process killed.
        let _ = stdout.write_all(format!("{MARK}{line}\n").as_bytes());
        let _ = stdout.flush();
    }

    /// The next line the test says; `None` when it says no more.
    pub fn hear(&self) -> Option<String> {
        let mut line = String::new();
        let read = io::stdin()
            .lock()
            .read_line(&mut line)
            .expect("stdin can be read");
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// A variable that the test has set.
    pub fn get(&self, key: &str) -> String {
        env::var(key).unwrap_or_else(|_| panic!("{key} is not set"))
    }
}
