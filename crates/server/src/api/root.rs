//! `GET /`

use super::Reply;
use crate::context::State;
use actix_web::HttpResponse;
use serde_json::json;

pub(crate) async fn root(context: State) -> Reply {
    let message = format!("{} answers questions about your documents.", context.settings.app_name);
    Ok(HttpResponse::Ok().json(json!({ "message": message })))
}
