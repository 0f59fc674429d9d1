//! The other side of a lock: what a foreign client of the same protocol would write.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::Server;

/// What stands under the name of a lock that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A string that nobody else has: `SET name value NX PX lease`.
    Text,
    /// A hash of owner and count, as Redisson keeps it.
    Hash,
    /// The end of the lease as a time stamp in whole seconds.
    Seconds,
    /// The same in milliseconds.
    Millis,
}

/// The field that another Redisson client has in the hash.
pub const STRANGER: &str = "3f1c9c1e-6f0f-4d7e-9a52-0d8d3a9c6f55:89";

impl Wire {
    /// Writes that somebody else holds the lock, whoever held it before.
    pub fn seize(self, server: &Server, name: &str, lease: Duration) {
        let _: redis::Value = server.command(&["DEL", name]);
        assert!(self.try_take(server, name, lease), "{name} is free");
    }

    /// Takes the lock as a foreign client does, if it is free; never takes over.
    pub fn try_take(self, server: &Server, name: &str, lease: Duration) -> bool {
        let millis = lease.as_millis().to_string();
        match self {
            Wire::Text => server
                .command::<Option<String>>(&["SET", name, "somebody else", "NX", "PX", &millis])
                .is_some(),
            Wire::Hash => {
                if server.command::<bool>(&["EXISTS", name]) {
                    return false;
                }
                let _: i64 = server.command(&["HINCRBY", name, STRANGER, "1"]);
                server.command(&["PEXPIRE", name, &millis])
            }
            Wire::Seconds | Wire::Millis => {
                server.command(&["SETNX", name, &self.stamp(wall() + lease)])
            }
        }
    }

    /// The end of a lock as a legacy client writes it, later by its one unit of slack.
    pub fn stamp(self, end: Duration) -> String {
        match self {
            Wire::Seconds => (end.as_secs() + 1).to_string(),
            Wire::Millis => (end.as_millis() + 1).to_string(),
            Wire::Text | Wire::Hash => panic!("{self:?} has no stamps"),
        }
    }

    /// Puts something under the name that is no lock of this protocol, once for each other type,
    /// and runs `look` with the name of that type.
    pub fn each_other_type(self, server: &Server, name: &str, mut look: impl FnMut(&str)) {
        let all: [(&str, &[&str]); 6] = [
            ("string", &["SET", name, "x"]),
            ("list", &["RPUSH", name, "x"]),
            ("set", &["SADD", name, "x"]),
            ("zset", &["ZADD", name, "1", "x"]),
            ("hash", &["HSET", name, "x", "1"]),
            ("stream", &["XADD", name, "1-1", "x", "1"]),
        ];
        let ours = match self {
            Wire::Hash => "hash",
            Wire::Text | Wire::Seconds | Wire::Millis => "string",
        };
        for (kind, command) in all.into_iter().filter(|(kind, _)| *kind != ours) {
            let _: redis::Value = server.command(&["DEL", name]);
            let _: redis::Value = server.command(command);
            look(kind);
        }
    }
}

/// The wall clock, which this machine shares with its servers.
pub fn wall() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("it is later than 1970")
}
