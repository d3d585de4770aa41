//! Payload indexes of the attributes that conditions use.
//!
//! Without one the server reads the payload of every point that matches the query. Attributes are chosen by users, so their indexes are created when a
//! condition first uses them. The server builds an index in the background.

use super::connection::{Connection, kind};
use super::labels::path;
use docent_domain::attributes::{AttributeKey, AttributeValue, BuiltIn};
use docent_domain::condition::Condition;
use qdrant_client::qdrant::{CreateFieldIndexCollection, FieldType};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of attributes with an index, since each takes memory. A process counts those that its own searches used.
const INDEXED_MAX: usize = 32;

/// The attributes of a collection that have an index, or will soon.
#[derive(Debug, Default)]
pub(super) struct AttributeIndexes(Mutex<BTreeSet<String>>);

impl AttributeIndexes {
    /// Requests the indexes that a condition lacks. A search needs none, so faults are only logged. After a passing one
    /// the next search tries again; a server that refuses is not asked again.
    pub(super) async fn ensure(&self, connection: &Connection, collection: &str, condition: &Condition) {
        for (field, index_type) in fields(condition) {
            if !self.begin(&field) {
                continue;
            }
            let request = CreateFieldIndexCollection {
                collection_name: collection.to_owned(),
                wait: Some(false),
                field_name: field.clone(),
                field_type: Some(index_type.into()),
                ..CreateFieldIndexCollection::default()
            };
            // The server only accepts the request, so a search waits no longer than for an answer.
            if let Err(status) = connection.read(connection.points().create_field_index(request)).await {
                tracing::warn!(%status, "cannot index an attribute");
                if kind(&status).is_transient() {
                    self.known().remove(&field);
                }
            }
        }
    }

    /// Forgets what exists: the collection may have been replaced.
    pub(super) fn clear(&self) {
        self.known().clear();
    }

    /// Whether the index of a field is to be created by this caller.
    fn begin(&self, field: &str) -> bool {
        let mut known = self.known();
        known.len() < INDEXED_MAX && known.insert(field.to_owned())
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fields that a condition compares, with the type of index for its values.
fn fields(condition: &Condition) -> Vec<(String, FieldType)> {
    let field = |key: &AttributeKey, kind| {
        (key.built_in() != Some(BuiltIn::Collection)).then(|| (path(key), kind)).into_iter().collect()
    };
    match condition {
        Condition::OneOf { key, values, .. } => match values.first() {
            Some(AttributeValue::String(_)) => field(key, FieldType::Keyword),
            Some(AttributeValue::Number(_)) => field(key, FieldType::Float),
            Some(AttributeValue::Boolean(_)) => field(key, FieldType::Bool),
            None => Vec::new(),
        },
        Condition::Number { key, .. } => field(key, FieldType::Float),
        Condition::And(conditions) | Condition::Or(conditions) => {
            conditions.iter().flat_map(fields).collect()
        }
    }
}
