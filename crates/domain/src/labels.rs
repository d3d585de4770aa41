//! Labels of documents in vector stores.

use crate::attributes::{AttributeKey, AttributeValue, Attributes, BuiltIn};
use crate::document::Document;
use crate::extraction::Coverage;
use crate::id::{CollectionId, UserId};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// What vector stores know about a document to apply scopes and conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentLabels {
    /// Collections that have the document.
    pub collections: BTreeSet<CollectionId>,
    /// Account that owns it.
    pub owner: Option<UserId>,
    /// Title.
    pub title: String,
    /// Name of the uploaded file; empty for a document without a file.
    pub file_name: String,
    /// Number of pages; 0 before the ingestion.
    pub pages: u32,
    /// Language of its text; see [`Coverage::language`](crate::extraction::Coverage::language).
    pub language: Option<String>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Attributes that users gave it.
    pub attributes: Attributes,
}

impl DocumentLabels {
    /// The labels of a document.
    pub fn of(document: &Document) -> Self {
        Self::with_coverage(document, document.coverage.as_ref())
    }

    /// The labels of a document that is ingested with this coverage.
    pub fn with_coverage(document: &Document, coverage: Option<&Coverage>) -> Self {
        let file_name = document.file.as_ref().map_or("", |file| file.name.as_str());
        Self {
            collections: document.collections.clone(),
            owner: document.owner,
            title: document.title.as_str().to_owned(),
            file_name: file_name.to_owned(),
            pages: coverage.map_or(0, |coverage| coverage.pages),
            language: coverage.and_then(|coverage| coverage.language.clone()),
            created_at: document.created_at,
            attributes: document.attributes.clone(),
        }
    }

    /// The values of an attribute, built in or not; several only for [`BuiltIn::Collection`].
    pub fn values(&self, key: &AttributeKey) -> Vec<AttributeValue> {
        let Some(built_in) = key.built_in() else {
            return self.attributes.get(key).cloned().into_iter().collect();
        };
        match built_in {
            BuiltIn::Collection => {
                self.collections.iter().map(|id| AttributeValue::String(id.to_string())).collect()
            }
            BuiltIn::Owner => self.owner.iter().map(|id| AttributeValue::String(id.to_string())).collect(),
            BuiltIn::Title => vec![AttributeValue::String(self.title.clone())],
            BuiltIn::FileName => vec![AttributeValue::String(self.file_name.clone())],
            BuiltIn::Pages => vec![AttributeValue::Number(f64::from(self.pages))],
            BuiltIn::Language => self.language.iter().cloned().map(AttributeValue::String).collect(),
            BuiltIn::CreatedAt => vec![AttributeValue::Number(self.created_at.timestamp() as f64)],
        }
    }
}
