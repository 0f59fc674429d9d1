//! What the page shows, section by section: what is charted, what stands in the tables.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::chart::{self, Axis, Line, Row, Shape};
use super::format::{escape, plain, show, time};

/// A part of the page.
pub struct Section {
    pub title: String,
    pub text: String,
    pub chart: String,
    pub table: String,
}

/// A table of the document.
type Rows<'a> = &'a Map<String, Value>;

pub fn all(document: &Value) -> Vec<Section> {
    let table = |name: &str| document[name].as_object().expect("it was checked");
    let mut sections = vec![ratios(
        table("cycles"),
        &document["bars"]["ratio_connection"],
    )];
    sections.push(latency(table("cycles"), table("steps")));
    sections.push(others(table("others")));
    for (scene, title, text) in SCENES {
        sections.push(handover(table("fights"), scene, title, text));
    }
    sections.push(waiters(table("waiters")));
    sections.push(names(table("names")));
    sections.push(fairness(table("fights")));
    sections.push(watchdog(table("watchdog")));
    sections.retain(|section| !section.table.is_empty());
    sections
}

const SCENES: [(&str, &str, &str); 4] = [
    (
        "handover",
        "Hand-over between two processes",
        "Two processes take turns: each holds for 1 ms and asks again when the other is inside.",
    ),
    (
        "crowd",
        "Hand-over in a crowd: 50 threads in 5 processes want one name",
        "Each holds for 200 µs and asks again at once, so that who has just released has the best \
         chance, unless waiters stand in a line.",
    ),
    (
        "threads",
        "Hand-over between 8 threads of one process",
        "They take turns; each holds for 200 µs.",
    ),
    (
        "names",
        "Hand-over with 16 threads in 4 processes over 8 names",
        "Each holds for 1 ms, then wants another of the names, by chance.",
    ),
];

fn ratios(cycles: Rows<'_>, bar: &Value) -> Section {
    let bar = bar.as_f64().unwrap_or(1.0);
    let most = figures(cycles, "ratio_connection_p75").fold(bar, f64::max);
    let axis = Axis::linear(most, |at| format!("{}×", plain(at)));
    let row = |(key, row): (&String, &Value)| Row {
        label: text(row, "title"),
        detail: transport(row),
        kind: "strategy".to_owned(),
        shape: number(row, "ratio_connection").map(|to| Shape::Bar {
            to,
            around: number(row, "ratio_connection_p25").zip(number(row, "ratio_connection_p75")),
        }),
        figure: figure("cycles", key, row, "ratio_connection"),
    };
    let rows: Vec<_> = cycles.iter().map(row).collect();
    Section {
        title: "What the crate adds to a bare connection".to_owned(),
        text: format!(
            "Acquire and release of a free lock, as a multiple of the very same commands through a \
             bare <code>redis::Connection</code>: the median of the ratios of neighbouring cycles, \
             and where half of them lie. The lines are at 1 and at {bar}, the most that a strategy \
             of one script may cost."
        ),
        chart: chart::rows(&rows, &axis.mark(1.0).mark(bar)),
        table: table(
            "cycles",
            cycles.iter(),
            &[
                ("strategy", "title"),
                ("", "transport"),
                ("of a connection", "ratio_connection"),
                ("a quarter below", "ratio_connection_p25"),
                ("a quarter above", "ratio_connection_p75"),
                ("of raw RESP", "ratio_raw"),
                ("commands", "commands"),
            ],
        ),
    }
}

fn latency(cycles: Rows<'_>, steps: Rows<'_>) -> Section {
    let most = figures(cycles, "p50_us").fold(1.0, f64::max);
    let axis = Axis::linear(most * 1.05, time);
    let row = |(key, row): (&String, &Value)| Row {
        label: text(row, "title"),
        detail: transport(row),
        kind: "strategy".to_owned(),
        shape: number(row, "p50_us").map(|to| Shape::Bar { to, around: None }),
        figure: figure("cycles", key, row, "p50_us"),
    };
    let rows: Vec<_> = cycles.iter().map(row).collect();
    let cycle_table = table(
        "cycles",
        cycles.iter(),
        &[
            ("acquire and release", "title"),
            ("", "transport"),
            ("p50", "p50_us"),
            ("p99", "p99_us"),
            ("a connection, p50", "connection_p50_us"),
            ("raw RESP, p50", "raw_p50_us"),
            ("cycles", "cycles"),
        ],
    );
    let step_table = table(
        "steps",
        steps.iter(),
        &[
            ("other steps, over TCP", "title"),
            ("", "step"),
            ("p50", "p50_us"),
            ("p99", "p99_us"),
            ("commands", "commands"),
        ],
    );
    Section {
        title: "How long acquire and release take".to_owned(),
        text: "Median time of one cycle that nobody contends for, in microseconds. What it is on \
               another machine is another matter."
            .to_owned(),
        chart: chart::rows(&rows, &axis),
        table: cycle_table + &step_table,
    }
}

