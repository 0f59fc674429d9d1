//! The figures that matter most, for who runs it.

use std::fmt::Write;

use serde_json::Value;

use super::format::show;

/// The tables of the terminal: title, table, and a heading, a field and a width per column.
const TABLES: [(&str, &str, &[Column]); 5] = [
    (
        "acquire and release, nobody else wants it",
        "cycles",
        &[
            ("strategy", "title", 20),
            ("", "transport", 5),
            ("p50", "p50_us", 9),
            ("p99", "p99_us", 9),
            ("of connection", "ratio_connection", 13),
            ("of raw", "ratio_raw", 7),
            ("commands", "commands", 8),
        ],
    ),
    (
        "others, as a multiple of Token",
        "others",
        &[
            ("lock", "title", 36),
            ("of Token", "ratio_token", 8),
            ("p50", "p50_us", 9),
            ("commands", "commands", 8),
            ("  check", "check", 0),
        ],
    ),
    (
        "fights",
        "fights",
        &[
            ("", "scene", 9),
            ("lock", "id", 22),
            ("a second", "per_s", 9),
            ("hand-over", "handover_p50_us", 9),
            ("p99", "handover_p99_us", 8),
            ("commands", "commands", 8),
            ("longest", "longest_wait_ms", 8),
            ("fairness", "fairness", 8),
            ("  check", "check", 0),
        ],
    ),
    (
        "growing crowds",
        "waiters",
        &[
            ("threads", "threads", 7),
            ("lock", "id", 22),
            ("a second", "per_s", 9),
            ("hand-over", "handover_p50_us", 9),
            ("p99", "handover_p99_us", 8),
            ("commands", "commands", 8),
            ("  check", "check", 0),
        ],
    ),
    (
        "leases that are kept",
        "watchdog",
        &[
            ("leases", "leases", 8),
            ("of a core", "core_percent_at_30s", 9),
            ("a renewal", "cpu_us_per_renewal", 9),
            ("memory each", "bytes_per_lease", 11),
            ("  check", "check", 0),
        ],
    ),
];

pub fn render(document: &Value) -> String {
    let mut text = String::new();
    for (title, table, columns) in TABLES {
        let rows = document[table].as_object().into_iter().flatten();
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "\n{title}");
        line(&mut text, columns, |(heading, _, _)| (*heading).to_owned());
        for (_, row) in rows {
            line(&mut text, columns, |(_, field, _)| {
                show(field, &row[*field])
            });
        }
    }
    for omitted in document["omitted"].as_array().into_iter().flatten() {
        let word = |name: &str| omitted[name].as_str().unwrap_or_default().to_owned();
        let _ = writeln!(text, "\nnot measured: {} ({})", word("id"), word("why"));
    }
    text
}

type Column = (&'static str, &'static str, usize);

/// Text stands left, figures right.
fn line(text: &mut String, columns: &[Column], cell: impl Fn(&Column) -> String) {
    let mut line = String::new();
    for column in columns {
        let shown = cell(column);
        let width = column.2;
        let _ = match column.1 {
            "title" | "id" | "scene" | "transport" => write!(line, "  {shown:<width$}"),
            "check" => write!(line, "  {}", shown.trim_start()),
            _ => write!(line, "  {shown:>width$}"),
        };
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
