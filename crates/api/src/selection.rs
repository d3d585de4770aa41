//! Selections of documents in requests: collections, documents and conditions.

use deserr::Deserr;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::condition::{COMPARISONS_MAX, CONDITION_DEPTH_MAX, Comparison, Condition};
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::selection::Selection;
use docent_http::BodyErrors;
use docent_http::extract::deserialize::List;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

pub(crate) const DOCUMENTS_MAX: usize = 1000;
pub(crate) const COLLECTIONS_MAX: usize = 100;

/// ID of a document.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, from(DocumentId) = DocumentRef)]
#[schema(value_type = String, format = "uuid")]
pub(crate) struct DocumentRef(DocumentId);

/// ID of a collection.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, from(CollectionId) = CollectionRef)]
#[schema(value_type = String, format = "uuid")]
pub(crate) struct CollectionRef(pub(crate) CollectionId);

/// The IDs of a list of documents.
pub(crate) fn documents_of(ids: Option<List<DocumentRef, DOCUMENTS_MAX>>) -> Option<Vec<DocumentId>> {
    ids.map(|List(ids)| ids.into_iter().map(|DocumentRef(id)| id).collect())
}

/// The IDs of a list of collections.
pub(crate) fn collections_of<C: FromIterator<CollectionId>>(
    ids: Option<List<CollectionRef, COLLECTIONS_MAX>>,
) -> Option<C> {
    ids.map(|List(ids)| ids.into_iter().map(|CollectionRef(id)| id).collect())
}

/// The selection of these parts of a request.
pub(crate) fn selection(
    collections: Option<Vec<CollectionId>>,
    documents: Option<Vec<DocumentId>>,
    condition: Option<Condition>,
) -> Selection {
    Selection { collections, documents, condition }
}

/// A comparison of an attribute, or several conditions together, as in filters of vector stores of the OpenAI API.
#[derive(ToSchema)]
#[schema(as = Filter, examples(json!({ "type": "eq", "key": "year", "value": 2025 })))]
#[expect(dead_code, reason = "documents what `parse_filters` reads")]
#[schema(no_recursion)]
#[serde(untagged)]
pub(crate) enum FilterBody {
    /// Compares an attribute.
    Comparison(ComparisonBody),
    /// Combines conditions.
    Compound(CompoundBody),
}

/// A comparison of an attribute. A document without the attribute meets only `ne` and `nin`.
#[derive(ToSchema)]
#[schema(as = ComparisonFilter)]
#[expect(dead_code, reason = "documents what `parse_filters` reads")]
pub(crate) struct ComparisonBody {
    /// `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in` or `nin`.
    r#type: ComparisonName,
    /// Key of an attribute, or one of the built-in attributes `collection`, `owner`, `title`, `file_name`, `pages` and `created_at`.
    #[schema(min_length = 1, max_length = 64)]
    key: String,
    /// A string, number or boolean; a list of them for `in` and `nin`.
    value: Value,
}

/// Name of an operator.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "documents what `parse_filters` reads")]
pub(crate) enum ComparisonName {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Nin,
}

/// Several conditions.
#[derive(ToSchema)]
#[schema(as = CompoundFilter, no_recursion)]
#[expect(dead_code, reason = "documents what `parse_filters` reads")]
pub(crate) struct CompoundBody {
    /// `and` or `or`.
    r#type: CompoundName,
    /// The conditions.
    filters: Vec<FilterBody>,
}

/// How conditions are combined.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "documents what `parse_filters` reads")]
pub(crate) enum CompoundName {
    And,
    Or,
}

/// Parses the field `filters` of a body.
pub(crate) fn parse_filters(value: Option<Value>) -> Result<Option<Condition>, ValidationError> {
    value.map(|value| condition(&value, 1)?.checked()).transpose()
}

/// Parses filters in a parameter of a URL.
pub(crate) fn filters_of_text(text: &str) -> Option<Condition> {
    parse_filters(serde_json::from_str(text).ok()).ok().flatten()
}

fn condition(value: &Value, depth: usize) -> Result<Condition, ValidationError> {
    if depth > CONDITION_DEPTH_MAX {
        return Err(invalid(format!("must not be nested deeper than {CONDITION_DEPTH_MAX} levels")));
    }
    let object = value.as_object().ok_or_else(|| invalid("must be objects with \"type\""))?;
    let kind = object.get("type").and_then(Value::as_str).ok_or_else(|| invalid("must have a \"type\""))?;
    if let "and" | "or" = kind {
        check_keys(object, &["type", "filters"])?;
        let parts = object.get("filters").and_then(Value::as_array);
        let parts =
            parts.ok_or_else(|| invalid("of the types \"and\" and \"or\" must have a list \"filters\""))?;
        if parts.len() > COMPARISONS_MAX {
            return Err(invalid(format!("must have at most {COMPARISONS_MAX} comparisons")));
        }
        let parts = parts.iter().map(|part| condition(part, depth + 1)).collect::<Result<_, _>>()?;
        return Ok(if kind == "and" { Condition::And(parts) } else { Condition::Or(parts) });
    }
    let comparison = Comparison::parse(kind)
        .ok_or_else(|| invalid("must have a type eq, ne, gt, gte, lt, lte, in, nin, and or or"))?;
    check_keys(object, &["type", "key", "value"])?;
    let key = object.get("key").and_then(Value::as_str).ok_or_else(|| invalid("must have a \"key\""))?;
    let key = AttributeKey::parse(key).map_err(|error| invalid(error.reason))?;
    let value = object.get("value").ok_or_else(|| invalid("must have a \"value\""))?;
    let values = match (comparison, value) {
        (Comparison::In | Comparison::Nin, Value::Array(values)) if values.len() > COMPARISONS_MAX => {
            return Err(invalid(format!("must have at most {COMPARISONS_MAX} comparisons")));
        }
        (Comparison::In | Comparison::Nin, Value::Array(values)) => {
            values.iter().map(attribute_value).collect::<Result<_, _>>()?
        }
        (Comparison::In | Comparison::Nin, _) => {
            return Err(invalid("of the types \"in\" and \"nin\" must have a list of values"));
        }
        (_, value) => vec![attribute_value(value)?],
    };
    Condition::compare(key, comparison, values)
}

