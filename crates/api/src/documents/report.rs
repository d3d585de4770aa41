//! `GET /documents/{doc_id}/report`
//!
//! The result of an ingestion: coverage, statistics and the failure, if any.

use super::response::{AccessView, DocumentStatus};
use crate::answers;
use crate::selection::{CollectionRef, attributes_json};
use actix_web::HttpResponse;
use chrono::{DateTime, SecondsFormat, Utc};
use docent_app::accounts::authenticate;
use docent_app::documents::access::describe;
use docent_app::documents::get::{self as use_case, DocumentReport};
use docent_app::error::Error;
use docent_app::jobs::IngestionProgress;
use docent_domain::access::ReadDocuments;
use docent_domain::document::{DocumentState, Failure, Replacement, StoredFile};
use docent_domain::extraction::{Coverage, IngestionStats, RecognitionCoverage, RecognizedPageCoverage};
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;
use docent_domain::recognition::RecognitionFailure;
use docent_http::{PathId, Reply, Scoped, State};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Read the ingestion report of a document (extension)
///
/// How much of the file is searchable, how long the ingestion took, and why it failed, if it did.
#[utoipa::path(
    get, path = "/documents/{doc_id}/report", operation_id = "get_report", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    responses((status = 200, description = "What is known by now.", body = Report<'_>), answers::UnknownDocument),
)]
pub(crate) async fn report(by: Scoped<ReadDocuments>, context: State, id: PathId<DocumentId>) -> Reply {
    let report = use_case::report(&context.app, by.grant, &by.scope, id.parse()?).await?;
    let actor = authenticate::with_permissions(&context.app, by.actor).await?;
    let documents = std::slice::from_ref(&report.document);
    let access = describe(&context.app, &actor, &by.scope, documents).await?.pop();
    let access = access.ok_or(Error::NotFound(RecordKind::Document))?.into();
    Ok(HttpResponse::Ok().json(Report::of(&report, access)))
}

/// Ingestion report of a document.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "status": "ingested",
    "coverage": {
        "pages": 12, "pages_with_text": 11, "pages_without_text": [3], "pages_unreliable": [], "pages_truncated": [],
        "pages_with_unread_pictures": [7], "pages_with_described_pictures": [], "pages_with_undescribed_pictures": [],
        "pages_lacking_results": [],
        "characters": 30412, "chunks": 17, "tokens": 7250, "language": "en",
        "recognition": {
            "recognizer": "tesseract 5.3.0 (eng)", "confidence": 0.93,
            "pages": [{ "page": 4, "confidence": 0.93 }], "picture_pages": [], "failed_pages": [{ "page": 5, "reason": "timeout" }],
        },
    },
    "effort": {
        "extractor": "pdf 1", "attempts": 1,
        "seconds": { "extract": 0.04, "chunk": 0.01, "embed": 0.2, "index": 0.03 }, "shortened_passages": 0,
    },
    "failure": null,
    "waiting": null,
    "progress": null,
    "warnings": ["1 of 12 pages: no text (blank, or a picture of text)"],
    "owner_id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4f",
    "owner_email": null,
    "owner_name": null,
    "is_own": false,
    "collection_ids": ["00000000-0000-0000-0000-000000000001"],
    "can_change": false,
    "can_delete": false,
    "attributes": { "year": 2025 },
    "version": 1,
    "file": {
        "name": "report.pdf", "type": "pdf", "bytes": 48210,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    },
    "replacement": null,
    "duplicate_of": null,
}))]
pub(crate) struct Report<'a> {
    /// ID of the document.
    #[schema(format = "uuid")]
    id: String,
    /// Status of the document.
    status: DocumentStatus,
    /// Searchable content; `null` before the file is ingested.
    #[schema(required)]
    coverage: Option<CoverageView<'a>>,
    /// Statistics of the ingestion; `null` before the file is ingested.
    #[schema(required)]
    effort: Option<IngestionStatsView<'a>>,
    /// Why the ingestion failed; `null` if it did not.
    #[schema(required)]
    failure: Option<FailureView<'a>>,
    /// What a pending document waits for; `null` if everything that it needs is available.
    #[schema(required)]
    waiting: Option<WaitView<'a>>,
    /// How far the ingestion is; `null` unless the process that answers runs it.
    #[schema(required)]
    progress: Option<ProgressView>,
    /// Sentences about content that is not searchable, or only by a part of its text.
    warnings: Vec<String>,
    /// ID of the account that added it; `null` if that account was deleted.
    #[schema(required, format = "uuid")]
    owner_id: Option<String>,
    /// Email address of that account. Only for the account itself, for managers of a collection that has the document, for accounts
    /// with `users.view_user` and for superusers; otherwise `null`.
    #[schema(required, format = "email")]
    owner_email: Option<String>,
    /// Name that its owner chose; `null` without one and where `owner_email` is.
    #[schema(required)]
    owner_name: Option<String>,
    /// Whether the account that asks added it.
    is_own: bool,
    /// Collections that have it and that the account can see.
    #[schema(value_type = Vec<CollectionRef>)]
    collection_ids: Vec<String>,
    /// Whether the account may change it and retry its ingestion.
    can_change: bool,
    /// Whether the account may delete it.
    can_delete: bool,
    /// Attributes, set with an upload or a change.
    attributes: Map<String, Value>,
    /// Number of the version that is searched, starting at 1.
    #[schema(minimum = 1)]
    version: u32,
    /// Its file; `null` for a record without one.
    #[schema(required)]
    file: Option<FileView<'a>>,
    /// Next file, pending or failed; `null` otherwise.
    #[schema(required)]
    replacement: Option<ReplacementView<'a>>,
    /// ID of an older document with an equal file, if the account may read one.
    #[schema(required, format = "uuid")]
    duplicate_of: Option<String>,
}

