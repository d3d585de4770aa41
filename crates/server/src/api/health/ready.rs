//! `GET /health/ready`

use crate::{api::Reply, context::State};
use actix_web::HttpResponse;
use docent_app::{error::Part, health};
use serde_json::{Map, Value, json};

/// 503 without the database alone: with another part away there is still something to serve, and
/// one shared part must not take every replica out of rotation.
pub(crate) async fn ready(context: State) -> Reply {
    let health = health::check(&context.app).await;
    let checks: Map<String, Value> = health
        .parts
        .iter()
        .map(|(part, result)| {
            let said = result.as_ref().map_or_else(|fault| fault.public(), |()| "ok".to_owned());
            (key(*part), said.into())
        })
        .collect();
    let mut response =
        if health.is_ready() { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    let status = match (health.is_ready(), health.is_whole()) {
        (true, true) => "ok",
        (true, false) => "degraded",
        (false, _) => "unavailable",
    };
    Ok(response.json(body(status, checks, health.is_ready())))
}

/// Every error has a `detail`; a 200 has none.
fn body(status: &str, checks: Map<String, Value>, is_ready: bool) -> Value {
    let mut body = json!({ "status": status, "checks": checks });
    if !is_ready {
        body["detail"] = "The database cannot be reached".into();
    }
    body
}

/// `key_value_store` for the key-value store.
fn key(part: Part) -> String {
    part.name().replace([' ', '-'], "_")
}