fn others(others: Rows<'_>) -> Section {
    let measured = || {
        others
            .iter()
            .filter(|(_, row)| number(row, "ratio_token").is_some())
    };
    let low = figures(others, "ratio_token")
        .fold(1.0, f64::min)
        .max(0.001);
    let high = figures(others, "ratio_token").fold(1.0, f64::max);
    let axis = Axis::log(low, high, |at| format!("{}×", plain(at))).mark(1.0);
    let row = |(key, row): (&String, &Value)| Row {
        label: text(row, "title"),
        detail: String::new(),
        kind: text(row, "kind"),
        shape: number(row, "ratio_token").map(|to| Shape::Bar { to, around: None }),
        figure: figure("others", key, row, "ratio_token"),
    };
    let rows: Vec<_> = measured().map(row).collect();
    Section {
        title: "Other locks, uncontended, as a multiple of Token".to_owned(),
        text: "Time of acquire and release over TCP beside that of <code>Token</code>, batch by \
               batch; the line is Token. Each was set up as its documentation says, and first had to \
               show that it keeps a second process out."
            .to_owned(),
        chart: chart::rows(&rows, &axis),
        table: table(
            "others",
            others.iter(),
            &[
                ("lock", "title"),
                ("of Token", "ratio_token"),
                ("p50", "p50_us"),
                ("commands", "commands"),
                ("check", "check"),
                ("set up", "settings"),
            ],
        ),
    }
}

fn handover(fights: Rows<'_>, scene: &str, title: &str, about: &str) -> Section {
    let chosen: Vec<_> = fights
        .iter()
        .filter(|(_, row)| row["scene"] == scene)
        .collect();
    let all = || chosen.iter().map(|(_, row)| *row);
    let lows = all().filter_map(|row| number(row, "handover_p10_us"));
    let highs = all().filter_map(|row| number(row, "handover_max_us"));
    let axis = Axis::log(
        lows.fold(100.0, f64::min),
        highs.fold(100.0, f64::max),
        time,
    );
    let row = |(key, row): &(&String, &Value)| Row {
        label: text(row, "title"),
        detail: waiting(row),
        kind: text(row, "kind"),
        shape: spread(row),
        figure: figure("fights", key, row, "handover_p50_us"),
    };
    let rows: Vec<_> = chosen.iter().map(row).collect();
    Section {
        title: title.to_owned(),
        text: format!(
            "{about} From the begin of a release until a thread that was waiting is inside, on a \
             scale of powers of ten: half of the hand-overs took no longer than the mark (the \
             figure), the bar holds all but the quickest and the slowest tenth, the line ends at the \
             slowest."
        ),
        chart: chart::rows(&rows, &axis),
        table: table("fights", chosen.iter().copied(), &FIGHT),
    }
}

const FIGHT: [(&str, &str); 14] = [
    ("lock", "title"),
    ("waits", "waiting"),
    ("acquisitions a second", "per_s"),
    ("hand-over p50", "handover_p50_us"),
    ("p99", "handover_p99_us"),
    ("max", "handover_max_us"),
    ("hand-overs", "handovers"),
    ("commands each", "commands"),
    ("tries in vain each", "vain"),
    ("server CPU each", "server_cpu_us"),
    ("client CPU each", "client_cpu_us"),
    ("longest wait", "longest_wait_ms"),
    ("fairness", "fairness"),
    ("check", "check"),
];

fn spread(row: &Value) -> Option<Shape> {
    Some(Shape::Spread {
        low: number(row, "handover_p10_us")?,
        middle: number(row, "handover_p50_us")?,
        high: number(row, "handover_p90_us")?,
        most: number(row, "handover_max_us")?,
    })
}

