//! Documents in the archive format. Timestamps are microseconds since the Unix epoch.

use super::collection_lines::{ValueLine, attribute_lines, attributes, collection_ids, collections};
use super::conversation_lines::first_version;
use super::lines::{digest, hex, id, instant, invalid};
use super::summary_lines::SummaryLine;
use super::{BackupError, invalid_archive};
use docent_domain::document::{
    BlobKey, Document, DocumentState, Failed, Failure, FailureCode, Ingested, Pending, Replacement,
    StoredFile, VectorDocId,
};
use docent_domain::error::ValidationError;
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::extraction::{Coverage, IngestionStats, RecognitionCoverage, RecognizedPageCoverage};
use docent_domain::file_batch::FilePurpose;
use docent_domain::file_type::FileType;
use docent_domain::id::{CollectionId, DocumentId, VersionId};
use docent_domain::recognition::RecognitionFailure;
use docent_domain::summary::DocumentSummary;
use docent_domain::text::{FileName, Title};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A document with the digests of its entries.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DocumentLine {
    id: String,
    owner: Option<String>,
    title: String,
    #[serde(default = "first_version")]
    version: u32,
    /// Missing for the first version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version_id: Option<String>,
    file: Option<FileLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replacement: Option<ReplacementLine>,
    state: StateLine,
    coverage: Option<CoverageLine>,
    effort: Option<IngestionStatsLine>,
    created_at: i64,
    updated_at: i64,
    /// Missing in archives of earlier versions, whose documents everyone may read.
    collections: Option<Vec<String>>,
    #[serde(default)]
    attributes: BTreeMap<String, ValueLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryLine>,
    /// What a client of the OpenAI API uploaded its file for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    purpose: Option<String>,
    /// Missing unless another program gave the file an ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    external: Option<ExternalFileLine>,
    /// The SHA-256 of each of its other entries, by file name.
    pub(super) entries: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FileLine {
    blob: String,
    name: String,
    bytes: u64,
    sha256: String,
    /// Missing for a PDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file_type: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReplacementLine {
    version: u32,
    version_id: String,
    file: FileLine,
    /// Code and reason.
    failure: Option<(String, String)>,
    at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum StateLine {
    Pending,
    Ingested { vector_doc_id: String, at: i64 },
    Failed { code: String, reason: String, at: i64 },
}

#[derive(Debug, Serialize, Deserialize)]
struct CoverageLine {
    pages: u32,
    empty_pages: Vec<u32>,
    unreliable_pages: Vec<u32>,
    truncated_pages: Vec<u32>,
    characters: u64,
    chunks: u32,
    tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recognition: Option<RecognitionLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    page_labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unread_picture_pages: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lacking_result_pages: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RecognitionLine {
    recognizer: String,
    /// Number and confidence.
    pages: Vec<(u32, u8)>,
    /// Pages whose pictures were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    picture_pages: Vec<(u32, u8)>,
    /// Number and code of the failure.
    failed: Vec<(u32, String)>,
}

/// Durations are microseconds.
#[derive(Debug, Serialize, Deserialize)]
struct IngestionStatsLine {
    extractor: String,
    attempts: u32,
    extract: u64,
    chunk: u64,
    embed: u64,
    index: u64,
    #[serde(default)]
    shortened_passages: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExternalFileLine {
    id: String,
    entity: Option<String>,
}

impl ExternalFileLine {
    fn of(file: &ExternalFile) -> Self {
        let entity = file.entity.as_ref().map(|entity| entity.as_str().to_owned());
        Self { id: file.id.as_str().to_owned(), entity }
    }
}

impl DocumentLine {
    pub(super) fn of(
        document: &Document,
        (summary, purpose): (Option<&DocumentSummary>, Option<FilePurpose>),
        external: Option<&ExternalFile>,
        entries: BTreeMap<String, String>,
    ) -> Self {
        let file = document.file.as_ref().map(FileLine::of);
        let first = VersionId::first(document.id);
        let state = match &document.state {
            DocumentState::Pending(_) => StateLine::Pending,
            DocumentState::Ingested(ingested) => StateLine::Ingested {
                vector_doc_id: ingested.vector_doc_id.as_str().to_owned(),
                at: ingested.at.timestamp_micros(),
            },
            DocumentState::Failed(failed) => StateLine::Failed {
                code: failed.failure.code.as_str().to_owned(),
                reason: failed.failure.reason.clone(),
                at: failed.at.timestamp_micros(),
            },
        };
        Self {
            id: document.id.to_string(),
            owner: document.owner.map(|owner| owner.to_string()),
            title: document.title.as_str().to_owned(),
            version: document.version,
            version_id: (document.version_id != first).then(|| document.version_id.to_string()),
            file,
            replacement: document.replacement.as_ref().map(ReplacementLine::of),
            state,
            coverage: document.coverage.as_ref().map(CoverageLine::of),
            effort: document.stats.as_ref().map(IngestionStatsLine::of),
            created_at: document.created_at.timestamp_micros(),
            updated_at: document.updated_at.timestamp_micros(),
            collections: Some(collection_ids(&document.collections)),
            attributes: attribute_lines(&document.attributes),
            summary: summary.map(SummaryLine::of),
            purpose: purpose.map(|purpose| purpose.name().to_owned()),
            external: external.map(ExternalFileLine::of),
            entries,
        }
    }

    /// The stored purpose, if any.
    pub(super) fn purpose(&self) -> Result<Option<FilePurpose>, BackupError> {
        let parse = |name: &String| {
            FilePurpose::parse(name)
                .ok_or_else(|| invalid_archive(format!("`{name}` is not a known purpose")))
        };
        self.purpose.as_ref().map(parse).transpose()
    }

    /// The ID that another program gave to its file, if any.
    pub(super) fn external_file(&self) -> Result<Option<ExternalFile>, BackupError> {
        let file = |line: &ExternalFileLine| {
            let entity = line.entity.as_deref().map(ExternalId::parse).transpose();
            Ok(ExternalFile {
                document: id(&self.id)?,
                id: ExternalId::parse(&line.id).map_err(invalid)?,
                entity: entity.map_err(invalid)?,
            })
        };
        self.external.as_ref().map(file).transpose()
    }

    /// The stored summary, if any.
    pub(super) fn summary(&self) -> Result<Option<DocumentSummary>, BackupError> {
        self.summary.as_ref().map(SummaryLine::summary).transpose()
    }

    pub(super) fn document(&self) -> Result<Document, BackupError> {
        let state = match &self.state {
            StateLine::Pending => DocumentState::Pending(Pending),
            StateLine::Ingested { vector_doc_id, at } => DocumentState::Ingested(Ingested {
                vector_doc_id: VectorDocId::parse(vector_doc_id).map_err(invalid)?,
                at: instant(*at)?,
            }),
            StateLine::Failed { code, reason, at } => {
                let failure = failure(code, reason)?;
                DocumentState::Failed(Failed { failure, at: instant(*at)? })
            }
        };
        let document = id::<DocumentId>(&self.id)?;
        let version_id = match &self.version_id {
            Some(text) => id(text)?,
            None => VersionId::first(document),
        };
        Ok(Document {
            id: document,
            owner: self.owner.as_deref().map(id).transpose()?,
            collections: match &self.collections {
                Some(ids) => collections(ids)?,
                None => BTreeSet::from([CollectionId::EVERYONE]),
            },
            title: Title::parse(&self.title).map_err(invalid)?,
            attributes: attributes(&self.attributes)?,
            labels_revision: 1,
            version_id,
            version: self.version,
            file: self.file.as_ref().map(FileLine::file).transpose()?,
            replacement: self.replacement.as_ref().map(ReplacementLine::replacement).transpose()?,
            state,
            coverage: self.coverage.as_ref().map(CoverageLine::coverage).transpose()?,
            stats: self.effort.as_ref().map(IngestionStatsLine::stats),
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
        })
    }
}

fn failure(code: &str, reason: &str) -> Result<Failure, BackupError> {
    let code = FailureCode::parse(code)
        .ok_or_else(|| invalid_archive(format!("`{code}` is not a known failure code")))?;
    Ok(Failure { code, reason: reason.to_owned() })
}

impl FileLine {
    fn of(file: &StoredFile) -> Self {
        Self {
            blob: file.blob.as_str().to_owned(),
            name: file.name.as_str().to_owned(),
            bytes: file.bytes,
            sha256: hex(&file.sha256),
            file_type: (file.file_type != FileType::Pdf).then(|| file.file_type.as_str().to_owned()),
        }
    }

    fn file(&self) -> Result<StoredFile, BackupError> {
        Ok(StoredFile {
            blob: BlobKey::parse(&self.blob).map_err(invalid)?,
            name: FileName::sanitize(&self.name),
            bytes: self.bytes,
            sha256: digest(&self.sha256)?,
            file_type: self.file_type.as_deref().map_or(Ok(FileType::Pdf), file_type)?,
        })
    }
}

fn file_type(name: &str) -> Result<FileType, BackupError> {
    FileType::parse(name).ok_or_else(|| invalid_archive(format!("`{name}` is not a known file type")))
}

impl ReplacementLine {
    fn of(replacement: &Replacement) -> Self {
        let failure = replacement.failure.as_ref();
        Self {
            version: replacement.version,
            version_id: replacement.version_id.to_string(),
            file: FileLine::of(&replacement.file),
            failure: failure.map(|failure| (failure.code.as_str().to_owned(), failure.reason.clone())),
            at: replacement.at.timestamp_micros(),
        }
    }

    fn replacement(&self) -> Result<Replacement, BackupError> {
        let failure = self.failure.as_ref().map(|(code, reason)| failure(code, reason));
        Ok(Replacement {
            version_id: id(&self.version_id)?,
            version: self.version,
            file: self.file.file()?,
            failure: failure.transpose()?,
            at: instant(self.at)?,
        })
    }
}

impl CoverageLine {
    fn of(coverage: &Coverage) -> Self {
        Self {
            pages: coverage.pages,
            empty_pages: coverage.empty_pages.clone(),
            unreliable_pages: coverage.unreliable_pages.clone(),
            truncated_pages: coverage.truncated_pages.clone(),
            characters: coverage.characters,
            chunks: coverage.chunks,
            tokens: coverage.tokens,
            language: coverage.language.clone(),
            recognition: coverage.recognition.as_ref().map(RecognitionLine::of),
            page_labels: coverage.page_labels.as_slice().to_vec(),
            unread_picture_pages: coverage.unread_picture_pages.clone(),
            lacking_result_pages: coverage.lacking_result_pages.clone(),
        }
    }

    fn coverage(&self) -> Result<Coverage, BackupError> {
        Ok(Coverage {
            pages: self.pages,
            empty_pages: self.empty_pages.clone(),
            unreliable_pages: self.unreliable_pages.clone(),
            truncated_pages: self.truncated_pages.clone(),
            characters: self.characters,
            chunks: self.chunks,
            tokens: self.tokens,
            language: self.language.clone(),
            recognition: self.recognition.as_ref().map(RecognitionLine::recognition).transpose()?,
            page_labels: self.page_labels.clone().into(),
            unread_picture_pages: self.unread_picture_pages.clone(),
            lacking_result_pages: self.lacking_result_pages.clone(),
        })
    }
}

impl RecognitionLine {
    fn of(coverage: &RecognitionCoverage) -> Self {
        let pages = |pages: &[RecognizedPageCoverage]| {
            pages.iter().map(|page| (page.page, page.confidence)).collect()
        };
        Self {
            recognizer: coverage.recognizer.clone(),
            pages: pages(&coverage.pages),
            picture_pages: pages(&coverage.picture_pages),
            failed: coverage
                .failed_pages
                .iter()
                .map(|(page, code)| (*page, code.as_str().to_owned()))
                .collect(),
        }
    }

    fn recognition(&self) -> Result<RecognitionCoverage, BackupError> {
        let failed = self.failed.iter().map(|(page, code)| {
            let failure = RecognitionFailure::parse(code);
            Ok((*page, failure.ok_or_else(|| invalid(ValidationError::new("recognition", "is unknown")))?))
        });
        let page =
            |(page, confidence): &(u32, u8)| RecognizedPageCoverage { page: *page, confidence: *confidence };
        Ok(RecognitionCoverage {
            recognizer: self.recognizer.clone(),
            pages: self.pages.iter().map(page).collect(),
            picture_pages: self.picture_pages.iter().map(page).collect(),
            failed_pages: failed.collect::<Result<_, BackupError>>()?,
        })
    }
}

impl IngestionStatsLine {
    fn of(stats: &IngestionStats) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self {
            extractor: stats.extractor.clone(),
            attempts: stats.attempts,
            extract: micros(stats.extract),
            chunk: micros(stats.chunk),
            embed: micros(stats.embed),
            index: micros(stats.index),
            shortened_passages: stats.shortened_passages,
        }
    }

    fn stats(&self) -> IngestionStats {
        IngestionStats {
            extractor: self.extractor.clone(),
            attempts: self.attempts,
            extract: Duration::from_micros(self.extract),
            chunk: Duration::from_micros(self.chunk),
            embed: Duration::from_micros(self.embed),
            index: Duration::from_micros(self.index),
            shortened_passages: self.shortened_passages,
        }
    }
}
