//! `GET /admin/documents/{id}`

use super::document_attributes::AttributesView;
use super::document_readers::ReadersView;
use super::documents::{Rights, Row, collections};
use super::jobs::JobRow;
use super::nav::ROOT;
use crate::language::{self, collection_name, t};
use crate::signed_in::page::{PageResult, id_of};
use crate::signed_in::session::Staff;
use crate::times::{Time, decimal, size};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::users;
use docent_app::collections::names;
use docent_app::documents::details::{self as use_case, DocumentDetails};
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{ViewAuditLog, ViewCollections, ViewDocuments, ViewJobs, ViewUsers};
use docent_domain::document::{Document, DocumentState, StoredFile};
use docent_domain::extraction::{
    Coverage, CoverageWarning, IngestionStats, RecognitionCoverage, RecognizedPageCoverage,
};
use docent_domain::id::DocumentId;
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::metrics::Stage;
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_http::State;
use serde::Serialize;
use std::cmp::Ordering;
use std::time::Duration;

#[derive(Serialize)]
pub(super) struct DocumentPage {
    document: Row,
    updated: Time,
    owner_id: Option<String>,
    vector_doc_id: Option<String>,
    /// Code of the failure, if ingestion failed.
    code: Option<&'static str>,
    steps: Vec<StepView>,
    warnings: Vec<String>,
    file: Option<FileView>,
    coverage: Option<CoverageView>,
    stats: Option<StatsView>,
    jobs: Vec<JobRow>,
    collections: Vec<CollectionLink>,
    /// IDs and names of collections for actions.
    choices: Vec<(String, String)>,
    attributes: AttributesView,
    /// None if the user may not view them.
    readers: Option<ReadersView>,
    may_label: bool,
    may_retry: bool,
    may_delete: bool,
    may_view_owner: bool,
    may_view_history: bool,
    may_view_jobs: bool,
}

/// A collection that has the document.
#[derive(Serialize)]
struct CollectionLink {
    name: String,
    /// Its page, for actors who can view it.
    page: Option<String>,
}

#[derive(Serialize)]
struct FileView {
    name: String,
    /// Name of the type.
    file_type: String,
    size: String,
    sha256: String,
}

