//! Other processes: each dies with this one, however this one dies.

use std::{
    env, fs,
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio, id},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// A child process that is killed when this is dropped, and also when the test process ends without
/// dropping anything: by `SIGKILL`, by `exit`, by ctrl-C.
#[derive(Debug)]
pub struct Leashed {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Leashed {
    pub fn spawn(command: &mut Command) -> Leashed {
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
        tell_reaper('+', child.id());
        Leashed { child, ended: None }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Stops the process and returns when it has stopped: a `SIGSTOP` alone is on its way only.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        let stopped = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.target()), stopped).expect("a child can be waited for");
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills the process and returns when it is gone.
    pub fn kill(&mut self) -> ExitStatus {
        if self.ended.is_none() {
            self.child.kill().expect("a child can be killed");
        }
        self.wait()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("a child can be waited for");
        self.note_end(status)
    }

    /// The status of a process that has ended, `None` of one that still runs.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().expect("a child can be waited for")?;
        Some(self.note_end(status))
    }

    fn note_end(&mut self, status: ExitStatus) -> ExitStatus {
        if self.ended.replace(status).is_none() {
            tell_reaper('-', self.pid()); // the number may be given to a stranger from now on
        }
        status
    }

    fn signal(&self, signal: Signal) {
        assert!(self.ended.is_none(), "the process {} has ended", self.pid());
        kill_process(self.target(), signal).expect("a child can be signalled");
    }

    fn target(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A directory of this process, removed when dropped or when the process ends.
///
/// Its path is short: a unix socket in it must fit into the 104 bytes that macOS grants.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("leasehold-{}-{count}", id()));
            // A process of the same number may have left one behind.
            if fs::create_dir(&path).is_ok() {
                tell_reaper('+', path.display());
                return Scratch(path);
            }
            assert!(count < 10_000, "{} cannot be created", path.display());
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
        tell_reaper('-', self.0.display());
    }
}

/// Reads what to clean up (`+ 4711`, `+ /tmp/dir`) and what no longer (`- 4711`) until its input
/// ends, which it does with the test process, and then cleans up.
const REAPER: &str = r#"
while read -r sign what; do
    if [ "$sign" = + ]; then set -- "$@" "$what"; continue; fi
    for kept; do
        shift
        [ "$kept" = "$what" ] || set -- "$@" "$kept"
    done
done
for what; do case $what in /*) ;; *) kill -9 "$what" ;; esac; done
for what; do case $what in /*) rm -rf "$what" ;; esac; done
"#;

/// Linux could do this by `PR_SET_PDEATHSIG`, but to set it in the child takes `unsafe`, it follows
/// the thread rather than the process, and macOS has nothing like it.
fn tell_reaper(sign: char, what: impl std::fmt::Display) {
    static INPUT: LazyLock<Mutex<ChildStdin>> = LazyLock::new(|| {
        let mut reaper = Command::new("sh")
            .args(["-c", REAPER, "leasehold-reaper"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0) // what ends the tests' group must not end the reaper
            .spawn()
            .expect("sh can be started");
        Mutex::new(reaper.stdin.take().expect("stdin is a pipe"))
    });
    // One write, so that what is told is told whole or not at all.
    let line = format!("{sign} {what}\n");
    INPUT
        .lock()
        .write_all(line.as_bytes())
        .expect("the reaper listens");
}
