//! Logging in, staying in, logging out.

pub(crate) mod logout;
pub(crate) mod refresh;
pub(crate) mod token;
pub(crate) mod verification;

use actix_web::HttpResponse;
use docent_app::accounts::TokenPair;
use serde_json::json;

fn token_response(pair: &TokenPair) -> HttpResponse {
    HttpResponse::Ok().json(json!({
        "access_token": pair.access,
        "token_type": "bearer",
        "refresh_token": pair.refresh,
    }))
}
