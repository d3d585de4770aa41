//! `POST /admin/documents/bulk`: shows a preview, and after confirmation the result.

use super::collections::readers;
use super::nav::ROOT;
use crate::language::{self, collection_name, fault_sentence, t};
use crate::signed_in::form::{Form, OwnForm};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::Staff;
use actix_web::http::StatusCode;
use docent_app::collections::browse::{self, OpenCollection};
use docent_app::documents::browse as list;
use docent_app::documents::bulk::{self, BULK_MAX, BulkAction, BulkItem};
use docent_app::error::{Error, Result as AppResult};
use docent_domain::access::ViewDocuments;
use docent_domain::document::FailureCode;
use docent_domain::id::DocumentId;
use docent_domain::listing::{DocumentQuery, PageRequest};
use docent_http::error::sentence;
use docent_http::{ApiError, State};
use serde::Serialize;

/// Word that must be typed to confirm a bulk deletion.
const WORD: &str = "delete";

#[derive(Serialize)]
pub(super) struct BulkPage {
    #[serde(flatten)]
    words: Words,
    /// Whether the action has been run; otherwise the page is a preview.
    is_done: bool,
    /// Documents for which the action succeeds.
    able: Vec<Line>,
    /// Documents for which it fails.
    unable: Vec<Line>,
    /// Label of the button.
    verb: String,
    /// Word that confirms a deletion.
    word: &'static str,
    /// Whether the confirmation word is wrong.
    is_word_wrong: bool,
}

/// An action in words.
#[derive(Serialize)]
struct Words {
    /// Value of its button.
    act: &'static str,
    title: String,
    /// What will happen.
    effect: String,
    /// Heading of the documents for which it succeeds.
    will: String,
    /// ID of the collection that it is about.
    target: Option<String>,
    is_delete: bool,
}

impl Words {
    fn of(act: BulkAction, target: Option<&OpenCollection>) -> Self {
        let name = target.map(|open| collection_name(open.collection.name.as_str())).unwrap_or_default();
        let readers = target.map(|open| readers(&open.collection, open.size.members)).unwrap_or_default();
        let (act, title, effect, will) = match act {
            BulkAction::Retry => ("retry", t!("retry-title"), t!("retry-effect"), t!("retry-will")),
            BulkAction::Delete => (
                "delete",
                t!("delete-documents-title"),
                t!("delete-documents-effect"),
                t!("delete-documents-will"),
            ),
            BulkAction::Move(_) => {
                let effect = t!("move-effect", name = name, readers = readers);
                ("move", t!("move-title"), effect, t!("move-will"))
            }
            BulkAction::Add(_) => {
                let effect = t!("add-effect", name = name, readers = readers);
                ("add", t!("add-title"), effect, t!("add-will"))
            }
            BulkAction::Remove(_) => {
                ("remove", t!("remove-title"), t!("remove-effect", name = name), t!("remove-will"))
            }
        };
        let target = target.map(|open| open.collection.id.to_string());
        Self { is_delete: act == "delete", act, title, effect, will, target }
    }
}

#[derive(Serialize)]
struct Line {
    id: String,
    title: String,
    /// Whether the document exists.
    exists: bool,
    error: Option<String>,
}

impl From<&BulkItem> for Line {
    fn from(item: &BulkItem) -> Self {
        let error = item.error.as_ref().map(|error| match error {
            // Details of a fault are only logged.
            Error::Fault(fault) => fault_sentence(fault),
            Error::Invalid(invalid) => sentence(&language::reason(invalid)),
            other => language::error_text(other).unwrap_or_else(|| sentence(&other.to_string())),
        });
        Self {
            id: item.id.to_string(),
            title: item.title.clone().unwrap_or_else(|| item.id.to_string()),
            exists: item.title.is_some(),
            error,
        }
    }
}

impl BulkPage {
    fn of(words: Words, items: &[BulkItem]) -> Self {
        let lines = |is_able| {
            let items = items.iter().filter(|item| item.error.is_none() == is_able);
            items.map(Line::from).collect()
        };
        let (able, unable): (Vec<_>, _) = (lines(true), lines(false));
        let verb = verb(words.act, able.len());
        Self { words, is_done: false, able, unable, verb, word: WORD, is_word_wrong: false }
    }
}

/// Label of the button for this many documents.
fn verb(act: &str, count: usize) -> String {
    match act {
        "retry" => t!("retry-verb", count = count),
        "delete" => t!("delete-documents-verb", count = count),
        "move" => t!("move-verb", count = count),
        "add" => t!("add-verb", count = count),
        _ => t!("remove-verb", count = count),
    }
}

