//! The Redis protocol, as far as a proxy must know it: where a message ends, what it is called.

use std::{collections::VecDeque, io::Read};

/// Reads a stream message by message.
pub struct Frames<R> {
    stream: R,
    buffer: Vec<u8>,
}

impl<R: Read> Frames<R> {
    pub fn of(stream: R) -> Frames<R> {
        Frames {
            stream,
            buffer: Vec::new(),
        }
    }

    /// The bytes of the next whole message; `None` when the stream has ended.
    pub fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(length) = frame(&self.buffer) {
                let rest = self.buffer.split_off(length);
                return Some(std::mem::replace(&mut self.buffer, rest));
            }
            let mut chunk = [0; 16 * 1024];
            let read = self.stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
            self.buffer.extend_from_slice(&chunk[..read]);
        }
    }
}

/// The length of the message that `bytes` begin with, if it is there to its end.
fn frame(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|pair| pair == b"\r\n")? + 2;
    let nested = match bytes[0] {
        b'$' | b'!' | b'=' => {
            let end = count(bytes).map_or(line, |length| line + length + 2);
            return (bytes.len() >= end).then_some(end);
        }
        b'*' | b'~' | b'>' => count(bytes).unwrap_or(0),
        b'%' => 2 * count(bytes)?,
        b'|' => 2 * count(bytes)? + 1, // an attribute goes before what it belongs to
        _ => 0,
    };
    let mut end = line;
    for _ in 0..nested {
        end += frame(&bytes[end..])?;
    }
    Some(end)
}

/// The number in a message's first line; `None` of a null (`$-1`).
fn count(bytes: &[u8]) -> Option<usize> {
    let line = bytes[1..].split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.parse().ok()
}

/// The strings a message consists of, as lossy text; others than strings are given as they are
/// written (`:1`).
fn words(bytes: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = bytes;
    while let Some(line) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let text = match (rest[0], count(rest)) {
            (b'*' | b'~' | b'>' | b'%' | b'|', _) => None,
            (b'$' | b'!' | b'=', Some(length)) => Some(&rest[line + 2..line + 2 + length]),
            (b'+', _) => Some(&rest[1..line]),
            _ => Some(&rest[..line]),
        };
        words.extend(text.map(|text| String::from_utf8_lossy(text).into_owned()));
        let bulk = matches!(rest[0], b'$' | b'!' | b'=') && count(rest).is_some();
        rest = &rest[line
            + 2
            + if bulk {
                text.map_or(0, <[u8]>::len) + 2
            } else {
                0
            }..];
    }
    words
}

/// The direction in which a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Request,
    Reply,
}

/// A request or a reply on its way through the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub way: Way,
    /// In capitals: the command requested, or the one that the reply is to. Empty if the message
    /// answers nothing, as a published one does.
    pub command: String,
    /// All strings of the message, the command included.
    pub words: Vec<String>,
}

impl Message {
    /// Whether the server has sent this by itself.
    pub fn is_push(&self) -> bool {
        self.command.is_empty()
    }
}

/// Knows what the replies on one connection are replies to.
#[derive(Debug, Default)]
pub struct Dialogue {
    pending: VecDeque<String>,
    subscribes: bool,
}

impl Dialogue {
    pub fn request(bytes: &[u8]) -> Message {
        let words = words(bytes);
        let command = words
            .first()
            .map(|word| word.to_uppercase())
            .unwrap_or_default();
        Message {
            way: Way::Request,
            command,
            words,
        }
    }

    /// Notes that a request goes to the server.
    pub fn sent(&mut self, request: &Message) {
        let subscribes = request.command.ends_with("SUBSCRIBE");
        self.subscribes |= subscribes;
        // A subscription is confirmed channel by channel.
        let replies = if subscribes {
            (request.words.len() - 1).max(1)
        } else {
            1
        };
        self.pending
            .extend(std::iter::repeat_n(request.command.clone(), replies));
    }

    pub fn reply(&mut self, bytes: &[u8]) -> Message {
        let words = words(bytes);
        let kind = words.first().map(String::as_str).unwrap_or_default();
        let published = matches!(kind, "message" | "pmessage" | "smessage");
        let push = match bytes[0] {
            b'>' => !kind.ends_with("subscribe"),
            b'*' => self.subscribes && published,
            _ => false,
        };
        let answers = if push { None } else { self.pending.pop_front() };
        Message {
            way: Way::Reply,
            command: answers.unwrap_or_default(),
            words,
        }
    }
}
