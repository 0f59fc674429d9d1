//! Other people's locks: whether they are locks, and what an uncontended cycle of theirs costs, in
//! turns with one of ours.

use std::time::Duration;

use crate::args::{Args, Rival};
use crate::kinds::BASELINES;
use crate::pairs::{quantile, ratios, sorted};
use crate::player::Player;
use crate::record::{Record, Records};
use crate::support::harness::{Monitor, Server};
use crate::support::rows::Servers;

/// How long a second process is watched while a first one is inside.
const OUTSIDE: Duration = Duration::from_millis(300);

/// Cycles in a row before the other one has its turn.
const BATCH: u64 = 25;

/// Measures every rival and every baseline; the rivals that are locks, to be fought with.
pub fn measure(records: &mut Records, servers: &Servers, args: &Args) -> Vec<Rival> {
    let server = servers.found();
    for baseline in &BASELINES {
        let start = || Player::ours(baseline.id, &server.url());
        let titles = (baseline.id, baseline.title, "baseline");
        rival(records, server, args, titles, baseline.crosses, &start);
    }
    let mut standing = args.rivals.clone();
    standing.retain(|other| {
        let start = || Player::rival(other, &server.url());
        let titles = (other.id.as_str(), other.title.as_str(), "rival");
        rival(records, server, args, titles, true, &start)
    });
    standing
}

/// Measures one; whether it passed its check.
fn rival(
    records: &mut Records,
    server: &Server,
    args: &Args,
    (id, title, kind): (&str, &str, &str),
    crosses: bool,
    start: &dyn Fn() -> Player,
) -> bool {
    records.progress(title);
    // What one leaves behind under a name keeps another one out of it.
    let _: String = server.command(&["FLUSHALL"]);
    let settings = start().ask("settings", "settings");
    let check = if crosses { excludes(start) } else { Ok(()) };
    let cycle = check.clone().and_then(|()| turns(server, args, start));
    let said = match (&check, &cycle) {
        (Ok(()), Ok(_)) => "passed".to_owned(),
        (Err(fault), _) | (_, Err(fault)) => format!("failed: {fault}"),
    };
    let (ours, theirs, commands) = cycle.unwrap_or_default();
    let record = Record::new("rival")
        .shown("id", id)
        .text("title", title)
        .text("kind", kind)
        .text("settings", settings.as_deref().unwrap_or("it does not say"))
        .shown("check", &said)
        .told("p50_us", quantile(&sorted(&theirs), 0.5) / 1e3)
        .figure("token_p50_us", quantile(&sorted(&ours), 0.5) / 1e3)
        .told("ratio_token", quantile(&ratios(&theirs, &ours), 0.5))
        .told("commands", commands);
    records.add(&record);
    said == "passed"
}

/// While one process is inside another stays outside, and enters afterwards.
fn excludes(start: &dyn Fn() -> Player) -> Result<(), String> {
    let (mut first, mut second) = (start(), start());
    second.cycles("check-warm-up", 1)?; // has dialled, and started whatever it starts
    first.ask("check check", "inside")?;
    second.tell("cycle check 1");
    if second.hear_within(OUTSIDE)?.is_some() {
        return Err("two were inside at once".to_owned());
    }
    first.ask("leave", "outside")?;
    second.hear()?; // that it went in
    Ok(())
}

type Turns = (Vec<f64>, Vec<f64>, Option<f64>);

/// Batches of cycles, in turns with ours: our medians, theirs, and how many commands a cycle of
/// theirs was.
fn turns(server: &Server, args: &Args, start: &dyn Fn() -> Player) -> Result<Turns, String> {
    let (mut we, mut they) = (Player::ours("token@default", &server.url()), start());
    we.cycles("turns-ours", BATCH)?;
    they.cycles("turns-theirs", BATCH)?;
    let mut monitor = Monitor::of(server);
    they.cycles("turns-theirs", BATCH)?;
    let commands = monitor.take().len() as f64 / BATCH as f64;
    drop(monitor);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..args.pick(20, 100) {
        ours.push(we.cycles("turns-ours", BATCH)?);
        theirs.push(they.cycles("turns-theirs", BATCH)?);
    }
    Ok((ours, theirs, (commands > 0.0).then_some(commands)))
}
