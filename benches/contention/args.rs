//! What the harness is asked for.

use std::path::PathBuf;

/// The arguments.
#[derive(Debug)]
pub struct Args {
    pub full: bool,
    pub out: Option<PathBuf>,
    pub rivals: Vec<Rival>,
    only: Option<String>,
}

/// Somebody else's lock: a program of its own.
#[derive(Debug, Clone)]
pub struct Rival {
    pub id: String,
    pub title: String,
    /// The program and its arguments; the server's URL is added.
    pub command: Vec<String>,
}

impl Args {
    pub fn parse(words: &[String]) -> Args {
        let mut args = Args {
            full: false,
            out: None,
            rivals: Vec::new(),
            only: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} of what?"));
            match word.as_str() {
                "--full" => args.full = true,
                "--out" => args.out = Some(value().into()),
                "--only" => args.only = Some(value().clone()),
                "--rival" => args.rivals.push(Rival::parse(value())),
                "--bench" => {} // cargo says so
                word => panic!("what is {word}? See the head of benches/contention.rs"),
            }
        }
        args
    }

    pub fn wants(&self, table: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == table)
    }

    /// The figure of a quick run, or of a full one.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }
}

impl Rival {
    fn parse(text: &str) -> Rival {
        let parts: Vec<_> = text.split('|').collect();
        let [id, title, command] = parts[..] else {
            panic!("{text:?} is not ID|TITLE|PROGRAM ARG..");
        };
        Rival {
            id: id.to_owned(),
            title: title.to_owned(),
            command: command.split_whitespace().map(str::to_owned).collect(),
        }
    }
}
