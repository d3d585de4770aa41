//! `POST /documents/{doc_id}/retry`

use super::DocumentResponse;
use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Bearer},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::retry as use_case;

pub(crate) async fn retry(Bearer(actor): Bearer, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    let document = use_case::retry(&context.app, &actor, id).await?;
    Ok(HttpResponse::Accepted().json(DocumentResponse::from(&document)))
}
