//! `GET /health/live`

use crate::api::Reply;
use actix_web::HttpResponse;
use serde_json::json;

/// Asks nothing and nobody: whatever else is down, the process is alive.
pub(crate) async fn live() -> Reply {
    Ok(HttpResponse::Ok().json(json!({ "status": "ok" })))
}
