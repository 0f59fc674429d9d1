//! The page: one file that needs nothing else.

use std::fmt::Write;

use serde_json::Value;

use super::format::{escape, plain, show};
use super::sections;

const STYLE: &str = include_str!("style.css");

pub fn render(document: &Value) -> String {
    let mut body = String::new();
    for section in sections::all(document) {
        let _ = write!(
            body,
            "<section><h2>{}</h2><p>{}</p>{}{}</section>",
            escape(&section.title),
            section.text,
            section.chart,
            section.table
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>leasehold: what locks cost</title><style>{STYLE}</style></head><body><main>\
         <header><h1>leasehold: what locks cost</h1>{}{}</header>{body}{}</main></body></html>\n",
        summary(document),
        about(document),
        omitted(document)
    )
}

/// What a reader in a hurry reads.
fn summary(document: &Value) -> String {
    let bar = document["bars"]["ratio_connection"].as_f64().unwrap_or(1.0);
    let cycles = document["cycles"].as_object().into_iter().flatten();
    let scripts = cycles.filter(|(_, row)| row["one_script"] == 1 || row["one_script"] == 1.0);
    let worst = scripts
        .filter_map(|(key, row)| Some((key, row, row["ratio_connection"].as_f64()?)))
        .max_by(|left, right| left.2.total_cmp(&right.2));
    let mut tiles = String::new();
    let mut tile = |path: &str, shown: &str, text: &str, good: bool| {
        let class = if good { "tile good" } else { "tile bad" };
        let _ = write!(
            tiles,
            "<div class=\"{class}\"><b data-f=\"{}\">{}</b><span>{text}</span></div>",
            escape(path),
            escape(shown)
        );
    };
    if let Some((key, row, ratio)) = worst {
        let text = format!(
            "of a bare connection, at most, for acquire and release by one script each; \
             the bar is {bar}×"
        );
        let shown = show("ratio_connection", &row["ratio_connection"]);
        let path = format!("cycles|{key}|ratio_connection");
        tile(&path, &shown, &text, ratio <= bar);
    }
    if let Some(row) = document["fights"].get("crowd/token@default") {
        let shown = show("commands", &row["commands"]);
        let text = "commands an acquisition, where 50 threads want one name";
        tile("fights|crowd/token@default|commands", &shown, text, true);
    }
    if let Some(row) = document["watchdog"]
        .get("10000")
        .or(document["watchdog"].get("10000.0"))
    {
        let shown = show("core_percent_at_30s", &row["core_percent_at_30s"]);
        let good = row["core_percent_at_30s"]
            .as_f64()
            .is_some_and(|share| share < 5.0);
        let text = "of a core keeps 10,000 leases of 30 s";
        tile("watchdog|10000|core_percent_at_30s", &shown, text, good);
    }
    format!("<div class=\"tiles\">{tiles}</div>")
}

/// What was run, where, and how to run it again.
fn about(document: &Value) -> String {
    let (run, machine) = (&document["run"], &document["machine"]);
    let text = |value: &Value| escape(value.as_str().unwrap_or("unknown"));
    let number = |value: &Value| value.as_f64().map_or_else(|| "?".to_owned(), plain);
    let mut server = text(&document["server"]["name"]);
    if let Some(valkey) = document["server"]["valkey"].as_str() {
        let _ = write!(server, "; {} for Token::commands()", escape(valkey));
    }
    let load = run["load_before"].as_f64().unwrap_or(0.0);
    let busy = if load > machine["cores"].as_f64().unwrap_or(1.0) / 2.0 {
        " <strong>It was busy with something else: trust ratios, not times.</strong>"
    } else {
        ""
    };
    format!(
        "<dl><dt>what</dt><dd>leasehold {}, a {} run of {} s, {}</dd>\
         <dt>where</dt><dd>{} × {}, {} GiB, {}; load {load:.1} before.{busy}</dd>\
         <dt>server</dt><dd>{server}, on the same machine</dd>\
         <dt>again</dt><dd><code>{}</code></dd></dl>\
         <p class=\"key\"><span class=\"strategy\">leasehold</span> \
         <span class=\"baseline\">baseline</span> <span class=\"rival\">other library</span></p>",
        text(&run["version"]),
        text(&run["mode"]),
        number(&run["seconds"]),
        text(&run["date"]),
        number(&machine["cores"]),
        text(&machine["processor"]),
        number(&machine["memory_gib"]),
        text(&machine["system"]),
        text(&run["command"]),
    )
}

fn omitted(document: &Value) -> String {
    let rows = document["omitted"].as_array().into_iter().flatten();
    let row = |row: &Value| {
        let text = |name: &str| escape(row[name].as_str().unwrap_or_default());
        format!("<li>{}: {}</li>", text("id"), text("why"))
    };
    let rows: String = rows.map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!("<section><h2>Not measured</h2><ul>{rows}</ul></section>")
}
