//! The report: `report.json`, `report.html` and a table on the terminal, of what the benches have
//! written down.
//!
//! ```text
//! leasehold-report make LINES DIRECTORY     writes both files there
//!     --mode quick --command TEXT --began UNIX_SECONDS --version TEXT --criterion DIRECTORY
//! leasehold-report check DIRECTORY          that report.json is as the schema says, and that every
//!                                           figure of report.html is that of report.json
//! ```

mod chart;
mod check;
mod document;
mod format;
mod machine;
mod page;
mod schema;
mod sections;
mod terminal;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What `report.json` is.
const SCHEMA: &str = include_str!("../../report.schema.json");

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let result = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", lines, directory, ref options @ ..] => make(lines, directory, options),
        ["check", directory] => check(directory),
        _ => Err("usage: leasehold-report make LINES DIRECTORY .. | check DIRECTORY".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("leasehold-report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn make(lines: &str, directory: &str, options: &[&str]) -> Outcome<()> {
    let lines = fs::read_to_string(lines).map_err(|error| format!("{lines}: {error}"))?;
    let document = document::assemble(&lines, options)?;
    let directory = Path::new(directory);
    let json = serde_json::to_string_pretty(&document)?;
    fs::write(directory.join("report.json"), json + "\n")?;
    fs::write(directory.join("report.html"), page::render(&document))?;
    print!("{}", terminal::render(&document));
    Ok(())
}

fn check(directory: &str) -> Outcome<()> {
    let directory = Path::new(directory);
    let document: Value = serde_json::from_slice(&fs::read(directory.join("report.json"))?)?;
    let schema: Value = serde_json::from_str(SCHEMA)?;
    let mut complaints = schema::complaints(&schema, &document);
    let page = fs::read_to_string(directory.join("report.html"))?;
    let (figures, differing) = check::differing(&page, &document);
    complaints.extend(differing);
    if complaints.is_empty() {
        println!("report.json is as its schema says; {figures} figures of report.html are its own");
        return Ok(());
    }
    Err(complaints.join("\n    ").into())
}
