//! `DELETE /documents/{doc_id}`

use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Bearer},
};
use actix_web::{HttpResponse, web::Path};
use docent_app::documents::delete as use_case;

pub(crate) async fn delete(Bearer(actor): Bearer, context: State, id: Path<String>) -> Reply {
    let id = extract::id("doc_id", &id)?;
    use_case::delete(&context.app, &actor, id).await?;
    Ok(HttpResponse::NoContent().finish())
}
