//! What an operation on five servers costs, beside the same commands sent to all and read from all
//! by hand. Both take turns in one run; a figure of its own means nothing on a shared machine.
//!
//! `cargo bench --bench redlock`. Fails where it costs more than 1.5 times as much.

#![allow(
    clippy::disallowed_methods,
    reason = "measured by a clock that is not the crate's own"
)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/ground/mod.rs"]
mod ground;

use std::time::{Duration, Instant};

use common::Server;
use ground::Recorder;
use leasehold::{Builder, Call, Client, Exchange, Renewal, strategy::Token};

/// How much an operation may cost of one by hand.
const BAR: f64 = 1.5;

const ROUNDS: usize = 4_000;

/// A connection to each server, and nothing else.
struct Bare(Vec<redis::Connection>);

impl Bare {
    /// Sends a command to all, then reads from all.
    fn ask(&mut self, packed: &[u8]) {
        for connection in &mut self.0 {
            connection.send_packed_command(packed).unwrap();
        }
        for connection in &mut self.0 {
            let reply = connection.recv_response().unwrap();
            assert!(!matches!(reply, redis::Value::ServerError(_)), "{reply:?}");
        }
    }
}

/// The command that `exchange` begins with.
fn pack<T>(exchange: &Exchange<T>) -> Vec<u8> {
    let call: &Call = exchange.call();
    let mut command = redis::cmd(call.name());
    if let Some(script) = call.called() {
        command.arg(script.sha()).arg(call.keys().len());
    }
    for part in call.keys().iter().chain(call.args()) {
        command.arg(part.as_slice());
    }
    command.get_packed_command()
}

fn main() {
    let servers: Vec<_> = (0..5).map(|_| Server::options().tcp().start()).collect();
    let builder = || -> Builder {
        Client::redlock(servers.iter().map(Server::url))
            .quarantine(Duration::ZERO)
            .renewal(Renewal::Off)
            .io_timeout(Duration::from_secs(1))
    };
    let recorder = Recorder::of(Token::default());
    let recorded = builder().strategy(recorder.clone()).build().unwrap();
    drop(recorded.lock("bare").unwrap().acquire().unwrap());
    let acquire = pack(&recorder.acquire_again());
    let leave = pack(&recorder.leave_again());
    let client = builder().build().unwrap();
    let lock = client.lock("lock").unwrap();
    let mut bare = Bare(servers.iter().map(Server::connection).collect());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let held = lock.try_acquire().unwrap().expect("nobody holds it");
        assert!(held.is_held());
        held.release().unwrap();
        ours.push(begun.elapsed());

        let begun = Instant::now();
        bare.ask(&acquire);
        bare.ask(&leave);
        theirs.push(begun.elapsed());
    }
    for server in &servers {
        assert_eq!(server.keys(), [""; 0]);
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("acquire + release on 5 servers: {ours:?}; by hand: {theirs:?}; ratio {ratio:.2}");
    assert!(ratio <= BAR, "the bar is {BAR}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
