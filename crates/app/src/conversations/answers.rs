//! Answers of all accounts that staff look at, and their export as questions of an evaluation.

use super::viewing;
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Result;
use chrono::{DateTime, Utc};
use docent_domain::access::{ExportAnswers, Grant, ViewConversations};
use docent_domain::audit::AuditAction;
use docent_domain::conversation::MessageRole;
use docent_domain::document::Document;
use docent_domain::error::ValidationError;
use docent_domain::feedback::{FeedbackComment, FeedbackReason};
use docent_domain::id::DocumentId;
use docent_domain::listing::{AnswerFilter, AnswerKind, Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
pub use docent_ports::conversations::ListedAnswer;
use docent_ports::store::ReadView;
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// Maximum number of answers of an export.
pub const EXPORT_MAX: u64 = 10_000;
/// Number of characters of a question in a list.
const SHOWN_MAX: u32 = 300;
/// Maximum number of characters of an exported question, as of a query of a search.
const QUESTION_MAX: u32 = 10_000;
/// Number of answers that an export reads at once, with the texts of their sources.
const BATCH: u64 = 50;
/// Name of the list in the audit log.
const LABEL: &str = "Rated and declined answers";

/// A page of the answers of all accounts that meet the filter, newest first. The audit log records once a day that the
/// holder of the grant reads them.
///
/// # Errors
/// When the database cannot be reached. The answers must not be shown then.
pub async fn list(
    app: &App,
    grant: Grant<ViewConversations>,
    filter: &AnswerFilter,
    page: PageRequest,
) -> Result<Page<ListedAnswer>> {
    let found = app.store.read().await?.conversations().answers(filter, SHOWN_MAX, page).await?;
    if found.records.iter().any(|listed| listed.owner != grant.user()) {
        viewing::record_once_a_day(app, &grant, "", async |_| Ok(LABEL.to_owned())).await?;
    }
    Ok(found)
}

/// The questions of answers that meet the filter, newest first, as lines for `docent eval`. The audit log records the
/// export.
///
/// If only answers that were rated up are listed, each question has the pages of the sources in the document of its best
/// source. It is left out if the answer declined, if the scope does not include the document, or if that now has another
/// version or no file. Otherwise the questions have no pages.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) for more than [`EXPORT_MAX`] answers, or when the database cannot be reached.
pub async fn export(
    app: &App,
    grant: Grant<ExportAnswers>,
    scope: &Scope,
    filter: &AnswerFilter,
) -> Result<String> {
    let mut view = app.store.read_latest().await?;
    let (mut lines, mut documents) = (String::new(), HashMap::new());
    let (mut exported, mut offset) = (0_u64, 0);
    let has_pages = filter.kinds == [AnswerKind::RatedUp];
    loop {
        let page = PageRequest { offset, limit: BATCH };
        let Page { records, total } = view.conversations().answers(filter, QUESTION_MAX, page).await?;
        if total > EXPORT_MAX {
            let reason = format!("has more than {EXPORT_MAX} answers; choose a shorter one");
            return Err(ValidationError::new("period", reason).into());
        }
        if records.is_empty() {
            break;
        }
        offset += records.len() as u64;
        for listed in records {
            let line = match has_pages {
                true => line_with_pages(&mut *view, scope, &listed, &mut documents).await?,
                false => line_without_pages(&listed),
            };
            if let Some(line) = line.filter(|_| !listed.question.trim().is_empty()) {
                exported += 1;
                lines.extend([line.to_string().as_str(), "\n"]);
            }
        }
    }
    drop(view);
    let rfc3339 = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
    let changes = Changes::default()
        .added("lines", exported)
        .field("from", None, rfc3339(filter.period.from))
        .field("to", None, rfc3339(filter.period.to));
    let target = AuditTarget::new(RecordKind::Conversation, "", LABEL);
    let mut work = app.store.begin().await?;
    app.audit(&mut *work, &Initiator::grantee(&grant), AuditAction::Export, target, changes).await?;
    work.commit().await?;
    Ok(lines)
}

/// The line of an answer whose pages are not known. It says why the answer is listed.
fn line_without_pages(listed: &ListedAnswer) -> Option<Value> {
    let ListedAnswer { answer, question, .. } = listed;
    let MessageRole::Agent { is_declined, best_score, feedback, .. } = &answer.role else { return None };
    let feedback = feedback.as_ref();
    let reason = feedback.and_then(|feedback| feedback.rating.reason());
    let comment = feedback.and_then(|feedback| feedback.comment.as_ref());
    Some(json!({
        "id": answer.id.to_string(),
        "question": question,
        "declined": is_declined,
        "best_score": best_score,
        "rating": feedback.map(|feedback| feedback.rating.name()),
        "reason": reason.map(FeedbackReason::name),
        "comment": comment.map(FeedbackComment::as_str),
    }))
}

/// The line of an answer with the pages of its sources, if they are known.
async fn line_with_pages(
    view: &mut dyn ReadView,
    scope: &Scope,
    listed: &ListedAnswer,
    documents: &mut HashMap<DocumentId, Option<Document>>,
) -> Result<Option<Value>> {
    let ListedAnswer { answer, question, .. } = listed;
    let MessageRole::Agent { sources, is_declined: false, .. } = &answer.role else { return Ok(None) };
    let Some(best) = sources.first() else { return Ok(None) };
    let document = match documents.entry(best.document_id) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(unknown) => unknown.insert(readable(view, scope, best.document_id).await?),
    };
    let gold = document.as_ref().and_then(|document| gold_pages(document, sources));
    let id = answer.id.to_string();
    Ok(gold.map(|(file, pages)| json!({ "id": id, "question": question, "file": file, "gold_pages": pages })))
}

async fn readable(view: &mut dyn ReadView, scope: &Scope, id: DocumentId) -> Result<Option<Document>> {
    match view.documents().readable(&[id], scope).await?.is_empty() {
        true => Ok(None),
        false => Ok(view.documents().get(id).await?),
    }
}

/// The name of a document's file, and the pages of the sources in its current version.
fn gold_pages<'d>(document: &'d Document, sources: &[ScoredChunk]) -> Option<(&'d str, BTreeSet<u32>)> {
    let file = document.file.as_ref()?.name.as_str();
    let of_document =
        |source: &&ScoredChunk| source.document_id == document.id && source.version == document.version;
    let pages: BTreeSet<u32> = sources
        .iter()
        .filter(of_document)
        .flat_map(|source| source.span.start.page..=source.span.end.page)
        .collect();
    (!file.is_empty() && !pages.is_empty()).then_some((file, pages))
}
