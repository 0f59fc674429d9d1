//! That a page says what the document says.

use serde_json::Value;

use super::format::{escape, show};

/// How many figures the page shows, and which of them are not those of the document.
///
/// A figure of the page is an element with its name: `<td data-f="cycles|tcp/token|p50_us">`.
pub fn differing(page: &str, document: &Value) -> (usize, Vec<String>) {
    let mut complaints = Vec::new();
    let mut figures = 0;
    for part in page.split("data-f=\"").skip(1) {
        let Some((path, rest)) = part.split_once('"') else {
            continue;
        };
        let shown = rest
            .split_once('>')
            .and_then(|(_, text)| text.split_once('<'));
        let shown = shown.map_or("", |(text, _)| text);
        figures += 1;
        match find(document, path) {
            None => complaints.push(format!("report.json has no {path}")),
            Some((name, value)) => {
                let expected = escape(&show(name, value));
                if shown != expected {
                    complaints.push(format!("{path} is {expected}, and shown as {shown}"));
                }
            }
        }
    }
    if figures == 0 {
        complaints.push("report.html shows no figure".to_owned());
    }
    (figures, complaints)
}

/// `table|row|figure`: a row's name has slashes of its own.
fn find<'a, 'b>(document: &'a Value, path: &'b str) -> Option<(&'b str, &'a Value)> {
    let mut found = document;
    let mut last = path;
    for word in path.split('|') {
        found = found.get(word)?;
        last = word;
    }
    Some((last, found))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_figure_that_differs_is_found() {
        let document = json!({ "cycles": { "tcp/token": { "p50_us": 37.5 } } });
        let page = |text: &str| format!(r#"<td data-f="cycles|tcp/token|p50_us">{text}</td>"#);
        assert_eq!(differing(&page("37.5 µs"), &document), (1, vec![]));
        assert_eq!(differing(&page("37.4 µs"), &document).1.len(), 1);
        assert_eq!(differing("", &document).1.len(), 1);
        let missing = r#"<td data-f="cycles|tcp/other|p50_us">1</td>"#;
        assert_eq!(differing(missing, &document).1.len(), 1);
    }
}
