//! The baselines: the commands of a strategy, word for word, without the crate.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem::discriminant;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use leasehold::Lock;
use redis::Value;

use super::harness::{Monitor, Seen, Server};

/// What a lock says to its server, as the server heard it.
#[derive(Debug, Clone)]
pub struct Script {
    acquire: Vec<redis::Cmd>,
    release: Vec<redis::Cmd>,
}

impl Script {
    /// Listens to one acquisition and its release. The lock must have been used before, so that the
    /// server knows its scripts.
    pub fn overhear(server: &Server, lock: &Lock) -> Script {
        let mut monitor = Monitor::of(server);
        let lease = lock.acquire().expect("the lock is free");
        let acquire = commands(&monitor.take());
        lease.release().expect("the lease has lasted");
        let release = commands(&monitor.take());
        Script { acquire, release }
    }

    /// How many commands it is.
    pub fn len(&self) -> usize {
        self.acquire.len() + self.release.len()
    }
}

fn commands(seen: &[Seen]) -> Vec<redis::Cmd> {
    let command = |seen: &Seen| {
        let mut command = redis::cmd(&seen.command);
        command.arg(&seen.args);
        command
    };
    seen.iter().map(command).collect()
}

/// Anything that can say a script's commands to a server.
pub trait Bare {
    /// Says the commands that acquire; panics where an answer is not of the kind it was before.
    fn acquire(&mut self);

    /// Says the commands that release, likewise.
    fn release(&mut self);
}

/// Through a `redis::Connection`: what a program pays that uses the `redis` crate and nothing else.
pub struct Connection {
    socket: redis::Connection,
    acquire: Vec<(redis::Cmd, Value)>,
    release: Vec<(redis::Cmd, Value)>,
}

impl Connection {
    pub fn new(url: &str, script: &Script) -> Connection {
        let client = redis::Client::open(url).expect("the url is one");
        let mut connection = client.get_connection().expect("the server answers");
        let mut rehearse = |commands: &[redis::Cmd]| {
            let rehearse = |command: &redis::Cmd| {
                let answer = command.query(&mut connection).expect("it was said before");
                (command.clone(), answer)
            };
            commands.iter().map(rehearse).collect()
        };
        let acquire = rehearse(&script.acquire);
        let release = rehearse(&script.release);
        Connection {
            socket: connection,
            acquire,
            release,
        }
    }
}

impl Bare for Connection {
    fn acquire(&mut self) {
        say(&mut self.socket, &self.acquire);
    }

    fn release(&mut self) {
        say(&mut self.socket, &self.release);
    }
}

/// Builds each command anew, as a program must whose values change.
fn say(connection: &mut redis::Connection, commands: &[(redis::Cmd, Value)]) {
    for (command, before) in commands {
        let mut words = command.args_iter().map(|arg| match arg {
            redis::Arg::Simple(word) => word,
            _ => b"0",
        });
        let mut command = redis::Cmd::new();
        for word in &mut words {
            command.arg(word);
        }
        let answer: Value = command.query(connection).expect("it was said before");
        assert_eq!(discriminant(&answer), discriminant(before), "{answer:?}");
    }
}

/// By hand over a socket: the least that there is to pay.
pub struct Raw {
    stream: BufReader<Box<dyn Socket>>,
    acquire: Vec<(Vec<u8>, u8)>,
    release: Vec<(Vec<u8>, u8)>,
}

trait Socket: Read + Write {}
impl<T: Read + Write> Socket for T {}

impl Raw {
    /// To `127.0.0.1:port` or to the path of a unix socket.
    pub fn new(address: &str, script: &Script) -> Raw {
        let stream = connect(address).expect("the server listens");
        let mut stream = BufReader::new(stream);
        let mut rehearse = |commands: &[redis::Cmd]| {
            let rehearse = |command: &redis::Cmd| {
                let bytes = command.get_packed_command();
                let kind = ask(&mut stream, &bytes).expect("the server answers");
                (bytes, kind)
            };
            commands.iter().map(rehearse).collect()
        };
        let acquire = rehearse(&script.acquire);
        let release = rehearse(&script.release);
        Raw {
            stream,
            acquire,
            release,
        }
    }

    fn say(&mut self, release: bool) {
        let commands = if release {
            &self.release
        } else {
            &self.acquire
        };
        for (bytes, before) in commands {
            let kind = ask(&mut self.stream, bytes).expect("the server answers");
            assert_eq!(kind, *before, "another kind of answer than before");
        }
    }
}

impl Bare for Raw {
    fn acquire(&mut self) {
        self.say(false);
    }

    fn release(&mut self) {
        self.say(true);
    }
}

fn connect(address: &str) -> io::Result<Box<dyn Socket>> {
    if let Some(path) = address.strip_prefix("redis+unix://") {
        return Ok(Box::new(UnixStream::connect(path)?));
    }
    let stream = TcpStream::connect(address.trim_start_matches("redis://"))?;
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}

/// Sends a command and reads its answer; what kind that was.
fn ask(stream: &mut BufReader<Box<dyn Socket>>, bytes: &[u8]) -> io::Result<u8> {
    stream.get_mut().write_all(bytes)?;
    answer(stream)
}

fn answer(stream: &mut impl BufRead) -> io::Result<u8> {
    let mut line = Vec::with_capacity(64);
    stream.read_until(b'\n', &mut line)?;
    let (kind, number) = line.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
    let number = || str::from_utf8(number).ok()?.trim_end().parse::<i64>().ok();
    match kind {
        b'+' | b':' => {}
        b'$' => match number().map(u64::try_from) {
            Some(Ok(length)) => {
                io::copy(&mut stream.take(length + 2), &mut io::sink())?;
            }
            _ => return Ok(b'_'), // nothing
        },
        b'*' => {
            for _ in 0..number().unwrap_or(0) {
                answer(stream)?;
            }
        }
        _ => return Err(io::Error::other(String::from_utf8_lossy(&line))),
    }
    Ok(*kind)
}