/// An uploaded file.
#[derive(Serialize, ToSchema)]
#[schema(as = File)]
pub(crate) struct FileView<'a> {
    /// Name given by the uploader.
    name: &'a str,
    /// Size in bytes.
    bytes: u64,
    /// SHA-256 digest, in hexadecimal digits.
    #[schema(min_length = 64, max_length = 64)]
    sha256: String,
    /// Type of the file.
    #[schema(example = "pdf")]
    r#type: &'static str,
}

/// A file that becomes the next version of a document once it is ingested.
#[derive(Serialize, ToSchema)]
#[schema(as = Replacement)]
pub(crate) struct ReplacementView<'a> {
    /// Number of its version.
    #[schema(minimum = 2)]
    version: u32,
    /// The file.
    file: FileView<'a>,
    /// Why its ingestion failed; `null` while it is pending.
    #[schema(required)]
    failure: Option<FailureView<'a>>,
    /// Time of its upload.
    #[schema(format = "date-time")]
    uploaded_at: String,
}

/// How much of a file is searchable. Page numbers start at 1.
#[derive(Serialize, ToSchema)]
#[schema(as = Coverage)]
pub(crate) struct CoverageView<'a> {
    /// Number of pages.
    pages: u32,
    /// Number of pages with text.
    pages_with_text: u32,
    /// Pages without text.
    pages_without_text: &'a [u32],
    /// Pages whose extracted text may differ from the visible text.
    pages_unreliable: &'a [u32],
    /// Pages that were read only partly.
    pages_truncated: &'a [u32],
    /// Pages with pictures that may show text and were not read.
    pages_with_unread_pictures: &'a [u32],
    /// Pages with pictures that a vision model described.
    pages_with_described_pictures: &'a [u32],
    /// Pages with pictures that it could not describe.
    pages_with_undescribed_pictures: &'a [u32],
    /// Pages with formulas whose results are not in the file.
    pages_lacking_results: &'a [u32],
    /// Number of characters.
    characters: u64,
    /// Number of searchable passages.
    chunks: u32,
    /// Number of tokens of all passages.
    tokens: u64,
    /// ISO 639-1 code of the language that most of the text is in; `null` if it is not clear.
    #[schema(required)]
    language: Option<&'a str>,
    /// What was recognised on images of pages; `null` if none was read.
    #[schema(required)]
    recognition: Option<RecognitionView<'a>>,
}

