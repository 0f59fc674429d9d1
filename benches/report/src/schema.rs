//! As much of JSON Schema as `report.schema.json` uses. A keyword that is not known here is a
//! complaint, so that the schema cannot say something that nobody checks.

use serde_json::Value;

/// Where `document` is not as `schema` says.
pub fn complaints(schema: &Value, document: &Value) -> Vec<String> {
    let mut checker = Checker {
        root: schema,
        complaints: Vec::new(),
    };
    checker.check(schema, document, "report");
    checker.complaints
}

struct Checker<'a> {
    root: &'a Value,
    complaints: Vec<String>,
}

impl Checker<'_> {
    fn complain(&mut self, at: &str, what: impl std::fmt::Display) {
        self.complaints.push(format!("{at}: {what}"));
    }

    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        let Some(rules) = schema.as_object() else {
            return self.complain(at, "the schema is no object here");
        };
        for (keyword, rule) in rules {
            self.rule(keyword, rule, schema, value, at);
        }
    }

    fn rule(&mut self, keyword: &str, rule: &Value, schema: &Value, value: &Value, at: &str) {
        match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let path = rule.as_str().unwrap_or_default().trim_start_matches('#');
                match self.root.pointer(path) {
                    Some(target) => self.check(&target.clone(), value, at),
                    None => self.complain(at, format_args!("the schema has no {rule}")),
                }
            }
            "type" => {
                let allowed = match rule {
                    Value::Array(types) => types.iter().any(|one| is(one, value)),
                    one => is(one, value),
                };
                if !allowed {
                    self.complain(at, format_args!("{value} is not of type {rule}"));
                }
            }
            "const" => {
                if value != rule {
                    self.complain(at, format_args!("{value} is not {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().is_some_and(|all| all.contains(value)) {
                    self.complain(at, format_args!("{value} is none of {rule}"));
                }
            }
            "minimum" => {
                if value
                    .as_f64()
                    .zip(rule.as_f64())
                    .is_some_and(|(value, least)| value < least)
                {
                    self.complain(at, format_args!("{value} is less than {rule}"));
                }
            }
            "minLength" => {
                let length = value.as_str().map(|text| text.chars().count() as u64);
                if length
                    .zip(rule.as_u64())
                    .is_some_and(|(length, least)| length < least)
                {
                    self.complain(at, format_args!("{value} is shorter than {rule}"));
                }
            }
            "minProperties" => {
                let size = value.as_object().map(|fields| fields.len() as u64);
                if size
                    .zip(rule.as_u64())
                    .is_some_and(|(size, least)| size < least)
                {
                    self.complain(at, format_args!("fewer than {rule} entries"));
                }
            }
            "required" => {
                for name in rule
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                {
                    if value.is_object() && value.get(name).is_none() {
                        self.complain(at, format_args!("{name} is missing"));
                    }
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(field) = value.get(name) {
                        self.check(rule, field, &format!("{at}.{name}"));
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                let known = |name: &String| known.is_some_and(|known| known.get(name).is_some());
                let fields = value.as_object().into_iter().flatten();
                for (name, field) in fields.filter(|(name, _)| !known(name)) {
                    match rule {
                        Value::Bool(false) => self.complain(at, format_args!("what is {name}?")),
                        Value::Bool(true) => {}
                        rule => self.check(rule, field, &format!("{at}.{name}")),
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(rule, item, &format!("{at}[{number}]"));
                }
            }
            unknown => self.complain(at, format_args!("the schema's {unknown} is not checked")),
        }
    }
}

fn is(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_as_the_schema_says_is_found() {
        let schema = json!({
            "type": "object",
            "required": ["a"],
            "properties": { "a": { "$ref": "#/$defs/figure" } },
            "additionalProperties": false,
            "$defs": { "figure": { "type": ["number", "null"], "minimum": 0 } },
        });
        let complaints = |document| super::complaints(&schema, &document).len();
        assert_eq!(complaints(json!({ "a": 1.5 })), 0);
        assert_eq!(complaints(json!({ "a": null })), 0);
        assert_eq!(complaints(json!({ "a": -1 })), 1);
        assert_eq!(complaints(json!({ "a": "1" })), 1);
        assert_eq!(complaints(json!({})), 1);
        assert_eq!(complaints(json!({ "a": 1, "b": 2 })), 1);
    }

    #[test]
    fn a_keyword_that_is_not_checked_is_found() {
        assert_eq!(complaints(&json!({ "pattern": "x" }), &json!("x")).len(), 1);
    }
}
