//! What was shown and measured: a line each, which `scripts/interop` prints as a table.

use std::{env, fs::OpenOptions, io::Write, time::Duration};

/// Notes a line: beside whom, what has been shown, and what was measured.
pub(crate) fn note(beside: &str, shown: &str, measured: &str) {
    let line = format!("{beside:<16}  {shown:<58}  {measured}");
    let line = line.trim_end();
    match env::var_os("LEASEHOLD_INTEROP_TABLE") {
        Some(table) => {
            let table = OpenOptions::new().create(true).append(true).open(table);
            let mut table = table.expect("the table can be written");
            writeln!(table, "{line}").expect("the table can be written");
        }
        None => println!("{line}"),
    }
}

/// Times taken, from the shortest to the longest.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(nanos: impl IntoIterator<Item = u64>) -> Times {
        let mut times: Vec<_> = nanos.into_iter().map(Duration::from_nanos).collect();
        assert!(!times.is_empty(), "nothing was measured");
        times.sort_unstable();
        Times(times)
    }

    /// The time within which so many of a hundred came.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0[rank.max(1) - 1]
    }

    pub(crate) fn in_words(&self) -> String {
        format!(
            "p50 {}, p90 {}, longest {} of {}",
            millis(self.percentile(50)),
            millis(self.percentile(90)),
            millis(self.percentile(100)),
            self.0.len()
        )
    }
}

pub(crate) fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}