/// Recognition of text on images of pages.
#[derive(Serialize, ToSchema)]
#[schema(as = Recognition)]
pub(crate) struct RecognitionView<'a> {
    /// Name, version and languages of the recognizer.
    recognizer: &'a str,
    /// Mean confidence of the recognised pages, from 0 to 1; 0 if there are none.
    #[schema(minimum = 0, maximum = 1)]
    confidence: f64,
    /// Pages whose text was recognised, in order.
    pages: Vec<RecognizedPageView>,
    /// Pages with text of their own on whose pictures text was recognised, in order.
    picture_pages: Vec<RecognizedPageView>,
    /// Pages that could not be recognised, in order.
    failed_pages: Vec<FailedPageView>,
}

/// A page whose text was recognised.
#[derive(Serialize, ToSchema)]
#[schema(as = RecognizedPage)]
pub(crate) struct RecognizedPageView {
    /// Number of the page.
    page: u32,
    /// Mean confidence of its words, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    confidence: f64,
}

/// A page that could not be recognised.
#[derive(Serialize, ToSchema)]
#[schema(as = FailedPage)]
pub(crate) struct FailedPageView {
    /// Number of the page.
    page: u32,
    /// Code for programs: `not_rendered`, `timeout`, `memory`, `crashed`, `invalid` or `too_many_pages`.
    reason: &'static str,
}

impl<'a> From<&'a RecognitionCoverage> for RecognitionView<'a> {
    fn from(coverage: &'a RecognitionCoverage) -> Self {
        let part = |percent: u8| f64::from(percent) / 100.0;
        let page = |page: &RecognizedPageCoverage| RecognizedPageView {
            page: page.page,
            confidence: part(page.confidence),
        };
        let failed = |(page, failure): &(u32, RecognitionFailure)| FailedPageView {
            page: *page,
            reason: failure.as_str(),
        };
        Self {
            recognizer: &coverage.recognizer,
            confidence: part(coverage.confidence()),
            pages: coverage.pages.iter().map(page).collect(),
            picture_pages: coverage.picture_pages.iter().map(page).collect(),
            failed_pages: coverage.failed_pages.iter().map(failed).collect(),
        }
    }
}

/// Statistics of an ingestion.
#[derive(Serialize, ToSchema)]
#[schema(as = IngestionStats)]
pub(crate) struct IngestionStatsView<'a> {
    /// Name and version of the extractor.
    extractor: &'a str,
    /// Number of attempts.
    attempts: u32,
    /// Duration of the stages of the last attempt.
    seconds: Seconds,
    /// Number of passages that are longer than the embedding model takes. Their dense vectors are of their beginnings; words of
    /// the rest are found by the lexical search.
    shortened_passages: u32,
}

/// Seconds of each stage of an ingestion.
#[derive(Serialize, ToSchema)]
pub(crate) struct Seconds {
    /// Text extraction.
    extract: f64,
    /// Splitting into passages.
    chunk: f64,
    /// Embedding.
    embed: f64,
    /// Writing to the vector store.
    index: f64,
}

/// Why an ingestion failed.
#[derive(Serialize, ToSchema)]
#[schema(as = Failure)]
pub(crate) struct FailureView<'a> {
    /// Code for programs, such as `password_required`.
    code: &'static str,
    /// Sentence for people.
    reason: &'a str,
    /// What a person can do about it, as the rest of a sentence.
    advice: &'static str,
}

/// An unavailable component that an ingestion waits for, for up to a day.
#[derive(Serialize, ToSchema)]
#[schema(as = Wait)]
pub(crate) struct WaitView<'a> {
    /// Time of the first attempt that found the component unavailable.
    #[schema(format = "date-time")]
    since: String,
    /// Sentence for people, such as "the vector store cannot be reached".
    reason: &'a str,
}

/// How far an ingestion is.
#[derive(Serialize, ToSchema)]
#[schema(as = IngestionProgress)]
pub(crate) struct ProgressView {
    /// Current stage: `extract`, `recognize`, `chunk`, `embed` or `index`.
    stage: &'static str,
    /// Page whose text is being recognised; `null` in other stages.
    #[schema(required, minimum = 1)]
    page: Option<u32>,
    /// Number of pages; `null` until the text was extracted.
    #[schema(required)]
    pages: Option<u32>,
}