fn waiters(waiters: Rows<'_>) -> Section {
    let along = |row: &Value| number(row, "threads").map(|threads| threads - 1.0);
    let throughput = series(waiters, along, "per_s");
    let commands = series(waiters, along, "commands");
    let charts = [
        ("acquisitions a second", &throughput),
        ("commands an acquisition", &commands),
    ];
    let charts = charts.map(|(unit, lines)| chart::lines(lines, unit, "waiting threads"));
    Section {
        title: "Throughput and commands against the number of waiters".to_owned(),
        text:
            "Threads of up to 4 processes take turns on one name and hold it for 200 µs. Commands \
               are counted as the server reads them."
                .to_owned(),
        chart: side_by_side(&charts, &throughput),
        table: table(
            "waiters",
            waiters.iter(),
            &[
                ("lock", "title"),
                ("waits", "waiting"),
                ("threads", "threads"),
                ("acquisitions a second", "per_s"),
                ("hand-over p50", "handover_p50_us"),
                ("p99", "handover_p99_us"),
                ("commands each", "commands"),
                ("server CPU each", "server_cpu_us"),
                ("check", "check"),
            ],
        ),
    }
}

fn names(names: Rows<'_>) -> Section {
    let lines = series(names, |row| number(row, "names"), "per_s");
    Section {
        title: "Throughput against the number of names".to_owned(),
        text: "16 threads in 4 processes want one of so many names, by chance, and hold it for no \
               time."
            .to_owned(),
        chart: side_by_side(
            &[chart::lines(&lines, "acquisitions a second", "names")],
            &lines,
        ),
        table: table(
            "names",
            names.iter(),
            &[
                ("lock", "title"),
                ("waits", "waiting"),
                ("names", "names"),
                ("acquisitions a second", "per_s"),
                ("commands each", "commands"),
                ("longest wait", "longest_wait_ms"),
                ("check", "check"),
            ],
        ),
    }
}

fn fairness(fights: Rows<'_>) -> Section {
    let chosen: Vec<_> = fights
        .iter()
        .filter(|(_, row)| row["scene"] == "crowd")
        .collect();
    let waits = || {
        chosen
            .iter()
            .filter_map(|(_, row)| number(row, "longest_wait_ms"))
    };
    let (low, high) = (waits().fold(1e3, f64::min), waits().fold(1.0, f64::max));
    let axis = Axis::log(low.max(0.01), high, |ms| time(ms * 1e3));
    let row = |(key, row): &(&String, &Value)| Row {
        label: text(row, "title"),
        detail: waiting(row),
        kind: text(row, "kind"),
        shape: number(row, "longest_wait_ms").map(|to| Shape::Bar { to, around: None }),
        figure: figure("fights", key, row, "longest_wait_ms"),
    };
    let rows: Vec<_> = chosen.iter().map(row).collect();
    Section {
        title: "Fairness: the longest wait among 50 threads".to_owned(),
        text: "The same crowd, on a scale of powers of ten: how long the unluckiest thread waited. \
               The table says how often the luckiest and the unluckiest had the lock; fairness is 1 \
               where all had it equally often, and 1/50 where one had it always."
            .to_owned(),
        chart: chart::rows(&rows, &axis),
        table: table(
            "fights",
            chosen.iter().copied(),
            &[
                ("lock", "title"),
                ("waits", "waiting"),
                ("longest wait", "longest_wait_ms"),
                ("wait p50", "wait_p50_us"),
                ("p99", "wait_p99_us"),
                ("least often", "least"),
                ("most often", "most"),
                ("fairness", "fairness"),
            ],
        ),
    }
}

