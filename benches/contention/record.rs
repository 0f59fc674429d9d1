//! Figures, as lines of JSON for the report and as lines of text for who watches.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write, stderr};
use std::path::Path;

use crate::support::harness::Server;
use crate::support::rows::Servers;

/// Where the figures go.
pub struct Records {
    out: Option<BufWriter<File>>,
    shows_progress: bool,
}

/// One line of figures.
#[derive(Debug, Clone)]
pub struct Record {
    json: String,
    text: String,
}

impl Record {
    /// A line of that table.
    pub fn new(table: &str) -> Record {
        Record {
            json: format!("{{\"table\":{}", quote(table)),
            text: format!("{table:<9}"),
        }
    }

    pub fn text(mut self, name: &str, value: &str) -> Record {
        let _ = write!(self.json, ",{}:{}", quote(name), quote(value));
        self
    }

    /// Text that is shown as well.
    pub fn shown(mut self, name: &str, value: &str) -> Record {
        let _ = write!(self.text, " {value:<22}");
        self.text(name, value)
    }

    /// A figure. What could not be measured is null.
    pub fn figure(mut self, name: &str, value: impl Into<Option<f64>>) -> Record {
        let value = value.into().filter(|value| value.is_finite());
        let number = value.map_or("null".to_owned(), |value| {
            // Four digits behind the point are a tenth of a nanosecond of a microsecond.
            let number = format!("{value:.4}");
            number
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        });
        let _ = write!(self.json, ",{}:{number}", quote(name));
        self
    }

    /// A figure that is shown as well.
    pub fn told(mut self, name: &str, value: impl Into<Option<f64>>) -> Record {
        let value = value.into().filter(|value| value.is_finite());
        match value {
            Some(value) => write!(self.text, " {name} {value:.2}"),
            None => write!(self.text, " {name} -"),
        }
        .expect("a string takes everything");
        self.figure(name, value)
    }
}

impl Records {
    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn new(path: Option<&Path>) -> Records {
        let out = path.map(|path| {
            let file = File::create(path);
            BufWriter::new(file.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        });
        Records {
            out,
            shows_progress: stderr().is_terminal(),
        }
    }

    /// Says what is being measured, to who looks on.
    pub fn progress(&self, what: &str) {
        if self.shows_progress {
            eprint!("\r\x1b[2K  measuring {what}");
        }
    }

    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn add(&mut self, record: &Record) {
        if self.shows_progress {
            eprint!("\r\x1b[2K");
        }
        println!("{}", record.text.trim_end());
        if let Some(out) = &mut self.out {
            writeln!(out, "{}}}", record.json).expect("the file can be written");
        }
    }

    /// What is not measured, and why not.
    pub fn omit(&mut self, id: &str, why: &str) {
        let record = Record::new("omitted").shown("id", id).shown("why", why);
        self.add(&record);
    }

    pub fn finish(mut self) {
        self.progress("nothing more\n");
        if let Some(out) = &mut self.out {
            out.flush().expect("the file can be written");
        }
    }
}

/// Which servers the figures are of.
pub fn server(records: &mut Records, servers: &Servers) {
    let info = |server: &Server, field: &str| {
        let info: String = server.command(&["INFO", "server"]);
        let line = info.lines().find_map(|line| line.strip_prefix(field));
        line.map(|value| value.trim_start_matches(':').to_owned())
    };
    let named = |server: &Server| {
        let valkey = info(server, "valkey_version").map(|version| format!("Valkey {version}"));
        let redis = info(server, "redis_version").map(|version| format!("Redis {version}"));
        valkey.or(redis).unwrap_or_default()
    };
    let mut record = Record::new("server").shown("name", &named(servers.found()));
    if let Some(valkey) = servers.valkey() {
        record = record.shown("valkey", &named(valkey));
    }
    records.add(&record);
}

fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push(' '),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}
