//! What a server was asked, as the server saw it.

use std::{
    process::id,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use redis::Value;

use super::{
    control::{Control, Session},
    server::Server,
};

/// One command that a server has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The client's address; on a unix socket all clients have the same one.
    pub client: String,
    pub db: u32,
    /// In capitals.
    pub command: String,
    /// What followed the command, as lossy text.
    pub args: Vec<String>,
}

/// Watches one server from the moment it is made.
///
/// Left out are the commands that scripts call, those that servers do not show (`CONFIG`, `CLIENT
/// LIST` and other administrative ones), and those of the harness ([`Server::command`] and so on,
/// but not what a test sends over a [`Server::connection`]).
pub struct Monitor {
    session: Session,
    control: Arc<Control>,
    mark: usize,
}

impl Monitor {
    pub fn of(server: &Server) -> Monitor {
        let control = Arc::clone(server.control());
        let mut session = control.open().expect("the server answers");
        let mark = control.asked_so_far();
        session.ask(&["MONITOR"]).expect("MONITOR is accepted");
        Monitor {
            session,
            control,
            mark,
        }
    }

    /// Every command since the monitor was made.
    pub fn finish(mut self) -> Vec<Seen> {
        self.take()
    }

    /// Every command since the monitor was made or last asked.
    pub fn take(&mut self) -> Vec<Seen> {
        let mut seen = self.read_to(&self.end_marker());
        let asked = self.control.asked_since(self.mark);
        self.mark += asked.len();
        for words in asked {
            // The harness comes by the unix socket. If somebody else there has sent the same, it
            // makes no difference which of the two goes.
            let is_ours = |line: &Line| line.client.starts_with("unix:") && line.words == words;
            let ours = seen.iter().position(is_ours);
            ours.map(|at| seen.remove(at));
        }
        let foreign = seen.into_iter().filter(|line| line.client != "lua");
        foreign
            .map(Line::into_seen)
            .filter(|seen| seen.command != "MONITOR")
            .collect()
    }

    /// Has the server say something on another connection that no one else says: once the monitor
    /// has reported it, it has reported all that came before.
    fn end_marker(&self) -> Vec<u8> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let marker = format!(
            "end-of-monitor-{}-{}",
            id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        self.control
            .ask(&["ECHO", &marker])
            .expect("the monitored server answers");
        marker.into_bytes()
    }

    fn read_to(&mut self, marker: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        loop {
            let text = match self.session.hear() {
                Ok(Value::SimpleString(text)) => text,
                other => panic!("a monitor reports lines, not {other:?}"),
            };
            let line = parse(&text).unwrap_or_else(|| panic!("not a line of a monitor: {text}"));
            let end = line.words.get(1).is_some_and(|word| word == marker);
            lines.push(line);
            if end {
                return lines;
            }
        }
    }
}

/// One line: `1700000000.123456 [0 127.0.0.1:5000] "SET" "key" "\x00\xff"`.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    db: u32,
    client: String,
    words: Vec<Vec<u8>>,
}

impl Line {
    fn into_seen(self) -> Seen {
        let mut words = self
            .words
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned());
        Seen {
            client: self.client,
            db: self.db,
            command: words.next().unwrap_or_default().to_uppercase(),
            args: words.collect(),
        }
    }
}

fn parse(text: &str) -> Option<Line> {
    // An address may hold brackets ([::1]:5000) and a path may hold blanks.
    let (head, words) = text.split_once("] \"")?;
    let (_time, source) = head.split_once(" [")?;
    let (db, client) = source.split_once(' ')?;
    let words = unquote(words.as_bytes())?;
    Some(Line {
        db: db.parse().ok()?,
        client: client.to_owned(),
        words,
    })
}

/// The words of `GET" "key"`, the first quote of which has been taken.
fn unquote(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word = Vec::new();
    let mut rest = text;
    loop {
        match rest {
            [b'"'] => {
                words.push(word);
                return Some(words);
            }
            [b'"', b' ', b'"', after @ ..] => {
                words.push(std::mem::take(&mut word));
                rest = after;
            }
            [b'\\', b'x', high, low, after @ ..] => {
                word.push(hex(*high)? << 4 | hex(*low)?);
                rest = after;
            }
            [b'\\', escaped, after @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'a' => 7,
                    b'b' => 8,
                    b'"' | b'\\' => *escaped,
                    _ => return None,
                });
                rest = after;
            }
            [b'"', ..] | [] => return None,
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
