//! Figures as people read them.

use serde_json::Value;

/// The figure called `name`, with its unit: microseconds become milliseconds where there are
/// thousands of them.
pub fn show(name: &str, value: &Value) -> String {
    let number = match value {
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
        Value::String(text) => return text.clone(),
        _ => return "–".to_owned(),
    };
    if name.contains("ratio") {
        let behind = if number < 0.1 { 4 } else { 2 };
        return format!("{}×", digits(number, behind));
    }
    if name.ends_with("_us") || name.contains("_us_") {
        return time(number);
    }
    if name.ends_with("_ms") {
        return time(number * 1e3);
    }
    if name.ends_with("_s") && name != "per_s" {
        return format!("{} s", plain(number));
    }
    if name.contains("percent") {
        return format!("{} %", digits(number, 2));
    }
    if name.contains("bytes") {
        return format!("{} B", whole(number));
    }
    plain(number)
}

/// A time in microseconds.
pub fn time(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{} µs", plain(us)),
        us if us < 1e6 => format!("{} ms", plain(us / 1e3)),
        us => format!("{} s", plain(us / 1e6)),
    }
}

/// Three digits that count.
pub fn plain(number: f64) -> String {
    let size = number.abs();
    if (size - size.round()).abs() < 1e-9 {
        whole(number)
    } else if size < 0.1 {
        digits(number, 4).trim_end_matches('0').to_owned()
    } else if size < 10.0 {
        digits(number, 2)
    } else if size < 100.0 {
        digits(number, 1)
    } else {
        whole(number)
    }
}

fn digits(number: f64, behind: usize) -> String {
    format!("{number:.behind$}")
}

fn whole(number: f64) -> String {
    let text = format!("{:.0}", number.abs());
    let mut grouped = String::new();
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if number <= -0.5 {
        format!("-{grouped}")
    } else {
        grouped
    }
}

/// Text that can stand in a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_have_units() {
        assert_eq!(show("p50_us", &json!(37.39)), "37.4 µs");
        assert_eq!(show("handover_max_us", &json!(98_172.9)), "98.2 ms");
        assert_eq!(show("longest_wait_ms", &json!(1_500)), "1.50 s");
        assert_eq!(show("ratio_connection", &json!(1.0873)), "1.09×");
        assert_eq!(show("per_s", &json!(21_160)), "21,160");
        assert_eq!(show("lease_s", &json!(30)), "30 s");
        assert_eq!(show("commands", &json!(2.0)), "2");
        assert_eq!(show("vain", &json!(null)), "–");
    }
}
