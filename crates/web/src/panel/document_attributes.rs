//! Attributes on the page of a document, and the form that changes them

use crate::language::{self, t};
use crate::signed_in::form::{Form, digest};
use docent_domain::attributes::{ATTRIBUTES_MAX, AttributeKey, AttributeValue, Attributes};
use docent_domain::document::Document;
use docent_domain::error::ValidationError;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows of the form without a value.
const BLANK_ROWS: usize = 3;

/// Values and labels of the types.
fn types() -> [(&'static str, String); 3] {
    [("text", t!("attribute-text")), ("number", t!("attribute-number")), ("boolean", t!("attribute-boolean"))]
}

/// Attributes of a document, as a form or only shown.
#[derive(Serialize)]
pub(super) struct AttributesView {
    rows: Vec<Row>,
    /// Values and labels of the types.
    types: [(&'static str, String); 3],
    errors: Vec<String>,
    /// Digest of the shown attributes, to detect concurrent changes.
    seen: String,
    max: usize,
    may_change: bool,
}

/// An attribute in the form, valid or not.
#[derive(Clone, Default, Serialize)]
pub(super) struct Row {
    key: String,
    r#type: String,
    value: String,
}

impl AttributesView {
    pub(super) fn of(document: &Document, may_change: bool) -> Self {
        let rows = rows(&document.attributes);
        let seen = revision(&document.attributes);
        Self { rows, types: types(), errors: Vec::new(), seen, max: ATTRIBUTES_MAX, may_change }
            .with_blank_rows()
    }

    /// A submitted form that is not valid.
    pub(super) fn rejected(rows: Vec<Row>, errors: Vec<String>, seen: String) -> Self {
        Self { rows, types: types(), errors, seen, max: ATTRIBUTES_MAX, may_change: true }.with_blank_rows()
    }

    fn with_blank_rows(mut self) -> Self {
        let wanted = (self.rows.len() + BLANK_ROWS).min(ATTRIBUTES_MAX.max(self.rows.len()));
        if self.may_change {
            self.rows.resize_with(wanted, Row::default);
        }
        self
    }
}

fn rows(attributes: &Attributes) -> Vec<Row> {
    let row = |(key, value): (&AttributeKey, &AttributeValue)| {
        let (kind, value) = match value {
            AttributeValue::String(text) => ("text", text.clone()),
            AttributeValue::Number(number) => ("number", number.to_string()),
            AttributeValue::Boolean(true) => ("boolean", "yes".to_owned()),
            AttributeValue::Boolean(false) => ("boolean", "no".to_owned()),
        };
        Row { key: key.as_str().to_owned(), r#type: kind.to_owned(), value }
    };
    attributes.iter().map(row).collect()
}

/// Digest of attributes, to detect concurrent changes.
pub(super) fn revision(attributes: &Attributes) -> String {
    let rows = rows(attributes);
    digest(&rows.iter().map(|row| [&row.key, &row.r#type, &row.value]).collect::<Vec<_>>())
}

/// Rows of a submitted form that are not blank.
pub(super) fn submitted(form: &Form) -> Vec<Row> {
    let (keys, types, values) = (form.all("key"), form.all("type"), form.all("value"));
    let row = |((key, kind), value): ((&str, &str), &str)| Row {
        key: key.trim().to_owned(),
        r#type: kind.to_owned(),
        value: value.trim().to_owned(),
    };
    let rows = keys.zip(types).zip(values).map(row);
    rows.filter(|row| !row.key.is_empty() || !row.value.is_empty()).collect()
}

/// The attributes of the rows, or what is wrong with each row.
pub(super) fn parse(rows: &[Row]) -> Result<Attributes, Vec<String>> {
    let (mut values, mut errors) = (BTreeMap::new(), Vec::new());
    for row in rows {
        match parse_row(row) {
            Ok((key, _)) if values.contains_key(&key) => {
                errors.push(error(&row.key, &t!("attribute-key-twice")));
            }
            Ok((key, value)) => drop(values.insert(key, value)),
            Err(reason) if row.key.is_empty() => errors.push(error(&row.value, &reason)),
            Err(reason) => errors.push(error(&row.key, &reason)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Attributes::new(values).map_err(|wrong| vec![invalid(&wrong)])
}

/// The sentence that a row is wrong.
fn error(key: &str, reason: &str) -> String {
    t!("attribute-error", key = key, reason = reason)
}

/// The sentence that the attributes are invalid.
pub(super) fn invalid(wrong: &ValidationError) -> String {
    t!("attributes-error", reason = language::reason(wrong))
}

fn parse_row(row: &Row) -> Result<(AttributeKey, AttributeValue), String> {
    let key = AttributeKey::parse(&row.key).map_err(|invalid| language::reason(&invalid))?;
    let value = match (row.r#type.as_str(), row.value.as_str()) {
        ("number", text) => {
            let number = text.parse().map_err(|_| t!("attribute-not-number"))?;
            AttributeValue::number(number).map_err(|invalid| language::reason(&invalid))?
        }
        ("boolean", "yes" | "true") => AttributeValue::Boolean(true),
        ("boolean", "no" | "false") => AttributeValue::Boolean(false),
        ("boolean", _) => return Err(t!("attribute-not-boolean")),
        (_, text) => AttributeValue::string(text).map_err(|invalid| language::reason(&invalid))?,
    };
    Ok((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AttributesView {
        /// A form with errors, or attributes that can only be viewed.
        pub(crate) fn sample(may_change: bool) -> Self {
            let row = Row { key: "year".to_owned(), r#type: "number".to_owned(), value: "2025".to_owned() };
            let errors =
                if may_change { vec!["year: the key is used twice.".to_owned()] } else { Vec::new() };
            Self {
                rows: vec![row],
                types: types(),
                errors,
                seen: "0f".to_owned(),
                max: ATTRIBUTES_MAX,
                may_change,
            }
        }

        pub(crate) fn sample_empty() -> Self {
            Self { rows: Vec::new(), ..Self::sample(false) }
        }
    }

    fn row(key: &str, kind: &str, value: &str) -> Row {
        Row { key: key.to_owned(), r#type: kind.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn attributes_round_trip_through_rows() {
        let given = [
            row("a", "text", "2025"),
            row("b", "number", "-0.5"),
            row("c", "boolean", "yes"),
            row("d", "boolean", "no"),
        ];
        let attributes = parse(&given).unwrap();
        let shown = rows(&attributes);
        let values: Vec<_> = shown.iter().map(|row| (row.r#type.as_str(), row.value.as_str())).collect();
        assert_eq!(values, [("text", "2025"), ("number", "-0.5"), ("boolean", "yes"), ("boolean", "no")]);
        assert_eq!(parse(&shown).unwrap(), attributes);
    }

    #[test]
    fn each_wrong_row_is_named() {
        let wrong = [
            row("", "text", "lost"),
            row("a b", "text", "x"),
            row("year", "number", "soon"),
            row("final", "boolean", "maybe"),
            row("k", "text", "1"),
            row("k", "text", "2"),
        ];
        let errors = parse(&wrong).unwrap_err();
        assert_eq!(errors.len(), 5);
        assert!(errors[0].starts_with("lost: keys must have"), "{errors:?}");
        assert_eq!(errors[2], "year: the value must be a number.");
        assert_eq!(errors[3], "final: the value must be yes or no.");
        assert_eq!(errors[4], "k: the key is used twice.");
        let many: Vec<Row> = (0..=ATTRIBUTES_MAX).map(|n| row(&format!("k{n}"), "text", "x")).collect();
        assert_eq!(parse(&many).unwrap_err(), ["Attributes must be at most 16."]);
        assert!(parse(&[row("title", "text", "x")]).unwrap_err()[0].contains("built-in"));
    }
}
