//! `POST /admin/documents/{id}/retry` and `POST /admin/documents/{id}/delete`

use super::{
    ROOT,
    form::Form,
    page::{self, Broken},
    session::{self, Staff},
};
use crate::{context::State, error::Refusal};
use actix_session::Session;
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::{
    documents::{delete as delete_document, retry as retry_document},
    error::Error,
};
use docent_domain::id::DocumentId;

pub(super) async fn retry(
    staff: Staff,
    context: State,
    session: Session,
    id: Path<String>,
    form: Form,
) -> Result<HttpResponse, Broken> {
    let id = check(&session, &form, &id)?;
    retry_document::retry(&context.app, &staff.actor, id).await?;
    Ok(page::see_other(&format!("{ROOT}/documents/{id}")))
}

pub(super) async fn delete(
    staff: Staff,
    context: State,
    session: Session,
    id: Path<String>,
    form: Form,
) -> Result<HttpResponse, Broken> {
    let id = check(&session, &form, &id)?;
    delete_document::delete(&context.app, &staff.actor, id).await?;
    Ok(page::see_other(&format!("{ROOT}/documents")))
}

fn check(session: &Session, form: &Form, id: &str) -> Result<DocumentId, Broken> {
    if !session::is_own_form(session, form.text("form_token")) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "The form had expired").into());
    }
    Ok(id.parse().map_err(|_| Error::DocumentNotFound)?)
}
