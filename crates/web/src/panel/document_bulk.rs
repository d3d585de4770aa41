//! `POST /admin/documents/bulk`: shows a preview, and after confirmation the result.

use super::{
    form::{Form, OwnForm},
    nav::ROOT,
    page::{self, Broken},
    session::Staff,
};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::{
    documents::bulk::{self, BULK_MAX, BulkAction, BulkItem},
    error::Error,
};
use docent_domain::{access::ViewDocuments, id::DocumentId};
use docent_http::{
    context::State,
    error::{ApiError, sentence},
};
use serde::Serialize;

/// Word that must be typed to confirm a bulk deletion.
const WORD: &str = "delete";

#[derive(Serialize)]
struct Line {
    id: String,
    title: String,
    is_there: bool,
    refusal: Option<String>,
}

impl From<&BulkItem> for Line {
    fn from(item: &BulkItem) -> Self {
        let refusal = item.error.as_ref().map(|error| match error {
            // Details of a fault are only logged.
            Error::Fault(fault) => sentence(&fault.public_message()),
            Error::Invalid(invalid) => sentence(&invalid.reason),
            other => sentence(&other.to_string()),
        });
        Self {
            id: item.id.to_string(),
            title: item.title.clone().unwrap_or_else(|| item.id.to_string()),
            is_there: item.title.is_some(),
            refusal,
        }
    }
}

pub(super) async fn bulk(
    staff: Staff,
    context: State,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewDocuments>()?;
    let (act, ids) = parse(&form)?;
    if ids.is_empty() {
        staff.complain("Select at least one document.")?;
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
    let mut values = values(&staff, act, &items);
    values.insert("is_over", &false);
    values.insert("wrong_word", &(is_confirmed && !is_typed));
    let status = if is_confirmed { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    page::show(&context, status, "bulk.html", &values)
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

fn values(staff: &Staff, act: BulkAction, items: &[BulkItem]) -> tera::Context {
    let mut values = staff.page("documents");
    let (able, unable): (Vec<_>, Vec<_>) = items.iter().partition(|item| item.error.is_none());
    let lines = |items: Vec<&BulkItem>| items.into_iter().map(Line::from).collect::<Vec<_>>();
    values.insert("is_delete", &(act == BulkAction::Delete));
    values.insert("able", &lines(able));
    values.insert("unable", &lines(unable));
    values
}

fn done(staff: &Staff, context: &State, act: BulkAction, items: &[BulkItem]) -> Result<HttpResponse, Broken> {
    if items.iter().all(|item| item.error.is_none()) {
        let documents =
            if items.len() == 1 { "1 document".to_owned() } else { format!("{} documents", items.len()) };
        staff.say(match act {
            BulkAction::Retry => format!("The ingestion of {documents} will be retried."),
            BulkAction::Delete => format!("Deleted {documents}."),
        })?;
        return Ok(page::see_other(&format!("{ROOT}/documents")));
    }
    let mut values = values(staff, act, items);
    values.insert("is_over", &true);
    values.insert("wrong_word", &false);
    page::show(context, StatusCode::OK, "bulk.html", &values)
}
