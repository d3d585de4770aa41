//! `GET /health/live`

use actix_web::HttpResponse;
use docent_http::Reply;
use serde::Serialize;
use utoipa::ToSchema;

/// The process is alive.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "status": "ok" }))]
pub(crate) struct Alive {
    /// Always `ok`.
    status: &'static str,
}

/// Check liveness
///
/// Checks no other component.
#[utoipa::path(
    get, path = "/health/live", operation_id = "get_liveness", tag = "Service", security(()),
    responses((status = 200, description = "The process is alive.", body = Alive)),
)]
pub(crate) async fn live() -> Reply {
    Ok(HttpResponse::Ok().json(Alive { status: "ok" }))
}
