//! `GET /status`

use actix_web::HttpResponse;
use docent_http::{Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Name and version of the service.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "app": "Docent", "debug": false, "framework_version": "0.1.0", "status": "ok" }))]
pub(crate) struct Status<'a> {
    /// Configured name of the service.
    app: &'a str,
    /// Whether development settings are active.
    debug: bool,
    /// Version of the program.
    framework_version: &'static str,
    /// Always `ok`.
    status: &'static str,
}

/// Read name and version
#[utoipa::path(
    get, path = "/status", operation_id = "get_status", tag = "Service", security(()),
    responses((status = 200, description = "The service is running.", body = Status<'_>)),
)]
pub(crate) async fn status(context: State) -> Reply {
    let settings = &context.settings;
    Ok(HttpResponse::Ok().json(Status {
        app: &settings.app_name,
        debug: settings.debug,
        framework_version: settings.framework_version,
        status: "ok",
    }))
}