fn check_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), ValidationError> {
    match object.keys().all(|key| known.contains(&key.as_str())) {
        true => Ok(()),
        false => Err(invalid(format!("must have no other fields than {}", known.join(", ")))),
    }
}

/// Parses the value of an attribute.
fn attribute_value(value: &Value) -> Result<AttributeValue, ValidationError> {
    match value {
        Value::String(text) => AttributeValue::string(text),
        Value::Number(number) => AttributeValue::number(number.as_f64().unwrap_or(f64::NAN)),
        Value::Bool(is_true) => Ok(AttributeValue::Boolean(*is_true)),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(invalid("can compare only strings, numbers and booleans"))
        }
    }
    .map_err(|error| invalid(error.reason))
}

/// Parses attributes of a document.
pub(crate) fn parse_attributes(value: Option<Value>) -> Result<Option<Attributes>, ValidationError> {
    let Some(value) = value else { return Ok(None) };
    let wrong = |reason: &str| ValidationError::new("attributes", reason);
    let object = value.as_object().ok_or_else(|| wrong("must be an object"))?;
    let mut values = BTreeMap::new();
    for (key, value) in object {
        let value = attribute_value(value).map_err(|error| {
            wrong(&error.reason.replace("can compare only", "must have only values that are"))
        })?;
        values.insert(AttributeKey::parse(key)?, value);
    }
    Attributes::new(values).map(Some)
}

/// Attributes of a document as JSON. Whole numbers have no decimal point.
pub(crate) fn attributes_json(attributes: &Attributes) -> Map<String, Value> {
    let value = |value: &AttributeValue| match value {
        AttributeValue::String(text) => Value::from(text.as_str()),
        AttributeValue::Boolean(is_true) => Value::from(*is_true),
        AttributeValue::Number(number) => {
            let whole = *number as i64;
            // Above 2^53, not every whole number is exact.
            if whole as f64 == *number && whole.unsigned_abs() <= 1 << 53 {
                Value::from(whole)
            } else {
                Value::from(*number)
            }
        }
    };
    attributes.iter().map(|(key, of)| (key.as_str().to_owned(), value(of))).collect()
}

fn invalid(reason: impl Into<String>) -> ValidationError {
    ValidationError::new("filters", reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn filters_of_vector_stores_are_read() {
        let read = |value: Value| parse_filters(Some(value)).unwrap().unwrap();
        let key = AttributeKey::parse("year").unwrap();
        let year =
            Condition::compare(key.clone(), Comparison::Eq, vec![AttributeValue::Number(2025.0)]).unwrap();
        assert_eq!(read(json!({ "type": "eq", "key": "year", "value": 2025 })), year);
        let any = Condition::compare(key, Comparison::In, vec![AttributeValue::Boolean(true)]).unwrap();
        let listed = json!({ "type": "in", "key": "year", "value": [true] });
        let nested = json!({ "type": "or", "filters": [listed, { "type": "and", "filters": [] }] });
        assert_eq!(read(nested), Condition::Or(vec![any, Condition::And(Vec::new())]));
    }

    #[test]
    fn wrong_filters_are_rejected() {
        for wrong in [
            json!([]),
            json!({}),
            json!({ "type": "like", "key": "a", "value": "b" }),
            json!({ "type": "eq", "key": "a b", "value": "b" }),
            json!({ "type": "eq", "key": "a", "value": ["b"] }),
            json!({ "type": "in", "key": "a", "value": "b" }),
            json!({ "type": "gt", "key": "a", "value": "b" }),
            json!({ "type": "eq", "key": "a", "value": null }),
            json!({ "type": "eq", "key": "a", "value": 1, "more": 2 }),
            json!({ "type": "and", "filters": {} }),
            json!({ "type": "in", "key": "a", "value": vec![1; 201] }),
        ] {
            assert!(parse_filters(Some(wrong.clone())).is_err(), "{wrong}");
        }
        let deep = (0..1000).fold(
            json!({ "type": "and", "filters": [] }),
            |inner, _| json!({ "type": "and", "filters": [inner] }),
        );
        assert!(parse_filters(Some(deep)).is_err());
    }

    #[test]
    fn attributes_round_trip() {
        let value = json!({ "a": "x", "b": true, "c": 2025, "d": 0.5, "e": 1e300 });
        let attributes = parse_attributes(Some(value.clone())).unwrap().unwrap();
        assert_eq!(Value::Object(attributes_json(&attributes)), value);
        for wrong in [json!([]), json!({ "a": null }), json!({ "pages": 1 }), json!({ "": 1 })] {
            assert!(parse_attributes(Some(wrong.clone())).is_err(), "{wrong}");
        }
    }
}
