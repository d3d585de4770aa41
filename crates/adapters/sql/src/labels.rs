//! Collections, attributes and page labels of documents as JSON columns.

use super::fault::corrupt;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::extraction::PageLabels;
use docent_domain::fault::Result;
use docent_domain::id::CollectionId;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Column value of IDs.
pub(super) fn ids_value(ids: &BTreeSet<CollectionId>) -> Value {
    ids.iter().map(|id| Value::from(id.to_string())).collect()
}

/// IDs of a column value.
pub(super) fn ids(value: &Value) -> Option<BTreeSet<CollectionId>> {
    value.as_array()?.iter().map(|id| id.as_str()?.parse().ok()).collect()
}

/// Column value of attributes.
pub(super) fn attributes_value(attributes: &Attributes) -> Value {
    let value = |value: &AttributeValue| match value {
        AttributeValue::String(text) => Value::from(text.as_str()),
        AttributeValue::Number(number) => Value::from(*number),
        AttributeValue::Boolean(is_true) => Value::from(*is_true),
    };
    let pairs = attributes.iter().map(|(key, of)| (key.as_str().to_owned(), value(of)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// Attributes of a column value.
pub(super) fn attributes(value: &Value) -> Option<Attributes> {
    let value_of = |value: &Value| match value {
        Value::String(text) => AttributeValue::string(text).ok(),
        Value::Number(number) => number.as_f64().and_then(|number| AttributeValue::number(number).ok()),
        Value::Bool(is_true) => Some(AttributeValue::Boolean(*is_true)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let pair = |(key, value): (&String, &Value)| Some((AttributeKey::parse(key).ok()?, value_of(value)?));
    let values: Option<_> = value.as_object()?.iter().map(pair).collect();
    Attributes::new(values?).ok()
}

/// Decodes the column with what the pages of a document are in its file.
pub(super) fn page_labels(value: Option<Value>) -> Result<PageLabels> {
    let Some(value) = value else { return Ok(PageLabels::default()) };
    let labels: Vec<String> = serde_json::from_value(value).map_err(|_| corrupt("labels of pages"))?;
    Ok(labels.into())
}
