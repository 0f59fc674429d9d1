//! Another maker's client, in a process that does as it is told, a line at a time.

use std::{
    collections::HashMap,
    fmt::Display,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

use crate::common::process::{Leashed, Scratch};

/// How long a neighbour may take to start or to answer.
const PATIENCE: Duration = Duration::from_secs(60);

const READY: &str = "ready";

type Peers = Arc<Mutex<HashMap<String, Sender<Answer>>>>;

/// The process. It is killed when this is dropped or when this process ends.
pub(crate) struct Neighbour {
    process: Mutex<Leashed>,
    stdin: Mutex<ChildStdin>,
    peers: Peers,
    version: String,
    scratch: Scratch,
}

/// What came of one line.
#[derive(Debug)]
pub(crate) struct Answer {
    /// When it was begun, in ns: see [`now`].
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) text: String,
}

impl Neighbour {
    /// Starts the process and returns once it is connected.
    pub(crate) fn start(mut command: Command) -> Neighbour {
        let scratch = Scratch::new();
        let errors = File::create(scratch.path().join("stderr")).expect("a file can be made");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors);
        let mut process = Leashed::spawn(&mut command);
        let stdin = process.child().stdin.take().expect("stdin is a pipe");
        let stdout = process.child().stdout.take().expect("stdout is a pipe");
        let peers = Peers::default();
        let (sender, greeting) = channel();
        peers.lock().insert(READY.to_owned(), sender);
        forward(stdout, Arc::clone(&peers));
        let mut neighbour = Neighbour {
            process: Mutex::new(process),
            stdin: Mutex::new(stdin),
            peers,
            version: String::new(),
            scratch,
        };
        neighbour.version = match greeting.recv_timeout(PATIENCE) {
            Ok(greeting) => greeting.text,
            Err(_) => neighbour.fail(&format!("{command:?} does not get ready")),
        };
        neighbour
    }

    /// Its name and version, as it says them itself.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// A thread of the neighbour that nobody else talks to.
    pub(crate) fn thread(&self) -> Peer<'_> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("thread-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let (sender, answers) = channel();
        self.peers.lock().insert(name.clone(), sender);
        Peer {
            neighbour: self,
            name,
            answers,
        }
    }

    /// Stops the process (`SIGSTOP`), all its threads.
    pub(crate) fn freeze(&self) {
        self.process.lock().freeze();
    }

    /// Kills the process (`SIGKILL`) and returns when it is gone.
    pub(crate) fn kill(&self) {
        self.process.lock().kill();
    }

    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        let errors = fs::read_to_string(self.scratch.path().join("stderr"));
        let errors = errors.unwrap_or_default();
        panic!("{} {what}; its stderr:\n{errors}", self.version);
    }
}

/// Hands each answer to the thread it is for.
fn forward(stdout: ChildStdout, peers: Peers) {
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let (name, answer) = read(&line);
            if let Some(peer) = peers.lock().get(name) {
                let _ = peer.send(answer); // a test that has failed does not listen
            }
        }
        peers.lock().clear(); // and so nobody waits for who is gone
    });
}

fn read(line: &str) -> (&str, Answer) {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let timed = |rest: &str| {
        let mut parts = rest.splitn(3, ' ');
        Some(Answer {
            began: parts.next()?.parse().ok()?,
            ended: parts.next()?.parse().ok()?,
            text: parts.next()?.to_owned(),
        })
    };
    let answer = timed(rest).unwrap_or_else(|| Answer {
        began: 0,
        ended: 0,
        text: rest.to_owned(),
    });
    (name, answer)
}

/// One thread of a neighbour: its locks are its own.
pub(crate) struct Peer<'a> {
    neighbour: &'a Neighbour,
    name: String,
    answers: Receiver<Answer>,
}

impl Peer<'_> {
    /// Tells it what to do; [`hear`](Peer::hear) gives what came of it.
    #[track_caller]
    pub(crate) fn tell(&self, what: impl Display) {
        let line = format!("{} {what}\n", self.name);
        let told = self.neighbour.stdin.lock().write_all(line.as_bytes());
        if let Err(error) = told {
            self.neighbour.fail(&format!("does not listen ({error})"));
        }
    }

    /// What came of the first thing told that was not heard of yet.
    ///
    /// # Panics
    ///
    /// Where it failed, or does not answer.
    #[track_caller]
    pub(crate) fn hear(&self) -> Answer {
        let answer = self.next();
        if answer.text.starts_with("error ") {
            self.neighbour.fail(&format!("says {:?}", answer.text));
        }
        answer
    }

    #[track_caller]
    pub(crate) fn ask(&self, what: impl Display) -> String {
        self.tell(what);
        self.hear().text
    }

    /// As [`ask`](Peer::ask), where the answer is to be an error.
    #[track_caller]
    pub(crate) fn refused(&self, what: impl Display) -> String {
        self.tell(what);
        let answer = self.next().text;
        match answer.strip_prefix("error ") {
            Some(error) => error.to_owned(),
            None => self
                .neighbour
                .fail(&format!("says {answer:?} instead of an error")),
        }
    }

    /// Whether it has answered, or is gone.
    pub(crate) fn answers_within(&self, bound: Duration) -> Option<Answer> {
        self.answers.recv_timeout(bound).ok()
    }

    #[track_caller]
    fn next(&self) -> Answer {
        match self.answers.recv_timeout(PATIENCE) {
            Ok(answer) => answer,
            Err(error) => self.neighbour.fail(&format!("does not answer ({error})")),
        }
    }
}

/// What `scripts/interop` has built.
pub(crate) fn built(what: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/interop")
        .join(what);
    assert!(
        path.exists(),
        "there is no {}; run scripts/interop",
        path.display()
    );
    path
}

/// `Neighbour.java`, with the libraries of this version of Redisson.
pub(crate) fn java(redisson: &str, args: &[&str]) -> Command {
    let home = built(&format!("redisson-{redisson}"));
    let classes = format!("{0}/neighbour.jar:{0}/lib/*", home.display());
    let mut command = Command::new("java");
    command
        .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]) // it starts sooner
        .args(["-cp", &classes, "leasehold.interop.Neighbour"])
        .args(args);
    command
}

/// A clock that is the same in every process of this machine, in ns: Java's `System.nanoTime`,
/// Python's `time.monotonic_ns`.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap() * 1_000_000_000 + nanos.unwrap()
}