impl FileView {
    fn of(file: &StoredFile) -> Self {
        Self {
            name: file.name.as_str().to_owned(),
            file_type: language::file_type(file.file_type),
            size: size(file.bytes),
            sha256: file.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

#[derive(Serialize)]
struct CoverageView {
    pages: u32,
    with_text: u32,
    empty: String,
    unreliable: String,
    truncated: String,
    unread_pictures: String,
    described: String,
    undescribed: String,
    lacking_results: String,
    characters: u64,
    chunks: u32,
    tokens: u64,
    language: Option<String>,
    recognition: Option<RecognitionView>,
}

/// What a recognizer did.
#[derive(Serialize)]
struct RecognitionView {
    recognizer: String,
    pages: String,
    picture_pages: String,
    /// In percent.
    confidence: u8,
    failed: String,
}

impl RecognitionView {
    fn of(coverage: &RecognitionCoverage) -> Self {
        let pages = |pages: &[RecognizedPageCoverage]| {
            ranges(&pages.iter().map(|page| page.page).collect::<Vec<u32>>())
        };
        let failed: Vec<u32> = coverage.failed_pages.iter().map(|(page, _)| *page).collect();
        Self {
            recognizer: coverage.recognizer.clone(),
            pages: pages(&coverage.pages),
            picture_pages: pages(&coverage.picture_pages),
            confidence: coverage.confidence(),
            failed: ranges(&failed),
        }
    }
}

impl CoverageView {
    fn of(coverage: &Coverage) -> Self {
        Self {
            pages: coverage.pages,
            with_text: coverage.pages_with_text(),
            empty: ranges(&coverage.empty_pages),
            unreliable: ranges(&coverage.unreliable_pages),
            truncated: ranges(&coverage.truncated_pages),
            unread_pictures: ranges(&coverage.unread_picture_pages),
            described: ranges(&coverage.described_pages),
            undescribed: ranges(&coverage.undescribed_pages),
            lacking_results: ranges(&coverage.lacking_result_pages),
            characters: coverage.characters,
            chunks: coverage.chunks,
            tokens: coverage.tokens,
            language: coverage.language.clone(),
            recognition: coverage.recognition.as_ref().map(RecognitionView::of),
        }
    }
}

/// What may be missing or wrong in the text, as sentences without a full stop.
fn warnings(coverage: Option<&Coverage>, stats: Option<&IngestionStats>) -> Vec<String> {
    let pages = coverage.map_or(0, |coverage| coverage.pages);
    let text = |(warning, count)| match warning {
        CoverageWarning::Empty => t!("warning-empty", count = count, pages = pages),
        CoverageWarning::Unreliable => t!("warning-unreliable", count = count, pages = pages),
        CoverageWarning::Truncated => t!("warning-truncated", count = count, pages = pages),
        CoverageWarning::Recognized => t!("warning-recognized", count = count, pages = pages),
        CoverageWarning::RecognitionFailed => t!("warning-recognition-failed", count = count, pages = pages),
        CoverageWarning::RecognizedPictures => {
            t!("warning-recognized-pictures", count = count, pages = pages)
        }
        CoverageWarning::UnreadPictures => t!("warning-unread-pictures", count = count, pages = pages),
        CoverageWarning::DescribedPictures => t!("warning-described-pictures", count = count, pages = pages),
        CoverageWarning::DescriptionFailed => t!("warning-description-failed", count = count, pages = pages),
        CoverageWarning::LackingResults => t!("warning-lacking-results", count = count, pages = pages),
    };
    let shortened = stats.map(|stats| stats.shortened_passages).filter(|count| *count > 0);
    let shortened = shortened.map(|count| t!("warning-shortened", count = count));
    coverage.into_iter().flat_map(Coverage::counted_warnings).map(text).chain(shortened).collect()
}

/// Statistics of the last ingestion attempt.
#[derive(Serialize)]
struct StatsView {
    extractor: String,
    attempts: u32,
    stages: [(String, String); 4],
}

impl StatsView {
    fn of(stats: &IngestionStats) -> Self {
        let seconds =
            |stage: String, took: Duration| (stage, t!("seconds", count = decimal(took.as_secs_f64(), 2)));
        Self {
            extractor: stats.extractor.clone(),
            attempts: stats.attempts,
            stages: [
                seconds(t!("stage-extracting"), stats.extract),
                seconds(t!("stage-chunking"), stats.chunk),
                seconds(t!("stage-embedding"), stats.embed),
                seconds(t!("stage-indexing"), stats.index),
            ],
        }
    }
}

/// A stage of a running ingestion.
#[derive(Debug, PartialEq, Serialize)]
struct StepView {
    name: String,
    /// `done`, `current` or `ahead`.
    state: &'static str,
}

/// Stages of a document that is waiting for ingestion or being ingested.
fn steps(details: &DocumentDetails) -> Vec<StepView> {
    let is_due = |job: &&Job| job.kind == JobKind::Ingest && job.state != JobState::Done;
    let job = details.jobs.iter().find(is_due);
    job.map(|job| steps_of(&job.state, details.stage)).unwrap_or_default()
}

fn steps_of(state: &JobState, stage: Option<Stage>) -> Vec<StepView> {
    let at = match (state, stage) {
        (JobState::Queued | JobState::Done, _) => 0,
        // Another process runs the job; its progress is not known here.
        (JobState::Leased { .. }, None) => return in_order([t!("step-queue"), t!("step-in-work")], 1),
        (JobState::Leased { .. }, Some(Stage::Extract | Stage::Recognize)) => 1,
        (JobState::Leased { .. }, Some(Stage::Chunk)) => 2,
        (JobState::Leased { .. }, Some(Stage::Embed)) => 3,
        (JobState::Leased { .. }, Some(Stage::Index)) => 4,
    };
    let names = [t!("step-queue"), t!("step-extract"), t!("step-chunk"), t!("step-embed"), t!("step-index")];
    in_order(names, at)
}

fn in_order<const N: usize>(names: [String; N], at: usize) -> Vec<StepView> {
    let state = |n: usize| match n.cmp(&at) {
        Ordering::Less => "done",
        Ordering::Equal => "current",
        Ordering::Greater => "ahead",
    };
    names.into_iter().enumerate().map(|(n, name)| StepView { name, state: state(n) }).collect()
}

pub(super) async fn document(staff: Staff, context: State, id: Path<String>) -> PageResult {
    show(&staff, &context, id_of(RecordKind::Document, &id)?, None).await
}

/// Renders the page of a document; with the attributes of a form that is not valid.
pub(super) async fn show(
    staff: &Staff,
    context: &State,
    id: DocumentId,
    draft: Option<AttributesView>,
) -> PageResult {
    let grant = staff.authorize::<ViewDocuments>()?;
    let app = &context.app;
    let details = use_case::get(app, grant, id).await?;
    let (document, now) = (&details.document, app.now());
    let code = match &document.state {
        DocumentState::Failed(failed) => Some(failed.failure.code.as_str()),
        DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
    };
    let owner = document.owner;
    let emails = users::emails(app, owner.as_slice()).await?;
    let scope = scope::load(app, &staff.actor).await?;
    let rights = Rights::of(staff, &scope, document);
    let status = if draft.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = DocumentPage {
        document: Row::of(document, &emails, now),
        updated: Time::of(document.updated_at, now),
        owner_id: owner.map(|owner| owner.to_string()),
        vector_doc_id: document.state.vector_doc_id().map(|id| id.as_str().to_owned()),
        code,
        steps: steps(&details),
        warnings: warnings(document.coverage.as_ref(), document.stats.as_ref()),
        file: document.file.as_ref().map(FileView::of),
        coverage: document.coverage.as_ref().map(CoverageView::of),
        stats: document.stats.as_ref().map(StatsView::of),
        jobs: details.jobs.iter().map(|job| JobRow::of(job, None, now)).collect(),
        collections: links(staff, context, &scope, document).await?,
        choices: if rights.may_label { collections(staff, context, None).await? } else { Vec::new() },
        attributes: draft.unwrap_or_else(|| AttributesView::of(document, rights.may_change)),
        readers: ReadersView::read(staff, context, id).await?,
        may_label: rights.may_label,
        may_retry: code.is_some() && rights.may_change,
        may_delete: rights.may_delete,
        may_view_owner: staff.can::<ViewUsers>(),
        may_view_history: staff.can::<ViewAuditLog>(),
        may_view_jobs: staff.can::<ViewJobs>(),
    };
    staff.show_with(status, context, "documents", page)
}

/// The collections of a document by name.
async fn links(
    staff: &Staff,
    context: &State,
    scope: &Scope,
    document: &Document,
) -> Result<Vec<CollectionLink>, Error> {
    let ids: Vec<_> = document.collections.iter().copied().collect();
    let sees_all = staff.can::<ViewCollections>();
    let link = |(id, name): (_, String)| CollectionLink {
        name: collection_name(&name),
        page: (sees_all || scope.role_in(id).is_some()).then(|| format!("{ROOT}/collections/{id}")),
    };
    let mut links: Vec<_> = names(&context.app, &ids).await?.into_iter().map(link).collect();
    links.sort_by(|a, b| (&a.name, &a.page).cmp(&(&b.name, &b.page)));
    Ok(links)
}

/// Formats sorted page numbers with ranges: `1, 3–5`.
fn ranges(pages: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &page in pages {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == page => *end = page,
            _ => runs.push((page, page)),
        }
    }
    let text =
        |(start, end): &(u32, u32)| if start == end { start.to_string() } else { format!("{start}–{end}") };
    runs.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;
    use docent_domain::id::LeaseId;
    use docent_domain::recognition::RecognitionFailure;

    impl Samples for DocumentPage {
        fn samples() -> Vec<Self> {
            let coverage = |pages: &str| CoverageView {
                pages: 9,
                with_text: 8,
                empty: pages.to_owned(),
                unreliable: pages.to_owned(),
                truncated: pages.to_owned(),
                unread_pictures: pages.to_owned(),
                described: pages.to_owned(),
                undescribed: pages.to_owned(),
                lacking_results: pages.to_owned(),
                characters: 1,
                chunks: 2,
                tokens: 3,
                language: Some("en".to_owned()),
                recognition: Some(RecognitionView {
                    recognizer: "tesseract 5.3.0 (eng)".to_owned(),
                    pages: pages.to_owned(),
                    picture_pages: pages.to_owned(),
                    confidence: 90,
                    failed: pages.to_owned(),
                }),
            };
            let file = |name: &str| FileView {
                name: name.to_owned(),
                file_type: "PDF".to_owned(),
                size: size(1),
                sha256: "0f".to_owned(),
            };
            let full = |row, file, coverage, is_allowed| Self {
                document: row,
                updated: Time::sample(),
                owner_id: Some("1".to_owned()),
                vector_doc_id: Some("1".to_owned()),
                code: Some("not_a_pdf"),
                steps: in_order(["Queue", "Extract", "Chunk"].map(str::to_owned), 1),
                warnings: vec!["Some pages are empty".to_owned()],
                file: Some(file),
                coverage: Some(coverage),
                stats: Some(StatsView::of(&IngestionStats::default())),
                jobs: JobRow::samples(),
                collections: vec![
                    CollectionLink {
                        name: "Everyone".to_owned(),
                        page: Some("/admin/collections/1".to_owned()),
                    },
                    CollectionLink { name: "Other".to_owned(), page: None },
                ],
                choices: vec![("1".to_owned(), "Everyone".to_owned())],
                attributes: AttributesView::sample(is_allowed),
                readers: is_allowed.then(ReadersView::sample),
                may_label: is_allowed,
                may_retry: is_allowed,
                may_delete: is_allowed,
                may_view_owner: is_allowed,
                may_view_history: is_allowed,
                may_view_jobs: is_allowed,
            };
            let new = |row| Self {
                owner_id: None,
                vector_doc_id: None,
                code: None,
                steps: Vec::new(),
                warnings: Vec::new(),
                file: None,
                coverage: None,
                stats: None,
                jobs: Vec::new(),
                attributes: AttributesView::sample_empty(),
                ..full(row, file(""), coverage(""), true)
            };
            let mut rows = Row::samples().into_iter().chain(Row::samples());
            let mut row = || rows.next().expect("four rows");
            vec![
                full(row(), file("a.pdf"), coverage("1, 3–5"), true),
                new(row()),
                full(row(), file(""), coverage(""), false),
            ]
        }
    }

    #[test]
    fn steps_of_a_running_job_show_its_stage_if_known() {
        let leased = JobState::Leased {
            lease: LeaseId::from_uuid(uuid::Uuid::nil()),
            until: chrono::DateTime::UNIX_EPOCH,
        };
        let shown = |state: &JobState, stage| {
            steps_of(state, stage).into_iter().map(|step| (step.name, step.state)).collect::<Vec<_>>()
        };
        let step = |name: &str, state| (name.to_owned(), state);
        assert_eq!(shown(&JobState::Queued, None)[..2], [step("Queue", "current"), step("Extract", "ahead")]);
        assert_eq!(
            shown(&leased, Some(Stage::Chunk))[1..4],
            [step("Extract", "done"), step("Chunk", "current"), step("Embed", "ahead")]
        );
        assert_eq!(shown(&leased, None), [step("Queue", "done"), step("In work", "current")]);
    }

    #[test]
    fn english_warnings_are_those_of_the_api() {
        let coverage = Coverage {
            pages: 9,
            empty_pages: vec![1],
            unreliable_pages: vec![2, 3],
            truncated_pages: vec![4],
            unread_picture_pages: vec![7],
            described_pages: vec![1, 2],
            undescribed_pages: vec![3],
            lacking_result_pages: vec![8],
            recognition: Some(RecognitionCoverage {
                pages: vec![RecognizedPageCoverage { page: 5, confidence: 90 }],
                picture_pages: vec![RecognizedPageCoverage { page: 9, confidence: 90 }],
                failed_pages: vec![(6, RecognitionFailure::Rendering)],
                ..RecognitionCoverage::default()
            }),
            ..Coverage::default()
        };
        assert_eq!(warnings(Some(&coverage), None), coverage.warnings());
        assert_eq!(coverage.warnings().len(), 10);
        for shortened_passages in [0, 1, 2] {
            let stats = IngestionStats { shortened_passages, ..IngestionStats::default() };
            assert_eq!(warnings(None, Some(&stats)), stats.warning().into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn consecutive_pages_are_shown_as_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[1, 3, 4, 5, 9]), "1, 3–5, 9");
    }
}
