//! `POST /admin/documents/{id}/attributes`, `POST /admin/documents/{id}/retry` and `POST /admin/documents/{id}/delete`

use super::document;
use super::document_attributes::{self as attributes, AttributesView};
use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::form::{OwnForm, is_stale};
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::documents::label::{self, LabelChange};
use docent_app::documents::{delete as delete_document, details, retry as retry_document};
use docent_app::error::Error;
use docent_domain::access::ViewDocuments;
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;
use docent_http::State;

pub(super) async fn change_attributes(
    staff: Staff,
    context: State,
    id: Path<String>,
    form: OwnForm,
) -> PageResult {
    let grant = staff.authorize::<ViewDocuments>()?;
    let id: DocumentId = id_of(RecordKind::Document, &id)?;
    let address = format!("{ROOT}/documents/{id}");
    let document = details::get(&context.app, grant, id).await?.document;
    let seen = attributes::revision(&document.attributes);
    if is_stale(&form, &seen) {
        staff.warn(t!("record-stale"))?;
        return Ok(page::see_other(&address));
    }
    let rows = attributes::submitted(&form);
    let errors = match attributes::parse(&rows) {
        Ok(attributes) => {
            let change = LabelChange { collections: None, attributes: Some(attributes) };
            match label::label(&context.app, &staff.actor, id, change).await {
                Ok(_) => {
                    staff.notify(t!("attributes-saved"))?;
                    return Ok(page::see_other(&address));
                }
                Err(Error::Invalid(invalid)) => vec![attributes::invalid(&invalid)],
                Err(error) => return Err(error.into()),
            }
        }
        Err(errors) => errors,
    };
    document::show(&staff, &context, id, Some(AttributesView::rejected(rows, errors, seen))).await
}

pub(super) async fn retry(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewDocuments>()?;
    let id: DocumentId = id_of(RecordKind::Document, &id)?;
    retry_document::retry(&context.app, &staff.actor, id).await?;
    staff.notify(t!("document-retried"))?;
    Ok(page::see_other(&format!("{ROOT}/documents/{id}")))
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewDocuments>()?;
    delete_document::delete(&context.app, &staff.actor, id_of(RecordKind::Document, &id)?).await?;
    staff.notify(t!("document-deleted"))?;
    Ok(page::see_other(&format!("{ROOT}/documents")))
}
