//! Legacy clients, one for each dialect, as their sources have them: raw commands, numbers as lax
//! as their languages read them, and nothing of the crate under test.

use std::time::Duration;

use redis::Connection;

use crate::ground::wire::wall;

/// How a family of clients counts, compares, takes over and releases.
struct Rules {
    print: fn(f64, f64, &str) -> Vec<u8>,
    read: fn(&[u8]) -> f64,
    /// What the client's own clock says, in its unit.
    now: fn(f64) -> f64,
    at_most: bool,
    win: Win,
    free: Free,
}

#[derive(PartialEq)]
enum Win {
    Passed,
    Same,
    Transaction,
}

#[derive(PartialEq)]
enum Free {
    Del,
    DelBeforeEnd,
    DelUnlessExpired,
    Compare,
    AtLeastMine,
}

/// `to_i`, `parseInt`: the digits at the beginning.
fn whole(text: &[u8]) -> f64 {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0.0, |number, digit| number * 10.0 + f64::from(digit - b'0'))
}

/// `to_f`, `float()`.
fn float(text: &[u8]) -> f64 {
    let text = std::str::from_utf8(text).unwrap_or("0");
    text.parse().unwrap_or(0.0)
}

fn behind_colon(text: &[u8]) -> f64 {
    whole(text.split(|byte| *byte == b':').next_back().unwrap_or(b"0"))
}

fn bytes(value: &[u8]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "it is a date")]
    value
        .try_into()
        .map_or(0.0, |bytes| i64::from_le_bytes(bytes) as f64)
}

fn text(number: f64) -> Vec<u8> {
    format!("{number:.0}").into_bytes()
}

/// As Python's `repr` and Ruby's `to_s`.
fn repr(number: f64) -> Vec<u8> {
    format!("{number:?}").into_bytes()
}

fn rules(dialect: &str) -> Rules {
    let seconds = Rules {
        print: |now, lease, _| text(now.floor() + lease + 1.0),
        read: whole,
        now: f64::floor,
        at_most: false,
        win: Win::Passed,
        free: Free::DelUnlessExpired,
    };
    let millis = || Rules {
        print: |now, lease, _| text((now * 1e3).floor() + lease * 1e3 + 1.0),
        now: |now| (now * 1e3).floor(),
        win: Win::Same,
        ..rules("seconds")
    };
    let float = || Rules {
        print: |now, lease, _| repr(now + lease + 1.0),
        read: float,
        now: |now| now,
        ..rules("seconds")
    };
    let free = |free, rules| Rules { free, ..rules };
    match dialect {
        "seconds" => seconds,
        "redis_docs" => free(Free::Del, seconds),
        "java_millis" => millis(),
        "jedis_lock" => free(Free::Del, millis()),
        "jedis_lock_2015" => Rules {
            print: |now, lease, me| {
                let end = (now * 1e3).floor() + lease * 1e3 + 1.0;
                format!("{me}:{end:.0}").into_bytes()
            },
            read: behind_colon,
            free: Free::Del,
            ..millis()
        },
        "redis_py_24" => Rules {
            print: |now, lease, _| repr(now.floor() + lease),
            now: f64::floor,
            free: Free::AtLeastMine,
            ..float()
        },
        "redis_py_28" => Rules {
            print: |now, lease, _| repr(now + lease),
            free: Free::AtLeastMine,
            ..float()
        },
        "redis_objects" => float(),
        "redis_mutex" => Rules {
            print: |now, lease, _| repr(now + lease),
            at_most: true,
            free: Free::Compare,
            ..float()
        },
        "redis_lock_ruby" => Rules {
            print: |now, lease, me| format!("{:.0}-{me}-7", now.floor() + lease + 1.0).into_bytes(),
            win: Win::Same,
            free: Free::Compare,
            ..seconds
        },
        "resque_lock_timeout" => Rules {
            print: |now, lease, _| text(now.floor() + lease),
            ..seconds
        },
        "servicestack_lock" => Rules {
            at_most: true,
            win: Win::Transaction,
            free: Free::Del,
            ..millis()
        },
        "servicestack_distributed_lock" => Rules {
            #[allow(clippy::cast_possible_truncation, reason = "as in C#")]
            print: |now, lease, _| ((now + lease + 1.5) as i64).to_le_bytes().to_vec(),
            read: bytes,
            win: Win::Transaction,
            free: Free::Compare,
            ..seconds
        },
        "redis_lock_npm" | "faye_redis" => Rules {
            at_most: true,
            free: Free::DelBeforeEnd,
            ..millis()
        },
        "retools" | "redis_semaphore" => Rules {
            win: Win::Same,
            free: Free::DelBeforeEnd,
            ..float()
        },
        other => panic!("{other} has no emulation"),
    }
}

