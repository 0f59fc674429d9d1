//! From lines to the document: every figure under a name that stays.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Outcome, machine};

/// How the lines of a table are named in the document, and by which of their fields.
const TABLES: [(&str, &str, &[&str]); 7] = [
    ("cycle", "cycles", &["transport", "id"]),
    ("step", "steps", &["step", "id"]),
    ("rival", "others", &["id"]),
    ("fight", "fights", &["scene", "id"]),
    ("waiters", "waiters", &["threads", "id"]),
    ("names", "names", &["names", "id"]),
    ("watchdog", "watchdog", &["leases"]),
];

/// The most that a strategy of one script may cost, as a ratio to the bare connection.
const BAR: f64 = 1.15;

/// Makes the document of the lines, and of what the caller says of the run.
pub fn assemble(lines: &str, options: &[&str]) -> Outcome<Value> {
    let mut tables = Map::new();
    for (_, name, _) in TABLES {
        tables.insert(name.to_owned(), json!({}));
    }
    let mut server = json!({});
    let mut omitted = Vec::new();
    for line in lines.lines() {
        let Value::Object(mut row) = serde_json::from_str(line)? else {
            return Err(format!("{line} is no line of figures").into());
        };
        let table = row.remove("table").unwrap_or_default();
        match table.as_str().unwrap_or_default() {
            "server" => server = Value::Object(row),
            "omitted" => omitted.push(Value::Object(row)),
            table => insert(&mut tables, table, row)?,
        }
    }
    let mut document = json!({
        "schema": 1,
        "run": run(options)?,
        "machine": machine::describe(),
        "server": server,
        "bars": { "ratio_connection": BAR },
    });
    let fields = document.as_object_mut().expect("it was made as one");
    fields.append(&mut tables);
    fields.insert("criterion".to_owned(), criterion(options));
    fields.insert("omitted".to_owned(), Value::Array(omitted));
    Ok(document)
}

fn insert(tables: &mut Map<String, Value>, table: &str, row: Map<String, Value>) -> Outcome<()> {
    let known = TABLES.iter().find(|(known, _, _)| *known == table);
    let (_, name, keys) = known.ok_or_else(|| format!("there is no table {table}"))?;
    let word = |key: &&str| match &row[*key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let key = keys.iter().map(word).collect::<Vec<_>>().join("/");
    tables[*name][key] = Value::Object(row);
    Ok(())
}

fn option<'a>(options: &[&'a str], name: &str) -> Option<&'a str> {
    let at = options.iter().position(|option| *option == name)?;
    options.get(at + 1).copied()
}

fn run(options: &[&str]) -> Outcome<Value> {
    let text = |name: &str| option(options, name).unwrap_or("unknown");
    let began: u64 = option(options, "--began").unwrap_or("0").parse()?;
    let load: f64 = option(options, "--load").unwrap_or("0").parse()?;
    let seconds: u64 = option(options, "--seconds").unwrap_or("0").parse()?;
    Ok(json!({
        "mode": text("--mode"),
        "command": text("--command"),
        "version": text("--version"),
        "date": date(began),
        "seconds": seconds,
        "load_before": load,
    }))
}

/// The day of a moment, as `2026-01-31 12:00 UTC`.
fn date(seconds: u64) -> String {
    // Counted from the first of March of the year 0, a leap day is the last of its year.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute) = (seconds / 3_600 % 24, seconds / 60 % 60);
    format!("{year}-{month:02}-{of_month:02} {hour:02}:{minute:02} UTC")
}

/// The medians that criterion has written down, by its own names.
fn criterion(options: &[&str]) -> Value {
    let mut found = Vec::new();
    if let Some(directory) = option(options, "--criterion") {
        collect(Path::new(directory), &mut found);
    }
    found.sort_by(|(left, _), (right, _)| left.cmp(right));
    let rows = found.into_iter().map(|(id, median_ns)| {
        (
            id,
            json!({ "median_us": (median_ns / 10.0).round() / 100.0 }),
        )
    });
    Value::Object(rows.collect())
}

fn collect(directory: &Path, found: &mut Vec<(String, f64)>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "new") {
            collect(&path, found);
        } else if path.is_dir() {
            let read = |name: &str| -> Option<Value> {
                serde_json::from_slice(&fs::read(path.join(name)).ok()?).ok()
            };
            let id = read("benchmark.json");
            let id = id.as_ref().and_then(|id| id["full_id"].as_str());
            let median = read("estimates.json");
            let median = median
                .as_ref()
                .and_then(|all| all["median"]["point_estimate"].as_f64());
            if let (Some(id), Some(median)) = (id, median) {
                found.push((id.to_owned(), median));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_a_day() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(1_709_164_800), "2024-02-29 00:00 UTC");
        assert_eq!(date(1_767_225_599), "2025-12-31 23:59 UTC");
    }

    #[test]
    fn figures_have_names_that_stay() {
        let lines = r#"{"table":"cycle","id":"token","transport":"tcp","p50_us":37.5}"#;
        let document = assemble(lines, &["--mode", "quick"]).unwrap();
        assert_eq!(document["cycles"]["tcp/token"]["p50_us"], 37.5);
        assert_eq!(document["run"]["mode"], "quick");
    }
}
