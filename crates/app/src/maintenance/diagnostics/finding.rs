//! Problems that diagnostics can find.

use chrono::{DateTime, Utc};
use docent_domain::document::BlobKey;
use docent_domain::fault::{Component, Fault};
use docent_domain::generation::IndexGeneration;
use docent_domain::id::{DocumentId, JobId, VersionId};
use docent_ports::store::Schema;

/// A problem of an installation.
#[derive(Debug)]
pub enum Finding {
    /// A component does not work.
    ComponentDown(Component, Fault),
    /// The database's schema is not the one that this program needs.
    Schema(Schema),
    /// The index's vectors do not have the dimensions of the embedding model.
    DimensionMismatch {
        /// Of the index's vectors; none when its chunks have no vectors.
        index: Option<usize>,
        /// Of the model's vectors; none when it produces none.
        model: Option<usize>,
    },
    /// The configured embedding model is not the one that the index was built with.
    ModelMismatch {
        /// The model of the active index.
        active: String,
        /// The configured model.
        configured: String,
    },
    /// An index build is in progress or was interrupted.
    UnfinishedBuild(IndexGeneration),
    /// The vector collection of a replaced index still exists.
    RetiredIndex(IndexGeneration),
    /// A pending document has no ingestion job.
    NotQueued(DocumentId),
    /// A deleted document has no removal job.
    NotRemoved(DocumentId),
    /// A job's lease has expired, and no runner has taken the job.
    ExpiredLease {
        /// The job.
        job: JobId,
        /// Its document.
        document: DocumentId,
        /// When the lease expired.
        since: DateTime<Utc>,
    },
    /// The number of an ingested document's chunks is not the recorded one.
    WrongChunks {
        /// The document.
        document: DocumentId,
        /// The recorded number.
        recorded: u64,
        /// The actual number.
        actual: u64,
    },
    /// Chunks of a failed or unknown document.
    OrphanChunks {
        /// The version's ID in the chunks.
        version: VersionId,
        /// The number of chunks.
        chunks: u64,
    },
    /// Most of what a store has is of documents that the database does not know: it may belong to another
    /// installation, or the database is not the right one. Nothing of it is reported as an orphan.
    MostlyUnknown {
        /// The store.
        store: Component,
        /// Number of unknown documents or files.
        unknown: u64,
    },
    /// A file without a document.
    OrphanFile {
        /// Its key.
        key: BlobKey,
        /// Its size.
        bytes: u64,
    },
    /// A file with a key that this service does not use.
    ForeignFile(BlobKey),
    /// A document's file is missing.
    FileMissing(DocumentId),
    /// The size of a document's file is not the recorded one.
    FileSize {
        /// The document.
        document: DocumentId,
        /// The recorded size.
        recorded: u64,
        /// The actual size.
        actual: u64,
    },
}

