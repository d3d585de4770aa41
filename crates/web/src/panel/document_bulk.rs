//! `POST /admin/documents/bulk`: shows a preview, and after confirmation the result.

use super::nav::ROOT;
use crate::signed_in::form::{Form, OwnForm};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::Staff;
use actix_web::http::StatusCode;
use docent_app::documents::bulk::{self, BULK_MAX, BulkAction, BulkItem};
use docent_app::error::Error;
use docent_domain::access::ViewDocuments;
use docent_domain::id::DocumentId;
use docent_http::error::sentence;
use docent_http::{ApiError, State};
use serde::Serialize;

/// Word that must be typed to confirm a bulk deletion.
const WORD: &str = "delete";

#[derive(Serialize)]
pub(super) struct BulkPage {
    /// Deletion or retry.
    is_delete: bool,
    /// Whether the action has been run; otherwise the page is a preview.
    is_done: bool,
    /// Documents for which the action succeeds.
    able: Vec<Line>,
    /// Documents for which it fails.
    unable: Vec<Line>,
    /// Whether the confirmation word is wrong.
    is_word_wrong: bool,
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
            Error::Fault(fault) => sentence(&fault.public_message()),
            Error::Invalid(invalid) => sentence(&invalid.reason),
            other => sentence(&other.to_string()),
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
    fn of(act: BulkAction, items: &[BulkItem]) -> Self {
        let lines = |is_able| {
            let items = items.iter().filter(|item| item.error.is_none() == is_able);
            items.map(Line::from).collect()
        };
        Self {
            is_delete: act == BulkAction::Delete,
            is_done: false,
            able: lines(true),
            unable: lines(false),
            is_word_wrong: false,
        }
    }
}

pub(super) async fn bulk(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<ViewDocuments>()?;
    let (act, ids) = parse(&form)?;
    if ids.is_empty() {
        staff.warn("Select at least one document.")?;
        return Ok(page::see_other(&format!("{ROOT}/documents")));
    }
    let is_confirmed = form.is_ticked("confirmed");
    let is_typed = act == BulkAction::Retry || form.text("word").trim().eq_ignore_ascii_case(WORD);
    let app = &context.app;
    if is_confirmed && is_typed {
        let items = bulk::run(app, &staff.actor, grant, act, &ids).await?;
        return done(&staff, &context, act, &items);
    }
    let items = bulk::preview(app, &staff.actor, grant, act, &ids).await?;
    let page = BulkPage { is_word_wrong: is_confirmed && !is_typed, ..BulkPage::of(act, &items) };
    let status = if is_confirmed { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    staff.show_with(status, &context, "documents", page)
}

fn parse(form: &Form) -> Result<(BulkAction, Vec<DocumentId>), ApiError> {
    let unreadable = || ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "The form is invalid");
    let act = match form.text("act") {
        "retry" => BulkAction::Retry,
        "delete" => BulkAction::Delete,
        _ => return Err(unreadable()),
    };
    let ids: Vec<DocumentId> =
        form.all("id").map(str::parse).collect::<Result<_, _>>().map_err(|_| unreadable())?;
    if ids.len() > BULK_MAX {
        let detail = format!("At most {BULK_MAX} documents can be selected at once");
        return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
    }
    Ok((act, ids))
}

fn done(staff: &Staff, context: &State, act: BulkAction, items: &[BulkItem]) -> PageResult {
    if items.iter().all(|item| item.error.is_none()) {
        let documents =
            if items.len() == 1 { "1 document".to_owned() } else { format!("{} documents", items.len()) };
        staff.notify(match act {
            BulkAction::Retry => format!("The ingestion of {documents} will be retried."),
            BulkAction::Delete => format!("Deleted {documents}."),
        })?;
        return Ok(page::see_other(&format!("{ROOT}/documents")));
    }
    staff.show(context, "documents", BulkPage { is_done: true, ..BulkPage::of(act, items) })
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
            let page = |is_delete, is_done, is_word_wrong| Self {
                is_delete,
                is_done,
                able: vec![line(None, true)],
                unable: vec![line(Some("Error"), true), line(Some("Error"), false)],
                is_word_wrong,
            };
            let impossible = Self { able: Vec::new(), ..page(true, false, false) };
            let retry = page(false, false, false);
            vec![
                page(true, false, false),
                page(true, false, true),
                page(true, true, false),
                retry,
                impossible,
            ]
        }
    }
}
