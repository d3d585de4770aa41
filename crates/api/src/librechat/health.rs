//! `GET /librechat/health`

use super::ensure_connected;
use crate::answers;
use actix_web::HttpResponse;
use docent_http::{Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Whether requests can be served.
#[derive(Serialize, ToSchema)]
#[schema(as = LibreChatHealth, example = json!({ "status": "UP" }))]
pub(crate) struct Health {
    /// `UP` or `DOWN`.
    #[schema(pattern = "^(UP|DOWN)$")]
    status: &'static str,
    /// Why requests cannot be served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    detail: Option<&'static str>,
}

/// Check the health for LibreChat (extension)
///
/// Needs no token.
#[utoipa::path(
    get, path = "/librechat/health", operation_id = "librechat_health", tag = "LibreChat",
    security(()),
    responses(
        (status = 200, description = "Requests can be served.", body = Health),
        (status = 503, description = "The database cannot be reached, or the process is stopping.", body = Health, example = json!({ "status": "DOWN", "detail": "The service is not ready" })),
        answers::UnknownPath,
    ),
)]
pub(crate) async fn health(context: State) -> Reply {
    ensure_connected(&context)?;
    let is_ready = context.health.check(&context.app).await.is_ready() && !context.stopping.is_cancelled();
    Ok(if is_ready {
        HttpResponse::Ok().json(Health { status: "UP", detail: None })
    } else {
        let detail = Some("The service is not ready");
        HttpResponse::ServiceUnavailable().json(Health { status: "DOWN", detail })
    })
}