impl Finding {
    /// The machine-readable kind of the finding.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ComponentDown(..) => "part_down",
            Self::Schema(_) => "schema",
            Self::DimensionMismatch { .. } => "dimensions",
            Self::ModelMismatch { .. } => "other_model",
            Self::UnfinishedBuild(_) => "build_unfinished",
            Self::RetiredIndex(_) => "retired_left",
            Self::NotQueued(_) => "not_queued",
            Self::NotRemoved(_) => "not_removed",
            Self::ExpiredLease { .. } => "lease_over",
            Self::WrongChunks { .. } => "wrong_chunks",
            Self::OrphanChunks { .. } => "orphan_chunks",
            Self::MostlyUnknown { .. } => "mostly_unknown",
            Self::OrphanFile { .. } => "orphan_file",
            Self::ForeignFile(_) => "foreign_file",
            Self::FileMissing(_) => "file_missing",
            Self::FileSize { .. } => "file_size",
        }
    }

    /// The ID of the affected component, index, document, job or file.
    pub fn id(&self) -> String {
        match self {
            Self::ComponentDown(part, _) | Self::MostlyUnknown { store: part, .. } => part.code().to_owned(),
            Self::Schema(_) => Component::Database.code().to_owned(),
            Self::DimensionMismatch { .. } => Component::VectorStore.code().to_owned(),
            Self::ModelMismatch { .. } => Component::Embedder.code().to_owned(),
            Self::UnfinishedBuild(generation) | Self::RetiredIndex(generation) => generation.id.to_string(),
            Self::NotQueued(document)
            | Self::NotRemoved(document)
            | Self::WrongChunks { document, .. }
            | Self::FileMissing(document)
            | Self::FileSize { document, .. } => document.to_string(),
            Self::OrphanChunks { version, .. } => version.to_string(),
            Self::ExpiredLease { job, .. } => job.to_string(),
            Self::OrphanFile { key, .. } | Self::ForeignFile(key) => key.as_str().to_owned(),
        }
    }

    /// A description for people.
    pub fn description(&self) -> String {
        let vectors = |size: &Option<usize>| match size {
            Some(size) => format!("vectors of {size} dimensions"),
            None => "no vectors".to_owned(),
        };
        match self {
            Self::ComponentDown(_, fault) => fault.report(),
            Self::Schema(Schema::Older) => "the schema is older than this program requires".to_owned(),
            Self::Schema(Schema::Newer) => "the schema is newer than this program".to_owned(),
            Self::Schema(Schema::Missing) => "the database has no schema yet".to_owned(),
            Self::Schema(Schema::Current) => "the schema is current".to_owned(),
            Self::DimensionMismatch { index, model } => {
                format!(
                    "its chunks have {}, but the embedding model produces {}",
                    vectors(index),
                    vectors(model)
                )
            }
            Self::ModelMismatch { active, configured } => format!(
                "the active index uses the embedding model {active}, but the configured one is {configured}"
            ),
            Self::UnfinishedBuild(IndexGeneration { model, created_at, .. }) => {
                format!(
                    "an index build with the embedding model {model} was started at {created_at} and is not finished"
                )
            }
            Self::RetiredIndex(IndexGeneration { collection, .. }) => {
                format!("the vector collection {collection} was replaced but still exists")
            }
            Self::NotQueued(_) => "the document is pending but has no ingestion job".to_owned(),
            Self::NotRemoved(_) => "the document was deleted but has no removal job".to_owned(),
            Self::ExpiredLease { document, since, .. } => {
                format!(
                    "its lease expired at {since} and no runner has taken it; it belongs to document {document}"
                )
            }
            Self::WrongChunks { recorded, actual, .. } => {
                format!("the document should have {recorded} chunks but has {actual}")
            }
            Self::OrphanChunks { chunks, .. } => format!("{chunks} chunks without an ingested document"),
            Self::MostlyUnknown { store: Component::VectorStore, unknown } => format!(
                "most of its chunks belong to {unknown} documents that the database does not know; none are deleted"
            ),
            Self::MostlyUnknown { unknown, .. } => {
                format!(
                    "most of its files ({unknown}) belong to no document in the database; none are deleted"
                )
            }
            Self::OrphanFile { bytes, .. } => format!("a file of {bytes} bytes without a document"),
            Self::ForeignFile(_) => "a file that was not written by this service".to_owned(),
            Self::FileMissing(_) => "the document's file is missing".to_owned(),
            Self::FileSize { recorded, actual, .. } => {
                format!("the document's file should have {recorded} bytes but has {actual}")
            }
        }
    }

    /// What its repair does; `None` if this program cannot repair it.
    pub const fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NotQueued(_) | Self::NotRemoved(_) => Some("queues the job"),
            Self::WrongChunks { .. } => {
                Some("ingests the document again, or marks it as failed if its file is missing")
            }
            Self::OrphanChunks { .. } => Some("deletes the chunks"),
            Self::OrphanFile { .. } => Some("deletes the file"),
            Self::RetiredIndex(_) => Some("deletes the vector collection"),
            Self::ComponentDown(..)
            | Self::Schema(_)
            | Self::DimensionMismatch { .. }
            | Self::ModelMismatch { .. }
            | Self::UnfinishedBuild(_)
            | Self::ExpiredLease { .. }
            | Self::MostlyUnknown { .. }
            | Self::ForeignFile(_)
            | Self::FileMissing(_)
            | Self::FileSize { .. } => None,
        }
    }

    /// What an operator can do about a finding that this program cannot repair.
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::ComponentDown(..) => Some("check that it is running and that its settings are correct"),
            Self::Schema(Schema::Older | Schema::Missing) => Some("run `docent migrate`"),
            Self::Schema(_) => Some("upgrade this program"),
            Self::DimensionMismatch { .. } => {
                Some("configure the embedding model that the index was built with, or run `docent reindex`")
            }
            Self::ModelMismatch { .. } => Some(
                "run `docent reindex` to build an index with the configured model, or set DOCENT_EMBEDDING_MODEL (and DOCENT_EMBEDDING_QUERY_PREFIX and DOCENT_EMBEDDING_DOCUMENT_PREFIX) to the \
                 active one",
            ),
            Self::UnfinishedBuild(_) => {
                Some("run `docent reindex` to resume it, or `docent reindex --abandon` to cancel it")
            }
            Self::RetiredIndex(_) => Some("a running service deletes it within an hour"),
            Self::ExpiredLease { .. } => {
                Some("check that a service is running: it takes expired jobs within seconds")
            }
            Self::MostlyUnknown { .. } => Some(
                "check the settings of the database and of this store: they may be of different installations; \
                 data that is no longer needed must be deleted by hand",
            ),
            Self::ForeignFile(_) => Some("do not store other files in the blob store"),
            Self::FileMissing(_) | Self::FileSize { .. } => {
                Some("restore the file from a backup, or delete the document and upload it again")
            }
            Self::NotQueued(_)
            | Self::NotRemoved(_)
            | Self::WrongChunks { .. }
            | Self::OrphanChunks { .. }
            | Self::OrphanFile { .. } => None,
        }
    }
}
