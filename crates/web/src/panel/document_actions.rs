//! `POST /admin/documents/{id}/retry` and `POST /admin/documents/{id}/delete`

use super::nav::ROOT;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::documents::{delete as delete_document, retry as retry_document};
use docent_domain::access::ViewDocuments;
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;
use docent_http::State;

pub(super) async fn retry(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewDocuments>()?;
    let id: DocumentId = id_of(RecordKind::Document, &id)?;
    retry_document::retry(&context.app, &staff.actor, id).await?;
    staff.notify("The document will be ingested again.")?;
    Ok(page::see_other(&format!("{ROOT}/documents/{id}")))
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewDocuments>()?;
    delete_document::delete(&context.app, &staff.actor, id_of(RecordKind::Document, &id)?).await?;
    staff.notify("The document was deleted.")?;
    Ok(page::see_other(&format!("{ROOT}/documents")))
}
