//! Token request and response bodies.

use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::accounts::TokenPair;
use docent_http::BodyErrors;
use serde::Serialize;
use utoipa::ToSchema;

/// Access token and refresh token.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "access_token": "eyJ…", "refresh_token": "eyJ…", "token_type": "bearer" }))]
pub(crate) struct TokenResponse<'a> {
    /// JWT for `Authorization: Bearer`. Expires after 15 minutes by default.
    access_token: &'a str,
    /// JWT that is exchanged for the next pair of tokens.
    refresh_token: &'a str,
    /// Always `bearer`.
    token_type: &'static str,
}

pub(super) fn token_response(pair: &TokenPair) -> HttpResponse {
    HttpResponse::Ok().json(TokenResponse {
        access_token: &pair.access,
        refresh_token: &pair.refresh,
        token_type: "bearer",
    })
}

/// A refresh token.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "refresh_token": "eyJ…" }))]
pub(crate) struct RefreshRequest {
    /// Refresh token of the last response.
    pub(super) refresh_token: String,
}
