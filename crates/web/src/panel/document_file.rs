//! `GET /admin/documents/{id}/file`

use crate::signed_in::page::{PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::documents::browse as use_case;
use docent_domain::access::ViewDocuments;
use docent_domain::permission::RecordKind;
use docent_http::{State, attachment};

pub(super) async fn file(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let grant = staff.authorize::<ViewDocuments>()?;
    let id = id_of(RecordKind::Document, &id)?;
    let (file, bytes) = use_case::file(&context.app, grant, id).await?;
    Ok(attachment::file(&file, bytes))
}
