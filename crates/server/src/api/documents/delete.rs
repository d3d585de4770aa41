//! `DELETE /documents/{doc_id}`

use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::delete as use_case;
use docent_domain::access::ReadDocuments;

pub(crate) async fn delete(by: Granted<ReadDocuments>, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    use_case::delete(&context.app, &by.actor, id).await?;
    Ok(HttpResponse::NoContent().finish())
}
