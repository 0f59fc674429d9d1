//! The harness's own connections to a server, which leave no trace in what a monitor reports.

use std::{
    io::{self, BufReader, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::PathBuf,
    time::Duration,
};

use parking_lot::Mutex;
use redis::{Parser, Value};

/// How long the harness waits for a server.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Asks one server, over a new connection each time.
#[derive(Debug)]
pub struct Control {
    pub socket: PathBuf,
    pub password: Option<String>,
    /// Every command asked so far, as a monitor shows it. A monitor sees all clients of a unix
    /// socket under one name, so it tells the harness's commands from those of others by their text.
    asked: Mutex<Vec<Vec<Vec<u8>>>>,
}

impl Control {
    pub fn new(socket: PathBuf, password: Option<String>) -> Control {
        Control {
            socket,
            password,
            asked: Mutex::default(),
        }
    }

    /// The server's answer; an error of the server or of the connection in words.
    pub fn ask<A: AsRef<[u8]>>(&self, args: &[A]) -> Result<Value, String> {
        let mut session = self.open().map_err(|error| error.to_string())?;
        self.note(args);
        session.ask(args)
    }

    /// A connection that has sent its password, if there is one, and nothing else.
    pub fn open(&self) -> io::Result<Session> {
        let stream = UnixStream::connect(&self.socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut session = Session {
            stream: BufReader::new(stream),
            parser: Parser::new(),
        };
        if let Some(password) = &self.password {
            self.note(&["AUTH", "(redacted)"]);
            session.ask(&["AUTH", password]).map_err(io::Error::other)?;
        }
        Ok(session)
    }

    /// How many commands have been asked; a monitor that starts now need not look at those.
    pub fn asked_so_far(&self) -> usize {
        self.asked.lock().len()
    }

    pub fn asked_since(&self, mark: usize) -> Vec<Vec<Vec<u8>>> {
        self.asked.lock()[mark..].to_vec()
    }

    fn note<A: AsRef<[u8]>>(&self, args: &[A]) {
        let words = args.iter().map(|arg| arg.as_ref().to_vec()).collect();
        self.asked.lock().push(words);
    }
}

/// One connection.
pub struct Session {
    stream: BufReader<UnixStream>,
    parser: Parser,
}

impl Session {
    pub fn ask<A: AsRef<[u8]>>(&mut self, args: &[A]) -> Result<Value, String> {
        let mut command = redis::Cmd::new();
        for arg in args {
            command.arg(arg.as_ref());
        }
        let sent = self
            .stream
            .get_mut()
            .write_all(&command.get_packed_command());
        sent.map_err(|error| error.to_string())?;
        self.hear()
    }

    /// The next thing the server says.
    pub fn hear(&mut self) -> Result<Value, String> {
        let value = self.parser.parse_value(&mut self.stream);
        value
            .and_then(Value::extract_error)
            .map_err(|error| error.to_string())
    }
}

impl Drop for Session {
    /// Returns when the server has closed its end: until then it lists a client more. A frozen
    /// server is not waited for.
    fn drop(&mut self) {
        let stream = self.stream.get_mut();
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    }
}
