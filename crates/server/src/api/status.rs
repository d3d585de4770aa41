//! `GET /status`

use super::Reply;
use crate::context::State;
use actix_web::HttpResponse;
use serde_json::json;

pub(crate) async fn status(context: State) -> Reply {
    let settings = &context.settings;
    Ok(HttpResponse::Ok().json(json!({
        "status": "ok",
        "app": settings.app_name,
        "debug": settings.debug,
        "framework_version": settings.framework_version,
    })))
}
