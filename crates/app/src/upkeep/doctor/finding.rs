//! What can be wrong.

use chrono::{DateTime, Utc};
use docent_domain::{
    document::BlobKey,
    generation::IndexGeneration,
    id::{DocumentId, JobId},
};
use docent_ports::{
    error::{Component, Fault},
    store::Schema,
};

/// Something that is not as it should be.
#[derive(Debug)]
pub enum Finding {
    /// A part does not work.
    PartDown(Component, Fault),
    /// The database's schema is not this program's.
    Schema(Schema),
    /// The collection's vectors are not those of the embedding model.
    Dimensions {
        /// Of the collection's vectors; none when its chunks have none.
        collection: Option<usize>,
        /// Of the model's vectors; none when it makes none.
        model: Option<usize>,
    },
    /// The settings name another embedding model than the index was made with.
    OtherModel {
        /// The model of the index that serves.
        serving: String,
        /// The model of the settings.
        configured: String,
    },
    /// An index is being built, or was left unfinished.
    BuildUnfinished(IndexGeneration),
    /// The collection of an index that another one has replaced is there still.
    RetiredLeft(IndexGeneration),
    /// A document waits for an ingestion that no job will do.
    NotQueued(DocumentId),
    /// What is left of a deleted document waits for a removal that no job will do.
    NotRemoved(DocumentId),
    /// A job's lease ran out, and nobody took it up.
    LeaseOver {
        /// The job.
        job: JobId,
        /// Its document.
        document: DocumentId,
        /// When the lease ran out.
        since: DateTime<Utc>,
    },
    /// An ingested document has another number of chunks than it should.
    WrongChunks {
        /// The document.
        document: DocumentId,
        /// How many it should have.
        recorded: u64,
        /// How many it has.
        there: u64,
    },
    /// Chunks of a document that does not exist or that failed.
    OrphanChunks {
        /// The document that they name.
        document: DocumentId,
        /// How many there are.
        chunks: u64,
    },
    /// A file that no document has.
    OrphanFile {
        /// Its key.
        key: BlobKey,
        /// Its size.
        bytes: u64,
    },
    /// A file under a name that this service does not give.
    ForeignFile(BlobKey),
    /// A document's file is gone.
    FileMissing(DocumentId),
    /// A document's file has another size than was recorded.
    FileSize {
        /// The document.
        document: DocumentId,
        /// The recorded size.
        recorded: u64,
        /// The size it has.
        there: u64,
    },
}