impl From<IngestionProgress> for ProgressView {
    fn from(IngestionProgress { stage, page, pages }: IngestionProgress) -> Self {
        Self { stage: stage.code(), page, pages }
    }
}

impl<'a> Report<'a> {
    fn of(report: &'a DocumentReport, access: AccessView) -> Self {
        let DocumentReport { document, wait, progress, duplicate_of } = report;
        let AccessView { owner_id, owner_email, owner_name, is_own, collection_ids, can_change, can_delete } =
            access;
        let failure = match &document.state {
            DocumentState::Failed(failed) => Some(&failed.failure),
            DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
        };
        let warnings = document.coverage.iter().flat_map(Coverage::warnings);
        let warnings = warnings.chain(document.stats.as_ref().and_then(IngestionStats::warning));
        Self {
            id: document.id.to_string(),
            status: (&document.state).into(),
            coverage: document.coverage.as_ref().map(CoverageView::from),
            effort: document.stats.as_ref().map(IngestionStatsView::from),
            failure: failure.map(FailureView::from),
            waiting: wait.as_ref().map(|wait| WaitView { since: time(wait.since), reason: &wait.reason }),
            progress: progress.map(ProgressView::from),
            warnings: warnings.collect(),
            owner_id,
            owner_email,
            owner_name,
            is_own,
            collection_ids,
            can_change,
            can_delete,
            attributes: attributes_json(&document.attributes),
            version: document.version,
            file: document.file.as_ref().map(FileView::from),
            replacement: document.replacement.as_ref().map(ReplacementView::from),
            duplicate_of: duplicate_of.map(|id| id.to_string()),
        }
    }
}

fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

impl<'a> From<&'a StoredFile> for FileView<'a> {
    fn from(file: &'a StoredFile) -> Self {
        let sha256 = file.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { name: file.name.as_str(), bytes: file.bytes, sha256, r#type: file.file_type.as_str() }
    }
}

impl<'a> From<&'a Replacement> for ReplacementView<'a> {
    fn from(replacement: &'a Replacement) -> Self {
        Self {
            version: replacement.version,
            file: (&replacement.file).into(),
            failure: replacement.failure.as_ref().map(FailureView::from),
            uploaded_at: time(replacement.at),
        }
    }
}

impl<'a> From<&'a Coverage> for CoverageView<'a> {
    fn from(coverage: &'a Coverage) -> Self {
        Self {
            pages: coverage.pages,
            pages_with_text: coverage.pages_with_text(),
            pages_without_text: &coverage.empty_pages,
            pages_unreliable: &coverage.unreliable_pages,
            pages_truncated: &coverage.truncated_pages,
            pages_with_unread_pictures: &coverage.unread_picture_pages,
            pages_with_described_pictures: &coverage.described_pages,
            pages_with_undescribed_pictures: &coverage.undescribed_pages,
            pages_lacking_results: &coverage.lacking_result_pages,
            characters: coverage.characters,
            chunks: coverage.chunks,
            tokens: coverage.tokens,
            language: coverage.language.as_deref(),
            recognition: coverage.recognition.as_ref().map(RecognitionView::from),
        }
    }
}

impl<'a> From<&'a IngestionStats> for IngestionStatsView<'a> {
    fn from(effort: &'a IngestionStats) -> Self {
        let seconds = Seconds {
            extract: effort.extract.as_secs_f64(),
            chunk: effort.chunk.as_secs_f64(),
            embed: effort.embed.as_secs_f64(),
            index: effort.index.as_secs_f64(),
        };
        let shortened_passages = effort.shortened_passages;
        Self { extractor: &effort.extractor, attempts: effort.attempts, seconds, shortened_passages }
    }
}

impl<'a> From<&'a Failure> for FailureView<'a> {
    fn from(failure: &'a Failure) -> Self {
        Self { code: failure.code.as_str(), reason: &failure.reason, advice: failure.code.advice() }
    }
}
