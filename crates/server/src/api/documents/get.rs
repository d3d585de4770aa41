//! `GET /documents/{doc_id}`

use super::DocumentResponse;
use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::get as use_case;
use docent_domain::access::ReadDocuments;

pub(crate) async fn get(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let document = use_case::get(&context.app, by.grant, id).await?;
    Ok(HttpResponse::Ok().json(DocumentResponse::from(&document)))
}
