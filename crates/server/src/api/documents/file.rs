//! `GET /documents/{doc_id}/file`

use crate::{
    api::Reply,
    attachment::attachment,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, body::SizedStream, http::header, web::Path};
use docent_app::documents::file as use_case;
use docent_domain::access::ReadDocuments;

pub(crate) async fn file(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let (file, bytes) = use_case::open(&context.app, by.grant, id).await?;
    Ok(HttpResponse::Ok()
        .content_type("application/pdf")
        .insert_header(attachment(file.name.as_str()))
        // Whatever the file is, it runs nothing here.
        .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .body(SizedStream::new(file.bytes, bytes)))
}
