//! `GET /health/ready`

use actix_web::{HttpRequest, HttpResponse};
use docent_app::health::Health;
use docent_domain::access::UseAdminPanel;
use docent_domain::fault::{Component, Fault};
use docent_domain::file_type::FileType;
use docent_http::extract::granted::{Granted, bearer};
use docent_http::{Reply, State};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Status of the components.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "checks": { "database": "ok", "schema": "ok", "vector_store": "ok" }, "status": "ok", "text_recognition": false, "upload_types": ["pdf", "docx"],
}))]
pub(crate) struct Readiness {
    /// `ok` for each working component. For each other `unavailable`, or an error message if the request has a staff account's access
    /// token or the metrics token.
    checks: BTreeMap<String, String>,
    /// Why the service is not ready. Only in a 503.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    detail: Option<&'static str>,
    /// Overall status.
    status: Overall,
    /// Whether the text of scanned pages is recognised.
    text_recognition: bool,
    /// Name, version and languages of the text recognizer. Only if it works and the request has a staff account's access token or the
    /// metrics token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text_recognizer: Option<String>,
    /// Types of files that can be uploaded. Each is also the usual extension of file names.
    upload_types: Vec<&'static str>,
}

/// Overall status of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Overall {
    /// All components work.
    Ok,
    /// Some components are unavailable, but requests can be served.
    Degraded,
    /// The database is unavailable, or the process is stopping.
    Unavailable,
}

/// Check readiness
///
/// Returns 503 only if the database cannot be reached or its schema is older than the program needs, and while the process is stopping. Without another component, or with a
/// database that is full, locked or read-only, some requests can still be served, and one shared component must not take every replica out
/// of rotation. A newer schema is accepted: old replicas meet it during every upgrade. A result is up to 5 s old.
#[utoipa::path(
    get, path = "/health/ready", operation_id = "get_readiness", tag = "Service",
    security((), ("metrics_token" = []), ("access_token" = [])),
    responses(
        (status = 200, description = "Requests can be served, possibly not all.", body = Readiness),
        (
            status = 503, description = "The database cannot be reached, its schema does not match the program, or the process is stopping.",
            body = Readiness,
            example = json!({
                "checks": { "database": "The database cannot be reached", "key_value_store": "ok" },
                "detail": "The database cannot be reached",
                "status": "unavailable",
                "text_recognition": false,
                "upload_types": ["pdf"],
            }),
        ),
    ),
)]
pub(crate) async fn ready(
    context: State,
    staff: Option<Granted<UseAdminPanel>>,
    request: HttpRequest,
) -> Reply {
    let health = context.health.check(&context.app).await;
    let shows_messages = staff.is_some() || has_metrics_token(&context, &request);
    let is_stopping = context.stopping.is_cancelled();
    let is_ready = health.is_ready() && !is_stopping;
    let mut response = if is_ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    let status = match (is_ready, health.is_healthy()) {
        (true, true) => Overall::Ok,
        (true, false) => Overall::Degraded,
        (false, _) => Overall::Unavailable,
    };
    // Every error has a `detail`; a 200 has none.
    let detail = (!is_ready).then(|| match &health.schema {
        _ if is_stopping => "The service is stopping",
        Ok(schema) if health.is_database_reachable => schema.public_message(),
        Ok(_) | Err(_) => "The database cannot be reached",
    });
    Ok(response.json(Readiness {
        checks: checks(&health, shows_messages),
        detail,
        status,
        text_recognition: health.has_recognizer(),
        text_recognizer: health.recognizer.clone().filter(|_| shows_messages),
        upload_types: context.app.settings().upload_types.iter().map(FileType::as_str).collect(),
    }))
}

/// Whether the request has the metrics token. Without a configured token metrics are public, but error messages are not.
fn has_metrics_token(context: &State, request: &HttpRequest) -> bool {
    let endpoint = context.settings.metrics.as_ref().filter(|endpoint| endpoint.token.is_some());
    endpoint.is_some_and(|endpoint| endpoint.admits(bearer(request.headers())))
}

fn checks(health: &Health, shows_messages: bool) -> BTreeMap<String, String> {
    let parts = health.components.iter().map(|(part, result)| (key(*part), result.as_ref().map(|()| "ok")));
    let schema = health.schema.as_ref().map(|schema| schema.public_message());
    let schema = if health.is_schema_current() { Ok("ok") } else { schema };
    let message = |result: Result<&str, &Fault>| match result {
        Ok("ok") => "ok".to_owned(),
        Ok(_) | Err(_) if !shows_messages => "unavailable".to_owned(),
        result => result.map_or_else(Fault::public_message, str::to_owned),
    };
    parts.chain([("schema".to_owned(), schema)]).map(|(key, result)| (key, message(result))).collect()
}

/// `key_value_store` for the key-value store.
fn key(part: Component) -> String {
    part.name().replace([' ', '-'], "_")
}
