//! `GET /health/ready`

use actix_web::HttpResponse;
use docent_app::health::{self, Health};
use docent_domain::fault::{Component, Fault};
use docent_http::{context::State, error::Reply};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// How the parts of the service are.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "checks": { "database": "ok", "schema": "ok", "vector_store": "ok" }, "status": "ok" }))]
pub(crate) struct Readiness {
    /// `ok` for each part that works; a sentence for each that does not.
    checks: BTreeMap<String, String>,
    /// With a 503 alone: what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    detail: Option<&'static str>,
    /// All of it in one word.
    status: Overall,
}

/// How the service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Overall {
    /// All parts work.
    Ok,
    /// Some do not, but there is something to serve.
    Degraded,
    /// The database is missing.
    Unavailable,
}

/// Tell whether the service is ready
///
/// 503 without the database alone: with another part away there is still something to serve, and
/// one shared part must not take every replica out of rotation. A schema that this program is too
/// new for is like no database; one that it is a little too old for is what the replicas that are
/// still to be replaced meet in every upgrade.
#[utoipa::path(
    get, path = "/health/ready", operation_id = "get_readiness", tag = "Service", security(()),
    responses(
        (status = 200, description = "There is something to serve, if not everything.", body = Readiness),
        (
            status = 503, description = "The database cannot be reached, or its schema is not the program's.",
            body = Readiness,
            example = json!({
                "checks": { "database": "The database cannot be reached", "key_value_store": "ok" },
                "detail": "The database cannot be reached",
                "status": "unavailable",
            }),
        ),
    ),
)]
pub(crate) async fn ready(context: State) -> Reply {
    let health = health::check(&context.app).await;
    let mut response =
        if health.is_ready() { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    let status = match (health.is_ready(), health.is_whole()) {
        (true, true) => Overall::Ok,
        (true, false) => Overall::Degraded,
        (false, _) => Overall::Unavailable,
    };
    // Every error has a `detail`; a 200 has none.
    let detail = (!health.is_ready()).then(|| match &health.schema {
        Ok(schema) if health.is_database_up() => schema.public_message(),
        Ok(_) | Err(_) => "The database cannot be reached",
    });
    Ok(response.json(Readiness { checks: checks(&health), detail, status }))
}

fn checks(health: &Health) -> BTreeMap<String, String> {
    let parts = health.parts.iter().map(|(part, result)| (key(*part), result.as_ref().map(|()| "ok")));
    let schema = health.schema.as_ref().map(|schema| schema.public_message());
    let schema = if health.is_schema_current() { Ok("ok") } else { schema };
    let said = |said: Result<&str, &Fault>| said.map_or_else(Fault::public_message, str::to_owned);
    parts.chain([("schema".to_owned(), schema)]).map(|(key, result)| (key, said(result))).collect()
}

/// `key_value_store` for the key-value store.
fn key(part: Component) -> String {
    part.name().replace([' ', '-'], "_")
}
