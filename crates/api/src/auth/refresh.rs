//! `POST /auth/refresh`

use super::tokens::{RefreshRequest, TokenResponse, token_response};
use crate::answers;
use docent_app::accounts::refresh as use_case;
use docent_http::{Body, Reply, State};

/// Refresh tokens
///
/// Each use returns a new refresh token. The previous one remains usable for 30 seconds, so that a client that lost the
/// response can retry. If it is used later it is considered stolen, and all tokens of the same login are revoked.
#[utoipa::path(
    post, path = "/auth/refresh", operation_id = "refresh_tokens", tag = "Accounts", security(()),
    request_body = RefreshRequest,
    responses(
        (status = 200, description = "New tokens.", body = TokenResponse<'_>),
        answers::InvalidRefreshToken, answers::InvalidBody,
    ),
)]
pub(crate) async fn refresh(context: State, body: Body) -> Reply {
    let RefreshRequest { refresh_token } = body.small().read().await?;
    Ok(token_response(&use_case::refresh(&context.app, &refresh_token).await?))
}
