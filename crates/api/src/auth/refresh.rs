//! `POST /auth/refresh`

use super::tokens::token_response;
use crate::openapi::answers;
use docent_app::accounts::refresh as use_case;
use docent_http::{context::State, error::Reply, extract::json::Body};

/// Get the next pair of tokens
///
/// The refresh token changes with every use. The one that was presented stays usable for `refresh_rotation_grace`, so that a
/// client that lost the answer can try again; used later than that it counts as stolen, and every token that descends
/// from the same login is revoked.
#[utoipa::path(
    post, path = "/auth/refresh", operation_id = "refresh_tokens", tag = "Accounts", security(()),
    request_body = super::tokens::RefreshRequest,
    responses(
        (status = 200, description = "The next pair.", body = super::tokens::TokenResponse<'_>),
        answers::RefreshTokenRefused,
        answers::BodyRead,
        answers::StoreAway,
    ),
)]
pub(crate) async fn refresh(context: State, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("refresh_token");
    let token = body.done(token)?;
    Ok(token_response(&use_case::refresh(&context.app, &token).await?))
}
