//! Labels of documents in the payload of points.
//!
//! ```text
//! collections    list with the IDs of the collections that have the document
//! attributes     object with the attributes that users gave it, and the built-in ones except `collection`
//! ```
//!
//! Points of earlier versions have neither field. Their document counts as in [`CollectionId::EVERYONE`].
//!
//! [`CollectionId::EVERYONE`]: docent_domain::id::CollectionId::EVERYONE

use super::value::{integer, list, object_of, string};
use docent_domain::attributes::{AttributeKey, AttributeValue, BuiltIn};
use docent_domain::labels::DocumentLabels;
use qdrant_client::qdrant::Value;
use qdrant_client::qdrant::value::Kind;
use std::collections::HashMap;

/// The payload field with the IDs of collections.
pub(super) const COLLECTIONS: &str = "collections";
const ATTRIBUTES: &str = "attributes";

/// The payload fields with a document's labels.
pub(super) fn payload(labels: &DocumentLabels) -> [(&'static str, Value); 2] {
    let mut collections: Vec<Value> = labels.collections.iter().map(|id| string(id.to_string())).collect();
    if collections.is_empty() {
        // The server does not distinguish an empty list from a missing field.
        collections.push(Value { kind: Some(Kind::NullValue(0)) });
    }
    let own = labels.attributes.iter().map(|(key, of)| (key.as_str().to_owned(), value(of)));
    let mut attributes: HashMap<String, Value> = own.collect();
    let built_in = [
        (BuiltIn::Owner, labels.owner.map(|id| string(id.to_string()))),
        (BuiltIn::Title, Some(string(labels.title.clone()))),
        (BuiltIn::FileName, Some(string(labels.file_name.clone()))),
        (BuiltIn::Pages, Some(integer(labels.pages.into()))),
        (BuiltIn::Language, labels.language.clone().map(string)),
        (BuiltIn::CreatedAt, Some(integer(labels.created_at.timestamp()))),
    ];
    attributes.extend(built_in.into_iter().filter_map(|(of, value)| Some((of.key().to_owned(), value?))));
    [(COLLECTIONS, list(collections)), (ATTRIBUTES, object_of(attributes))]
}

fn value(value: &AttributeValue) -> Value {
    let kind = match value {
        AttributeValue::String(text) => Kind::StringValue(text.clone()),
        AttributeValue::Number(number) => Kind::DoubleValue(*number),
        AttributeValue::Boolean(boolean) => Kind::BoolValue(*boolean),
    };
    Value { kind: Some(kind) }
}

/// The JSON path of an attribute. Keys contain no quotation marks.
pub(super) fn path(key: &AttributeKey) -> String {
    format!("{ATTRIBUTES}.\"{}\"", key.as_str())
}
