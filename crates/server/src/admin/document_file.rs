//! `GET /admin/documents/{id}/file`

use super::{
    page::{Broken, id_of},
    session::Staff,
};
use crate::{attachment::attachment, context::State};
use actix_web::{HttpResponse, body::SizedStream, http::header, web::Path};
use docent_app::documents::browse as use_case;
use docent_domain::{access::ViewDocuments, permission::RecordKind};

pub(super) async fn file(staff: Staff, context: State, id: Path<String>) -> Result<HttpResponse, Broken> {
    let grant = staff.may::<ViewDocuments>()?;
    let id = id_of(RecordKind::Document, &id)?;
    let (file, bytes) = use_case::file(&context.app, grant, id).await?;
    Ok(HttpResponse::Ok()
        .content_type("application/pdf")
        .insert_header(attachment(file.name.as_str()))
        // Whatever the file is, it runs nothing here.
        .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .body(SizedStream::new(file.bytes, bytes)))
}