/// A client, which has one lock at most.
pub(crate) struct Legacy {
    rules: Rules,
    connection: Connection,
    lease: f64,
    skew: f64,
    me: String,
    mine: Vec<u8>,
}

impl Legacy {
    /// A client whose clock is ahead by `skew` seconds.
    pub(crate) fn new(dialect: &str, connection: Connection, lease: Duration, skew: f64) -> Legacy {
        Legacy {
            rules: rules(dialect),
            connection,
            lease: lease.as_secs_f64(),
            skew,
            me: std::process::id().to_string(),
            mine: Vec::new(),
        }
    }

    fn clock(&self) -> f64 {
        wall().as_secs_f64() + self.skew
    }

    pub(crate) fn ask<T: redis::FromRedisValue>(&mut self, name: &str, args: &[&[u8]]) -> T {
        let mut command = redis::cmd(name);
        for arg in args {
            command.arg(*arg);
        }
        command.query(&mut self.connection).expect("it answers")
    }

    fn passed(&self, value: Option<&[u8]>) -> bool {
        let (end, now) = (
            value.map_or(0.0, self.rules.read),
            (self.rules.now)(self.clock()),
        );
        end < now || self.rules.at_most && end <= now
    }

    fn stamp(&self) -> Vec<u8> {
        (self.rules.print)(self.clock(), self.lease, &self.me)
    }

    /// One try to have the lock.
    pub(crate) fn take(&mut self, key: &[u8]) -> bool {
        self.mine = self.stamp();
        let mine = self.mine.clone();
        if self.ask::<bool>("SETNX", &[key, &mine]) {
            return true;
        }
        if self.rules.win == Win::Transaction {
            return self.take_over_in_a_transaction(key);
        }
        let read: Option<Vec<u8>> = self.ask("GET", &[key]);
        let vanished = read.is_none() && self.rules.win == Win::Same;
        if vanished || !self.passed(read.as_deref()) {
            return false;
        }
        self.mine = self.stamp();
        let mine = self.mine.clone();
        let old: Option<Vec<u8>> = self.ask("GETSET", &[key, &mine]);
        match self.rules.win {
            Win::Same => old == read,
            _ => self.passed(old.as_deref()),
        }
    }

    fn take_over_in_a_transaction(&mut self, key: &[u8]) -> bool {
        let () = self.ask("WATCH", &[key]);
        let read: Option<Vec<u8>> = self.ask("GET", &[key]);
        if !self.passed(read.as_deref()) {
            let () = self.ask("UNWATCH", &[]);
            return false;
        }
        self.mine = self.stamp();
        let mine = self.mine.clone();
        let () = self.ask("MULTI", &[]);
        let () = self.ask("SET", &[key, &mine]);
        self.ask::<Option<Vec<String>>>("EXEC", &[]).is_some()
    }

    pub(crate) fn release(&mut self, key: &[u8]) {
        let found: Option<Vec<u8>> = match self.rules.free {
            Free::Del | Free::DelBeforeEnd => None,
            _ => self.ask("GET", &[key]),
        };
        let found = found.as_deref();
        let deletes = match self.rules.free {
            Free::Del => true,
            Free::DelBeforeEnd => !self.passed(Some(&self.mine)),
            Free::DelUnlessExpired => !self.passed(found),
            Free::Compare => found == Some(&*self.mine),
            Free::AtLeastMine => {
                found.map_or(0.0, self.rules.read) >= (self.rules.read)(&self.mine)
            }
        };
        if deletes {
            let _: i64 = self.ask("DEL", &[key]);
        }
    }

    /// Leaves the lock as one who died holding it, a minute ago.
    pub(crate) fn die_long_ago(&mut self, key: &[u8]) {
        let long_ago = (self.rules.print)(self.clock() - 60.0, self.lease, &self.me);
        let () = self.ask("SET", &[key, &long_ago]);
    }
}