pub(super) async fn bulk(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<ViewDocuments>()?;
    let (act, mut ids) = parse(&form)?;
    if ids.is_empty()
        && act == BulkAction::Retry
        && let Some(code) = FailureCode::parse(form.text("failure"))
    {
        ids = failed_with(&staff, &context, code).await?;
    }
    if ids.is_empty() {
        staff.warn(t!("bulk-select-one"))?;
        return Ok(page::see_other(&format!("{ROOT}/documents")));
    }
    let app = &context.app;
    let target = match act {
        BulkAction::Retry | BulkAction::Delete => None,
        BulkAction::Move(id) | BulkAction::Add(id) | BulkAction::Remove(id) => {
            Some(browse::open(app, &staff.actor, id).await?)
        }
    };
    let words = Words::of(act, target.as_ref());
    let is_confirmed = form.is_ticked("confirmed");
    let is_typed = !words.is_delete || form.text("word").trim().eq_ignore_ascii_case(WORD);
    if is_confirmed && is_typed {
        let items = bulk::run(app, &staff.actor, grant, act, &ids).await?;
        return done(&staff, &context, words, &items);
    }
    let items = bulk::preview(app, &staff.actor, grant, act, &ids).await?;
    let page = BulkPage { is_word_wrong: is_confirmed && !is_typed, ..BulkPage::of(words, &items) };
    let status = if is_confirmed { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    staff.show_with(status, &context, "documents", page)
}

/// The newest documents that failed with a code, as many as one action can have.
async fn failed_with(staff: &Staff, context: &State, code: FailureCode) -> AppResult<Vec<DocumentId>> {
    let query = DocumentQuery { failure: Some(code), ..DocumentQuery::default() };
    let page = PageRequest { offset: 0, limit: BULK_MAX as u64 };
    let found = list::page(&context.app, staff.actor.authorize()?, &query, page).await?;
    Ok(found.records.iter().map(|document| document.id).collect())
}

fn parse(form: &Form) -> Result<(BulkAction, Vec<DocumentId>), ApiError> {
    let unreadable = || ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, t!("form-invalid"));
    let collection = || form.text("collection").parse().map_err(|_| unreadable());
    let act = match form.text("act") {
        "retry" => BulkAction::Retry,
        "delete" => BulkAction::Delete,
        "move" => BulkAction::Move(collection()?),
        "add" => BulkAction::Add(collection()?),
        "remove" => BulkAction::Remove(collection()?),
        _ => return Err(unreadable()),
    };
    let ids: Vec<DocumentId> =
        form.all("id").map(str::parse).collect::<Result<_, _>>().map_err(|_| unreadable())?;
    if ids.len() > BULK_MAX {
        let detail = t!("bulk-too-many", max = BULK_MAX);
        return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    Ok((act, ids))
}

fn done(staff: &Staff, context: &State, words: Words, items: &[BulkItem]) -> PageResult {
    if items.iter().all(|item| item.error.is_none()) {
        let count = items.len();
        staff.notify(match words.act {
            "retry" => t!("retry-done", count = count),
            "delete" => t!("delete-documents-done", count = count),
            "move" => t!("move-done", count = count),
            "add" => t!("add-done", count = count),
            _ => t!("remove-done", count = count),
        })?;
        return Ok(page::see_other(&format!("{ROOT}/documents")));
    }
    staff.show(context, "documents", BulkPage { is_done: true, ..BulkPage::of(words, items) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for BulkPage {
        fn samples() -> Vec<Self> {
            let line = |error: Option<&str>, exists| Line {
                id: "1".to_owned(),
                title: "Title".to_owned(),
                exists,
                error: error.map(str::to_owned),
            };
            let page = |act, is_done, is_word_wrong| {
                let target = act == "move";
                let words = Words {
                    act,
                    title: "Delete documents".to_owned(),
                    effect: "These documents will be deleted.".to_owned(),
                    will: "Will be deleted".to_owned(),
                    target: target.then(|| "1".to_owned()),
                    is_delete: act == "delete",
                };
                let unable = vec![line(Some("Error"), true), line(Some("Error"), false)];
                Self {
                    words,
                    is_done,
                    able: vec![line(None, true)],
                    unable,
                    verb: "Delete 1".to_owned(),
                    word: WORD,
                    is_word_wrong,
                }
            };
            let impossible = Self { able: Vec::new(), ..page("delete", false, false) };
            vec![
                page("delete", false, false),
                page("delete", false, true),
                page("delete", true, false),
                page("retry", false, false),
                page("move", false, false),
                impossible,
            ]
        }
    }
}
