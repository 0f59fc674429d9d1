//! Exchanges run by hand: what the crate does with them, without the crate.

use leasehold::{Answer, Call, Exchange, Fault, Reply, ServerError, Step, WallTime};
use redis::Value;

use super::wire::wall;
use crate::common::Server;

/// Runs `exchange` on a new connection to `server`. Its scripts must be known there: they are once
/// a client has used them.
///
/// # Panics
///
/// If it ends in a fault.
#[track_caller]
pub fn ask<T>(server: &Server, exchange: Exchange<T>) -> T {
    try_ask(server, exchange).expect("the server's answers can be read")
}

/// As [`ask`], with the fault it ends in.
pub fn try_ask<T>(server: &Server, mut exchange: Exchange<T>) -> Result<T, Fault> {
    let mut connection = server.connection();
    loop {
        let reply = match command(exchange.call()).query(&mut connection) {
            Ok(value) => reply(value),
            Err(error) => refusal(&error),
        };
        match exchange.answer(Answer::new(reply, WallTime::from_epoch(wall())))? {
            Step::Done(result) => return Ok(result),
            Step::Ask(next) => exchange = next,
        }
    }
}

fn command(call: &Call) -> redis::Cmd {
    let mut command = redis::cmd(call.name());
    if let Some(script) = call.called() {
        command.arg(script.sha()).arg(call.keys().len());
    }
    for part in call.keys().iter().chain(call.args()) {
        command.arg(part.as_slice());
    }
    command
}

fn reply(value: Value) -> Reply {
    match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::BulkString(bytes) => Reply::Bytes(bytes),
        Value::SimpleString(text) => Reply::Status(text),
        Value::Okay => Reply::Status("OK".to_owned()),
        Value::Array(items) => Reply::Array(items.into_iter().map(reply).collect()),
        other => panic!("a lock is not answered with {other:?}"),
    }
}

fn refusal(error: &redis::RedisError) -> Reply {
    let code = error.code().unwrap_or_else(|| panic!("{error}"));
    Reply::Error(ServerError::new(code, error.detail().unwrap_or_default()))
}

/// Runs `exchange` where each question is answered by the next of `replies`, at the same moment.
///
/// # Panics
///
/// If there are fewer than it asks questions.
pub fn answer_all<T>(mut exchange: Exchange<T>, replies: &[Reply]) -> Result<T, Fault> {
    let at = WallTime::from_epoch(wall());
    for reply in replies {
        match exchange.answer(Answer::new(reply.clone(), at))? {
            Step::Done(result) => return Ok(result),
            Step::Ask(next) => exchange = next,
        }
    }
    panic!("it asks more than {} questions", replies.len());
}