fn watchdog(watchdog: Rows<'_>) -> Section {
    let shares = || figures(watchdog, "core_percent_at_30s");
    let axis = Axis::log(
        shares().fold(1.0, f64::min).max(1e-4),
        shares().fold(0.01, f64::max),
        |at| format!("{at} %"),
    );
    let row = |(key, row): (&String, &Value)| Row {
        label: format!(
            "{} leases",
            plain(number(row, "leases").unwrap_or_default())
        ),
        detail: String::new(),
        kind: "strategy".to_owned(),
        shape: number(row, "core_percent_at_30s").map(|to| Shape::Bar { to, around: None }),
        figure: figure("watchdog", key, row, "core_percent_at_30s"),
    };
    let rows: Vec<_> = watchdog.iter().map(row).collect();
    Section {
        title: "What it costs to keep leases: share of a core".to_owned(),
        text:
            "Leases of Token that one client holds and renews, on a scale of powers of ten: what \
               its renewals took, as a share of one core at a lease of 30 s, renewed every 10 s."
                .to_owned(),
        chart: chart::rows(&rows, &axis),
        table: table(
            "watchdog",
            watchdog.iter(),
            &[
                ("leases", "leases"),
                ("of a core", "core_percent_at_30s"),
                ("CPU a renewal", "cpu_us_per_renewal"),
                ("server CPU a renewal", "server_cpu_us_per_renewal"),
                ("memory a lease", "bytes_per_lease"),
                ("at the server", "server_bytes_per_lease"),
                ("threads in all", "threads"),
                ("check", "check"),
            ],
        ),
    }
}

/// A line for each lock, of one figure over another.
fn series(rows: Rows<'_>, along: impl Fn(&Value) -> Option<f64>, up: &str) -> Vec<Line> {
    let mut lines: Vec<(&Value, Line)> = Vec::new();
    for row in rows.values() {
        let at = lines
            .iter()
            .position(|(id, _)| **id == row["id"])
            .unwrap_or_else(|| {
                let label = match waiting(row) {
                    detail if detail.is_empty() => text(row, "title"),
                    detail => format!("{}, {detail}", text(row, "title")),
                };
                let points = Vec::new();
                lines.push((&row["id"], Line { label, points }));
                lines.len() - 1
            });
        let point = along(row).zip(number(row, up));
        lines[at]
            .1
            .points
            .extend(point.filter(|(_, value)| *value > 0.0));
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn side_by_side(charts: &[String], lines: &[Line]) -> String {
    format!(
        "<div class=\"charts\">{}</div>{}",
        charts.concat(),
        chart::legend(lines)
    )
}

/// A table of these columns: a heading, and the field under it.
fn table<'a>(
    name: &str,
    rows: impl Iterator<Item = (&'a String, &'a Value)>,
    columns: &[(&str, &str)],
) -> String {
    let rows: Vec<_> = rows.collect();
    let heading = |(heading, field): &(&str, &str)| {
        let is_text = rows.iter().any(|(_, row)| row[*field].is_string());
        let class = if is_text { " class=\"text\"" } else { "" };
        format!("<th scope=\"col\"{class}>{heading}</th>")
    };
    let headings: String = columns.iter().map(heading).collect();
    let mut body = String::new();
    for (key, row) in rows {
        let failed = text(row, "check").starts_with("failed");
        let cell = |(_, field): &(&str, &str)| {
            let value = &row[*field];
            let class = match value.as_str().map(str::len) {
                None => "",
                Some(..=40) => " class=\"text\"",
                Some(_) => " class=\"text long\"",
            };
            let path = format!("{name}|{key}|{field}");
            format!(
                "<td{class} data-f=\"{}\">{}</td>",
                escape(&path),
                escape(&show(field, value))
            )
        };
        let cells: String = columns.iter().map(cell).collect();
        let class = if failed { " class=\"failed\"" } else { "" };
        let _ = write!(body, "<tr{class}>{cells}</tr>");
    }
    if body.is_empty() {
        return body;
    }
    format!(
        "<div class=\"scroll\"><table><thead><tr>{headings}</tr></thead>\
         <tbody>{body}</tbody></table></div>"
    )
}

fn number(row: &Value, name: &str) -> Option<f64> {
    row[name].as_f64()
}

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or_default().to_owned()
}

fn figures<'a>(rows: Rows<'a>, name: &'a str) -> impl Iterator<Item = f64> + 'a {
    rows.values().filter_map(move |row| number(row, name))
}

fn figure(table: &str, key: &str, row: &Value, name: &str) -> (String, String) {
    (format!("{table}|{key}|{name}"), show(name, &row[name]))
}

fn transport(row: &Value) -> String {
    match row["transport"].as_str() {
        Some("tcp") => "TCP".to_owned(),
        _ => "unix socket".to_owned(),
    }
}

fn waiting(row: &Value) -> String {
    let waiting = text(row, "waiting");
    waiting
        .replace("tries again after ", "every ")
        .replace("its own way", "")
}
