//! What a server says of itself, as far as it matters to locks.

use std::time::Duration;

use crate::clock::{self, Moment};
use crate::exchange::{Call, Exchange, Reply};
use crate::link::{Failure, Servers, Wire};
use crate::observe::Warned;

/// Asks for how long the server has been up.
pub(crate) fn uptime() -> Exchange<Duration> {
    Exchange::one(Call::command("INFO").arg("server"), |reply| {
        let info = reply.text()?;
        field(&info, "uptime_in_seconds")
            .and_then(|seconds| seconds.parse().ok())
            .map(Duration::from_secs)
            .ok_or_else(|| Reply::Nil.misfit("an uptime"))
    })
}

/// Asks for the eviction policy, if there is one that may drop keys.
pub(crate) fn eviction() -> Exchange<Option<String>> {
    Exchange::one(Call::command("INFO").arg("memory"), |reply| {
        Ok(dropping_policy(&reply.text()?).map(str::to_owned))
    })
}

/// The policy by which a full server drops keys; `None` where it never does.
pub(crate) fn dropping_policy(info: &str) -> Option<&str> {
    field(info, "maxmemory_policy").filter(|policy| *policy != "noeviction")
}

/// The value of a field of INFO.
pub(crate) fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(field, value)| (field == name).then(|| value.trim()))
}

pub(crate) fn warn_of_eviction(wire: &Wire, policy: &str) {
    let address = wire.endpoint.address();
    let warning = format!(
        "maxmemory-policy is {policy}: a full server drops keys that end soon first, and those \
         are the locks; use noeviction"
    );
    let warning = &*warning;
    wire.watched
        .tell(|observer| observer.warned(&Warned { address, warning }));
}

/// Whether a server was started anew after `since`: it has not been up for as long.
///
/// It says for how many whole seconds it has been up. Where that leaves it open, a connection that
/// broke after `since` tells a restart from a deletion on a server that is young.
pub(crate) fn was_forgotten(
    servers: &Servers,
    since: Moment,
    uptimes: impl FnOnce() -> Vec<Result<Duration, Failure>>,
) -> bool {
    let elapsed = clock::now().since(since);
    let mut said = servers.wires().into_iter().zip(uptimes());
    said.any(|(wire, up)| {
        let Ok(up) = up else {
            return false;
        };
        let surely = up + Duration::from_secs(1) <= elapsed;
        surely || up <= elapsed && wire.was_in_trouble(since)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let info = "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n";
        assert_eq!(field(info, "maxmemory"), Some("0"));
        assert_eq!(field(info, "memory_policy"), None);
        assert_eq!(dropping_policy(info), Some("allkeys-lru"));
        assert_eq!(dropping_policy("maxmemory_policy:noeviction\r\n"), None);
        assert_eq!(dropping_policy(""), None);
    }
}
