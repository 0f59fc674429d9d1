//! Other people's locks, as the harness of `benches/contention.rs` drives them:
//! `leasehold-rivals KIND WHERE`. Each is set up as its documentation says, and says how.

#[cfg(feature = "postgres")]
mod postgres;
mod redlock;
mod rlock;
#[path = "../../worker/mod.rs"]
mod worker;

use std::env;
use std::process::ExitCode;

use worker::serve;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    // The harness adds the URL of its server, which is of use to those that speak to Redis.
    let served = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rlock", url] => serve(&rlock::Manager::new(url, None)),
        ["rlock-timeout", url] => serve(&rlock::Manager::new(url, Some(rlock::TIMEOUT))),
        ["redlock", url] => serve(&redlock::Manager::new(url)),
        #[cfg(feature = "postgres")]
        ["postgres-row", at, _] => serve(&postgres::Rows::new(&at.replace(',', " "))),
        #[cfg(feature = "postgres")]
        ["postgres-for-update", at, _] => serve(&postgres::ForUpdate::new(&at.replace(',', " "))),
        _ => {
            eprintln!("there is no such kind: {words:?}");
            return ExitCode::FAILURE;
        }
    };
    if served.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What went wrong, in a line.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string().replace('\n', " ")
}
