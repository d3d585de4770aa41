//! Forms of documents and their summaries.

use super::Stored;
use chrono::{DateTime, Utc};
use docent_domain::attributes::Attributes;
use docent_domain::document::{
    BlobKey, Document, DocumentState, Failed, Failure, FailureCode, Ingested, Pending, Replacement,
    StoredFile, VectorDocId,
};
use docent_domain::error::ValidationError;
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::extraction::{
    Coverage, IngestionStats, PageLabels, RecognitionCoverage, RecognizedPageCoverage,
};
use docent_domain::file_type::FileType;
use docent_domain::id::{CollectionId, DocumentId, UserId, VersionId};
use docent_domain::recognition::RecognitionFailure;
use docent_domain::summary::{
    Description, DocumentSummary, Fallback, Heading, KeyPoint, Place, SuggestedQuestion,
};
use docent_domain::text::{FileName, Title};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

record! {
    Document {
        id: DocumentId,
        owner: Option<UserId>,
        title: Title,
        #[serde(default = "first_version")]
        version: u32,
        #[serde(default)]
        version_id: VersionId,
        file: Option<StoredFile>,
        replacement: Option<Replacement>,
        state: DocumentState,
        coverage: Option<Coverage>,
        #[serde(rename = "effort")]
        stats: Option<IngestionStats>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
        #[serde(default = "everyone")]
        collections: BTreeSet<CollectionId>,
        #[serde(default)]
        attributes: Attributes,
    } without {
        labels_revision: 1,
    } adjust with_version_id
}

/// The number of the version that earlier versions of this program do not name.
pub(super) const fn first_version() -> u32 {
    1
}

/// The collection of documents that were stored before there were collections.
fn everyone() -> Vec<Uuid> {
    vec![CollectionId::EVERYONE.as_uuid()]
}

/// Adds the ID of a first version, which earlier versions of this program do not store.
fn with_version_id(document: Document) -> Document {
    match document.version_id.as_uuid().is_nil() {
        true => Document { version_id: VersionId::first(document.id), ..document },
        false => document,
    }
}

record! {
    StoredFile {
        blob: BlobKey,
        name: FileName,
        bytes: u64,
        sha256: [u8; 32],
        #[serde(default = "pdf")]
        file_type: FileType,
    }
}

/// The type of files that earlier versions of this program do not name.
fn pdf() -> String {
    FileType::Pdf.to_form()
}

record! {
    Replacement {
        version: u32,
        version_id: VersionId,
        file: StoredFile,
        failure: Option<Failure>,
        at: DateTime<Utc>,
    }
}

// Replacements in archives of earlier versions have an array of these fields, which serde reads too.
record! {
    Failure {
        code: FailureCode,
        reason: String,
    }
}

/// The form of a [`DocumentState`].
#[derive(Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum StateForm {
    Pending,
    Ingested(<Ingested as Stored>::Form),
    Failed(<Failed as Stored>::Form),
}

impl Stored for DocumentState {
    type Form = StateForm;

    fn to_form(&self) -> StateForm {
        match self {
            Self::Pending(_) => StateForm::Pending,
            Self::Ingested(ingested) => StateForm::Ingested(ingested.to_form()),
            Self::Failed(failed) => StateForm::Failed(failed.to_form()),
        }
    }

    fn from_form(form: StateForm) -> Result<Self, ValidationError> {
        Ok(match form {
            StateForm::Pending => Self::Pending(Pending),
            StateForm::Ingested(form) => Self::Ingested(Stored::from_form(form)?),
            StateForm::Failed(form) => Self::Failed(Stored::from_form(form)?),
        })
    }
}

record! {
    Ingested {
        vector_doc_id: VectorDocId,
        at: DateTime<Utc>,
    }
}

record! {
    Failed {
        #[serde(flatten)]
        failure: Failure,
        at: DateTime<Utc>,
    }
}

record! {
    Coverage {
        pages: u32,
        empty_pages: Vec<u32>,
        unreliable_pages: Vec<u32>,
        truncated_pages: Vec<u32>,
        characters: u64,
        chunks: u32,
        tokens: u64,
        language: Option<String>,
        recognition: Option<RecognitionCoverage>,
        #[serde(default)]
        page_labels: PageLabels,
        #[serde(default)]
        unread_picture_pages: Vec<u32>,
        #[serde(default)]
        described_pages: Vec<u32>,
        #[serde(default)]
        undescribed_pages: Vec<u32>,
        #[serde(default)]
        lacking_result_pages: Vec<u32>,
    }
}

record! {
    RecognitionCoverage {
        recognizer: String,
        pages: Vec<RecognizedPageCoverage>,
        #[serde(default)]
        picture_pages: Vec<RecognizedPageCoverage>,
        #[serde(rename = "failed")]
        failed_pages: Vec<(u32, RecognitionFailure)>,
    }
}

record! {
    IngestionStats {
        extractor: String,
        attempts: u32,
        extract: Duration,
        chunk: Duration,
        embed: Duration,
        index: Duration,
        #[serde(default)]
        shortened_passages: u32,
    }
}

record! {
    ExternalFile {
        id: ExternalId,
        entity: Option<ExternalId>,
    } without {
        // The ID is that of the record that contains this one.
        document: DocumentId::from_uuid(Uuid::nil()),
    }
}

record! {
    DocumentSummary {
        #[serde(rename = "version_id")]
        version: VersionId,
        ingested_at: DateTime<Utc>,
        created_at: DateTime<Utc>,
        description: Option<Description>,
        points: Vec<KeyPoint>,
        headings: Vec<Heading>,
        years: Vec<u16>,
        questions: Vec<SuggestedQuestion>,
        model: Option<String>,
        fallback: Option<Fallback>,
    }
}

array! {
    Description { text: String, place: Option<Place> }
    KeyPoint { text: String, place: Place }
    Place { page: u32, chunk: u32 }
    Heading { title: String, page: Option<u32> }
    SuggestedQuestion { text: String, page: u32 }
    RecognizedPageCoverage { page: u32, confidence: u8 }
}
