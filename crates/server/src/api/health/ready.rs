//! `GET /health/ready`

use crate::{api::Reply, context::State};
use actix_web::HttpResponse;
use docent_app::{
    error::{Fault, Part},
    health::{self, Health, Schema},
};
use serde_json::{Map, Value, json};

/// 503 without the database alone: with another part away there is still something to serve, and
/// one shared part must not take every replica out of rotation. A schema that this program is too
/// new for is like no database; one that it is a little too old for is what the replicas that are
/// still to be replaced meet in every upgrade.
pub(crate) async fn ready(context: State) -> Reply {
    let health = health::check(&context.app).await;
    let mut response =
        if health.is_ready() { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    let status = match (health.is_ready(), health.is_whole()) {
        (true, true) => "ok",
        (true, false) => "degraded",
        (false, _) => "unavailable",
    };
    let mut body = json!({ "status": status, "checks": checks(&health) });
    // Every error has a `detail`; a 200 has none.
    if !health.is_ready() {
        let detail = match &health.schema {
            Ok(schema) if health.is_database_up() => sentence(*schema),
            Ok(_) | Err(_) => "The database cannot be reached",
        };
        body["detail"] = detail.into();
    }
    Ok(response.json(body))
}

fn checks(health: &Health) -> Map<String, Value> {
    let parts = health.parts.iter().map(|(part, result)| (key(*part), result.as_ref().map(|()| "ok")));
    let schema = health.schema.as_ref().map(|schema| match schema {
        Schema::Current => "ok",
        other => sentence(*other),
    });
    let said = |said: Result<&str, &Fault>| said.map_or_else(Fault::public, str::to_owned).into();
    parts.chain([("schema".to_owned(), schema)]).map(|(key, result)| (key, said(result))).collect()
}

fn sentence(schema: Schema) -> &'static str {
    match schema {
        Schema::Current => "The database schema is current",
        Schema::Newer => "The database schema is newer than this program",
        Schema::Older => "The database schema is older than this program needs",
        Schema::Missing => "The database has no schema yet",
    }
}

/// `key_value_store` for the key-value store.
fn key(part: Part) -> String {
    part.name().replace([' ', '-'], "_")
}
