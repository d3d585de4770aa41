//! `POST /documents/{doc_id}/retry`

use super::DocumentResponse;
use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::retry as use_case;
use docent_domain::access::ReadDocuments;

pub(crate) async fn retry(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let document = use_case::retry(&context.app, &by.actor, id).await?;
    Ok(HttpResponse::Accepted().json(DocumentResponse::from(&document)))
}
