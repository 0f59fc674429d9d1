//! What locks cost that others want too: processes, threads and names, beside baselines and other
//! people's locks, each measured in the same way and in the same run.
//!
//! ```text
//! cargo bench --bench contention                  two minutes
//! cargo bench --bench contention -- --full        longer, and the large cases
//!     --only fight                                one of the tables: cycle, rival, fight, waiters,
//!                                                 names, watchdog
//!     --out FILE                                  the figures as lines of JSON, for the report
//!     --rival 'ID|TITLE|PROGRAM ARG..'            somebody else's lock: a program that does as
//!                                                 benches/worker/mod.rs says
//! ```
//!
//! Every holder changes a number in a file that nothing else guards, so that a lock that lets two in
//! is found out, and shown as such.

#![allow(
    clippy::disallowed_methods,
    reason = "it measures by a clock that all processes share, and its work is to sleep"
)]
#![allow(unreachable_pub, reason = "a program, of several modules")]
#![allow(
    clippy::cast_precision_loss,
    reason = "figures for people: 53 bits are plenty"
)]

#[path = "contention/args.rs"]
mod args;
#[path = "contention/fights.rs"]
mod fights;
#[path = "contention/kinds.rs"]
mod kinds;
#[path = "contention/pairs.rs"]
mod pairs;
#[path = "contention/player.rs"]
mod player;
#[path = "contention/record.rs"]
mod record;
#[path = "contention/rivals.rs"]
mod rivals;
mod support;
#[path = "contention/watchdog.rs"]
mod watchdog;
mod worker;

use std::env;

use args::Args;
use record::Records;
use support::rows::Servers;

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", id, url] => kinds::serve(id, url),
        ["watchdog", url, leases, lease, window] => watchdog::hold(url, leases, lease, window),
        _ => measure(&Args::parse(&words)),
    }
}

fn measure(args: &Args) {
    let servers = Servers::start();
    let mut records = Records::new(args.out.as_deref());
    record::server(&mut records, &servers);
    fights::calibrate(servers.found());
    if args.wants("cycle") {
        pairs::measure(&mut records, &servers, args);
    }
    let standing = if args.wants("rival") {
        rivals::measure(&mut records, &servers, args)
    } else {
        args.rivals.clone()
    };
    let field = fights::Field::new(&servers, standing);
    if args.wants("fight") {
        field.fights(&mut records, args);
    }
    if args.wants("waiters") {
        field.waiters(&mut records, args);
    }
    if args.wants("names") {
        field.names(&mut records, args);
    }
    if args.wants("watchdog") {
        watchdog::measure(&mut records, servers.found(), args);
    }
    records.finish();
}
