//! Tokens as requests and answers carry them.

use actix_web::HttpResponse;
use docent_app::accounts::TokenPair;
use serde::Serialize;
use utoipa::ToSchema;

/// What a login is good for.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "access_token": "eyJ…", "refresh_token": "eyJ…", "token_type": "bearer" }))]
pub(crate) struct TokenResponse<'a> {
    /// A JWT for `Authorization: Bearer`, good for 15 minutes unless the settings say otherwise.
    access_token: &'a str,
    /// A JWT that buys the next pair of tokens.
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
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handlers read field by field")]
#[schema(example = json!({ "refresh_token": "eyJ…" }))]
pub(crate) struct RefreshRequest {
    /// The one that came with the last pair of tokens.
    refresh_token: String,
}
