//! `GET /status`

use actix_web::HttpResponse;
use docent_http::context::State;
use docent_http::error::Reply;
use serde::Serialize;
use utoipa::ToSchema;

/// Which program answers.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "app": "Docent", "debug": false, "framework_version": "0.1.0", "status": "ok" }))]
pub(crate) struct Status<'a> {
    /// The name that the service was given.
    app: &'a str,
    /// Whether it runs with settings for development.
    debug: bool,
    /// The program's version.
    framework_version: &'static str,
    /// Always `ok`.
    status: &'static str,
}

/// Tell name and version
#[utoipa::path(
    get, path = "/status", operation_id = "get_status", tag = "Service", security(()),
    responses((status = 200, description = "The service answers.", body = Status<'_>)),
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