impl Finding {
    /// What kind of finding it is, for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::PartDown(..) => "part_down",
            Self::Schema(_) => "schema",
            Self::Dimensions { .. } => "dimensions",
            Self::OtherModel { .. } => "other_model",
            Self::BuildUnfinished(_) => "build_unfinished",
            Self::RetiredLeft(_) => "retired_left",
            Self::NotQueued(_) => "not_queued",
            Self::NotRemoved(_) => "not_removed",
            Self::LeaseOver { .. } => "lease_over",
            Self::WrongChunks { .. } => "wrong_chunks",
            Self::OrphanChunks { .. } => "orphan_chunks",
            Self::OrphanFile { .. } => "orphan_file",
            Self::ForeignFile(_) => "foreign_file",
            Self::FileMissing(_) => "file_missing",
            Self::FileSize { .. } => "file_size",
        }
    }

    /// What it is about: a part, a document, a job or a file.
    pub fn id(&self) -> String {
        match self {
            Self::PartDown(part, _) => part.code().to_owned(),
            Self::Schema(_) => Component::Database.code().to_owned(),
            Self::Dimensions { .. } => Component::VectorStore.code().to_owned(),
            Self::OtherModel { .. } => Component::Embedder.code().to_owned(),
            Self::BuildUnfinished(generation) | Self::RetiredLeft(generation) => generation.id.to_string(),
            Self::NotQueued(document)
            | Self::NotRemoved(document)
            | Self::WrongChunks { document, .. }
            | Self::OrphanChunks { document, .. }
            | Self::FileMissing(document)
            | Self::FileSize { document, .. } => document.to_string(),
            Self::LeaseOver { job, .. } => job.to_string(),
            Self::OrphanFile { key, .. } | Self::ForeignFile(key) => key.as_str().to_owned(),
        }
    }

    /// What is wrong, for people.
    pub fn what(&self) -> String {
        let vectors = |size: &Option<usize>| match size {
            Some(size) => format!("vectors of {size} dimensions"),
            None => "no vectors".to_owned(),
        };
        match self {
            Self::PartDown(_, fault) => fault.report(),
            Self::Schema(Schema::Older) => "the schema is older than this program needs".to_owned(),
            Self::Schema(Schema::Newer) => "the schema is newer than this program".to_owned(),
            Self::Schema(Schema::Missing) => "there is no schema yet".to_owned(),
            Self::Schema(Schema::Current) => "the schema is current".to_owned(),
            Self::Dimensions { collection, model } => {
                format!(
                    "its chunks have {}, the embedding model gives {}",
                    vectors(collection),
                    vectors(model)
                )
            }
            Self::OtherModel { serving, configured } => format!(
                "the index was made with the embedding model {serving} and goes on with it, \
                 and the settings name {configured}"
            ),
            Self::BuildUnfinished(IndexGeneration { model, created_at, .. }) => {
                format!("an index with the embedding model {model} is being built, begun at {created_at}")
            }
            Self::RetiredLeft(IndexGeneration { collection, .. }) => {
                format!("the collection {collection} is there still, and another one has replaced it")
            }
            Self::NotQueued(_) => "the document is pending, and no job will ingest it".to_owned(),
            Self::NotRemoved(_) => "the document was deleted, and no job will remove what is left".to_owned(),
            Self::LeaseOver { document, since, .. } => {
                format!("its lease ran out at {since}, and nobody took it up; it is of document {document}")
            }
            Self::WrongChunks { recorded, there, .. } => {
                format!("the document should have {recorded} chunks and has {there}")
            }
            Self::OrphanChunks { chunks, .. } => format!("{chunks} chunks of no ingested document"),
            Self::OrphanFile { bytes, .. } => format!("a file of {bytes} bytes that no document has"),
            Self::ForeignFile(_) => "a file that this service did not write".to_owned(),
            Self::FileMissing(_) => "the document's file is gone".to_owned(),
            Self::FileSize { recorded, there, .. } => {
                format!("the document's file should have {recorded} bytes and has {there}")
            }
        }
    }

    /// What mending it does; `None` when it is not for this program to mend.
    pub const fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::NotQueued(_) => Some("adds the job"),
            Self::NotRemoved(_) => Some("adds the job"),
            Self::WrongChunks { .. } => Some("ingests the document again, or fails it if its file is gone"),
            Self::OrphanChunks { .. } => Some("removes the chunks"),
            Self::OrphanFile { .. } => Some("removes the file"),
            Self::RetiredLeft(_) => Some("removes the collection"),
            Self::PartDown(..)
            | Self::Schema(_)
            | Self::Dimensions { .. }
            | Self::OtherModel { .. }
            | Self::BuildUnfinished(_)
            | Self::LeaseOver { .. }
            | Self::ForeignFile(_)
            | Self::FileMissing(_)
            | Self::FileSize { .. } => None,
        }
    }

    /// What whoever runs the installation can do about what this program does not mend.
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::PartDown(..) => Some("see whether it runs and whether the settings lead to it"),
            Self::Schema(Schema::Older | Schema::Missing) => Some("run `docent migrate`"),
            Self::Schema(_) => Some("run the newer program"),
            Self::Dimensions { .. } => {
                Some("use the embedding model that the chunks were made with, or run `docent reindex`")
            }
            Self::OtherModel { .. } => {
                Some("run `docent reindex` to change the index, or set DOCENT_EMBEDDING_MODEL to its model")
            }
            Self::BuildUnfinished(_) => {
                Some("run `docent reindex` to go on with it, or `docent reindex --abandon` to give it up")
            }
            Self::RetiredLeft(_) => Some("the running service removes it within the hour"),
            Self::LeaseOver { .. } => Some("any running service takes it up: is one running?"),
            Self::ForeignFile(_) => Some("keep other things out of the blob store"),
            Self::FileMissing(_) | Self::FileSize { .. } => {
                Some("bring the file back from a backup, or delete the document and upload it again")
            }
            Self::NotQueued(_)
            | Self::NotRemoved(_)
            | Self::WrongChunks { .. }
            | Self::OrphanChunks { .. }
            | Self::OrphanFile { .. } => None,
        }
    }
}
