//! The dialects that are known, each as its clients wrote it.

use std::time::Duration;

use super::{Dialect, Part, Passed, Release, Unit, Won};

/// As many digits as a clock in microseconds gives.
const FLOAT: Unit = Unit::FloatSeconds { digits: 6 };

macro_rules! presets {
    ($(
        $(#[$doc:meta])+
        $name:ident = ($unit:expr, $slack_ms:literal, $passed:ident, $won:ident, $release:ident)
            $(, $more:ident = $value:expr)*;
    )+) => {
        impl Dialect {$(
            $(#[$doc])+
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("let dialect = leasehold::strategy::Dialect::", stringify!($name), "();")]
            #[doc = concat!("assert_eq!(dialect.name(), \"", stringify!($name), "\");")]
            /// ```
            pub fn $name() -> Self {
                Self {
                    name: stringify!($name),
                    slack: Duration::from_millis($slack_ms),
                    passed: Passed::$passed,
                    won: Won::$won,
                    release: Release::$release,
                    $($more: $value,)*
                    ..Self::custom($unit)
                }
            }
        )+

            /// Every dialect that is known.
            ///
            /// # Examples
            ///
            /// ```
            /// let names: Vec<_> = leasehold::strategy::Dialect::all()
            ///     .iter()
            ///     .map(leasehold::strategy::Dialect::name)
            ///     .collect();
            /// assert!(names.contains(&"jedis_lock"));
            /// ```
            pub fn all() -> Vec<Self> {
                vec![$(Self::$name()),+]
            }
        }
    };
}

presets! {
    /// Whole seconds, `now + lease + 1`; won where the replaced stamp had passed; released by
    /// GET, and DEL where what stands there has not passed.
    ///
    /// The careful form of the algorithm in the documentation of SETNX.
    seconds = (Unit::Seconds, 1_000, Below, Passed, Unexpired);

    /// Whole seconds, `now + lease + 1`, released by a plain DEL: the algorithm as the
    /// documentation of SETNX had it.
    redis_docs = (Unit::Seconds, 1_000, Below, Passed, Always);

    /// Milliseconds, `now + lease + 1`; won where the replaced stamp is the very string that
    /// was read; released by GET, and DEL where what stands there has not passed.
    ///
    /// The more careful ones of many copies in Java, whose keys often end in `_lock`. Those that
    /// write `expires<sep>host<sep>uuid` are this with
    /// [`owner_after`](Dialect::owner_after).
    java_millis = (Unit::Millis, 1, Below, Same, Unexpired);

    /// jedis-lock 1.0.0 and hundreds of copies of it: as
    /// [`java_millis`](Dialect::java_millis), released by DEL where a flag says that it was
    /// had.
    jedis_lock = (Unit::Millis, 1, Below, Same, Always);

    /// jedis-lock of 2015: `uuid:1369146405124`. It takes over what it cannot read.
    jedis_lock_2015 = (Unit::Millis, 1, Below, Same, Always), part = Part::Before(':');

    /// redis-py 2.4.6 to 2.7.6: a float of whole seconds, `1369146405.0`; for ever is
    /// `2147483649.0`.
    redis_py_24 = (Unit::FloatSeconds { digits: 0 }, 0, Below, Passed, AtLeastMine),
        forever = &["2147483649.0", "2147483649"];

    /// redis-py 2.8.0 to 2.9.1: seconds with up to six digits behind the point; for ever is
    /// `2147483649.0`.
    redis_py_28 = (FLOAT, 0, Below, Passed, AtLeastMine),
        forever = &["2147483649.0", "2147483649"];

    /// redis-objects up to 1.4.1 (Ruby): float seconds, `now + lease + 1`; for ever is `1`.
    redis_objects = (FLOAT, 1_000, Below, Passed, Unexpired), forever = &["1", "1.0"];

    /// redis-mutex (Ruby): float seconds, `now + lease`; passed at the very end.
    redis_mutex = (FLOAT, 0, AtMost, Passed, Same);

    /// redis-lock (Ruby, `lock:<key>`): `<seconds>-<pid>-<thread>`.
    redis_lock_ruby = (Unit::Seconds, 1_000, Below, Same, Same), part = Part::After('-');

    /// resque-lock-timeout (Ruby): whole seconds, `now + lease`; for ever is `true`.
    resque_lock_timeout = (Unit::Seconds, 0, Below, Passed, Unexpired), forever = &["true"];

    /// `RedisLock` of `ServiceStack` (C#): milliseconds, taken over in a transaction, released
    /// by a plain DEL.
    servicestack_lock = (Unit::Millis, 1, AtMost, Unchanged, Always);

    /// `DistributedLock` of `ServiceStack` (C#): eight bytes of whole seconds, `now + lease +
    /// 1.5`, taken over in a transaction.
    servicestack_distributed_lock = (Unit::LittleEndianSeconds, 1_500, Below, Unchanged, Same);

    /// redis-lock of npm before 0.1 (JavaScript, `lock.<key>`): milliseconds; passed at the
    /// very end.
    redis_lock_npm = (Unit::Millis, 1, AtMost, Same, BeforeItsEnd);

    /// faye-redis (`<namespace>/locks/gc`): milliseconds, passed at the very end.
    faye_redis = (Unit::Millis, 1, AtMost, Same, BeforeItsEnd);

    /// retools up to 0.2 (Python), and the blog posts and snippets around it, which release by
    /// a plain DEL: float seconds, `now + lease + 1`.
    retools = (FLOAT, 1_000, Below, Same, BeforeItsEnd);

    /// The inner lock of redis-semaphore (Ruby, `SEMAPHORE:x:release_locks`): float seconds
    /// of the server's clock.
    redis_semaphore = (FLOAT, 1_000, Below, Same, BeforeItsEnd), server_clock = true;
}
