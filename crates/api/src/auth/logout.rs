//! `POST /auth/logout`

use super::tokens::RefreshRequest;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::accounts::logout as use_case;
use docent_http::{Body, EndedBearer, Reply, State};

/// Log out
///
/// Revokes the refresh token and all other tokens of the same login, access tokens included. Repeated requests return 204 too. A token of another account
/// returns 403. API keys cannot be used. If the key-value store is unavailable the response is 503 and nothing is revoked.
#[utoipa::path(
    post, path = "/auth/logout", operation_id = "log_out", tag = "Accounts", security(("access_token" = [])),
    request_body = RefreshRequest,
    responses((status = 204, description = "The session has ended."), answers::InvalidBody),
)]
pub(crate) async fn logout(context: State, EndedBearer(actor): EndedBearer, body: Body) -> Reply {
    let RefreshRequest { refresh_token } = body.small().read().await?;
    use_case::logout(&context.app, &actor, &refresh_token).await?;
    Ok(HttpResponse::NoContent().finish())
}
