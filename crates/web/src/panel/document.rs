//! `GET /admin/documents/{id}`

use super::{
    documents::Row,
    jobs::JobRow,
    page::{self, Broken, id_of},
    session::Staff,
    times::{Time, size},
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::{
    accounts::users,
    documents::details::{self as use_case, DocumentDetails},
};
use docent_domain::{
    access::{ChangeDocuments, DeleteDocuments, ViewAuditLog, ViewDocuments, ViewJobs, ViewUsers},
    document::{DocumentState, StoredFile},
    extraction::{Coverage, IngestionStats},
    job::{Job, JobKind, JobState},
    metrics::Stage,
    permission::RecordKind,
};
use docent_http::context::State;
use serde::Serialize;
use std::{cmp::Ordering, time::Duration};

#[derive(Serialize)]
struct FileView {
    name: String,
    size: String,
    sha256: String,
}

impl FileView {
    fn of(file: &StoredFile) -> Self {
        Self {
            name: file.name.as_str().to_owned(),
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
    characters: u64,
    chunks: u32,
    tokens: u64,
}

impl CoverageView {
    fn of(coverage: &Coverage) -> Self {
        Self {
            pages: coverage.pages,
            with_text: coverage.pages_with_text(),
            empty: ranges(&coverage.empty_pages),
            unreliable: ranges(&coverage.unreliable_pages),
            truncated: ranges(&coverage.truncated_pages),
            characters: coverage.characters,
            chunks: coverage.chunks,
            tokens: coverage.tokens,
        }
    }
}

/// Formats a duration in seconds.
#[derive(Serialize)]
struct EffortView {
    extractor: String,
    attempts: u32,
    stages: [(&'static str, String); 4],
}

impl EffortView {
    fn of(effort: &IngestionStats) -> Self {
        let seconds = |stage, took: Duration| (stage, format!("{:.2} s", took.as_secs_f64()));
        Self {
            extractor: effort.extractor.clone(),
            attempts: effort.attempts,
            stages: [
                seconds("Extracting", effort.extract),
                seconds("Chunking", effort.chunk),
                seconds("Embedding", effort.embed),
                seconds("Indexing", effort.index),
            ],
        }
    }
}

/// A stage of a running ingestion.
#[derive(Debug, PartialEq, Serialize)]
struct StepView {
    name: &'static str,
    /// `done`, `current` or `ahead`.
    state: &'static str,
}

/// Stages of a document that is waiting for ingestion or being ingested.
fn steps(inspection: &DocumentDetails) -> Vec<StepView> {
    let is_due = |job: &&Job| job.kind == JobKind::Ingest && job.state != JobState::Done;
    let job = inspection.jobs.iter().find(is_due);
    job.map(|job| steps_of(&job.state, inspection.stage)).unwrap_or_default()
}

fn steps_of(state: &JobState, stage: Option<Stage>) -> Vec<StepView> {
    let at = match (state, stage) {
        (JobState::Queued | JobState::Done, _) => 0,
        // Another process runs the job; its progress is not known here.
        (JobState::Leased { .. }, None) => return in_order(&["Queue", "In work"], 1),
        (JobState::Leased { .. }, Some(Stage::Extract)) => 1,
        (JobState::Leased { .. }, Some(Stage::Chunk)) => 2,
        (JobState::Leased { .. }, Some(Stage::Embed)) => 3,
        (JobState::Leased { .. }, Some(Stage::Index)) => 4,
    };
    in_order(&["Queue", "Extract", "Chunk", "Embed", "Index"], at)
}

fn in_order(names: &[&'static str], at: usize) -> Vec<StepView> {
    let state = |n: usize| match n.cmp(&at) {
        Ordering::Less => "done",
        Ordering::Equal => "current",
        Ordering::Greater => "ahead",
    };
    names.iter().enumerate().map(|(n, name)| StepView { name, state: state(n) }).collect()
}

pub(super) async fn document(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewDocuments>()?;
    let id = id_of(RecordKind::Document, &id)?;
    let inspection = use_case::get(&context.app, grant, id).await?;
    let (document, now) = (&inspection.document, context.app.now());
    let code = match &document.state {
        DocumentState::Failed(failed) => Some(failed.failure.code.as_str()),
        DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
    };
    let mut values = staff.page("documents");
    let owner = document.owner;
    let emails = users::emails(&context.app, owner.as_slice()).await?;
    values.insert("document", &Row::of(document, &emails, now));
    values.insert(
        "may_retry",
        &(code.is_some() && staff.actor.authorize_for::<ChangeDocuments>(owner).is_ok()),
    );
    values.insert("may_delete", &staff.actor.authorize_for::<DeleteDocuments>(owner).is_ok());
    values.insert("steps", &steps(&inspection));
    values.insert("warnings", &document.coverage.as_ref().map(Coverage::warnings).unwrap_or_default());
    values.insert("effort", &document.effort.as_ref().map(EffortView::of));
    values.insert("code", &code);
    values.insert("vector_doc_id", &document.state.vector_doc_id().map(|id| id.as_str()));
    values.insert("owner_id", &owner.map(|owner| owner.to_string()));
    values.insert("may_view_owner", &staff.authorize::<ViewUsers>().is_ok());
    values.insert("may_view_history", &staff.authorize::<ViewAuditLog>().is_ok());
    values.insert("may_view_jobs", &staff.authorize::<ViewJobs>().is_ok());
    values.insert("updated", &Time::of(document.updated_at, now));
    values.insert("file", &document.file.as_ref().map(FileView::of));
    values.insert("coverage", &document.coverage.as_ref().map(CoverageView::of));
    values.insert("jobs", &inspection.jobs.iter().map(|job| JobRow::of(job, None, now)).collect::<Vec<_>>());
    values.insert("with_document", &false);
    page::show(&context, StatusCode::OK, "document.html", &values)
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
    use docent_domain::id::LeaseId;

    #[test]
    fn the_step_at_work_is_told_as_far_as_it_is_known() {
        let leased = JobState::Leased {
            lease: LeaseId::from_uuid(uuid::Uuid::nil()),
            until: chrono::DateTime::UNIX_EPOCH,
        };
        let told = |state: &JobState, stage| {
            steps_of(state, stage).iter().map(|step| (step.name, step.state)).collect::<Vec<_>>()
        };
        assert_eq!(told(&JobState::Queued, None)[..2], [("Queue", "current"), ("Extract", "ahead")]);
        assert_eq!(
            told(&leased, Some(Stage::Chunk))[1..4],
            [("Extract", "done"), ("Chunk", "current"), ("Embed", "ahead")]
        );
        assert_eq!(told(&leased, None), [("Queue", "done"), ("In work", "current")]);
    }

    #[test]
    fn runs_of_pages_are_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[1, 3, 4, 5, 9]), "1, 3–5, 9");
    }
}
