//! Selections of documents in requests: collections, documents and conditions.

use deserr::Deserr;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::condition::Condition;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::selection::Selection;
use docent_http::BodyErrors;
use docent_http::extract::condition::attribute_value;
pub(crate) use docent_http::extract::condition::{filters_of_text, parse_filters};
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

/// Parses attributes in a parameter of a URL.
///
/// # Errors
/// If they are not valid.
pub(crate) fn attributes_of_text(text: &str) -> Result<Attributes, ValidationError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|_| ValidationError::new("attributes", "must be a JSON object"))?;
    Ok(parse_attributes(Some(value))?.unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
