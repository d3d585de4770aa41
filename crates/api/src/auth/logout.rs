//! `POST /auth/logout`

use crate::openapi::answers;
use actix_web::HttpResponse;
use docent_app::accounts::logout as use_case;
use docent_http::{
    context::State,
    error::Reply,
    extract::{granted::Bearer, json::Body},
};

/// Log out
///
/// Revokes the refresh token and all that descend from the same login. Doing so again is 204 too; a token of another
/// account is 403. An API key cannot do it. When the key-value store cannot be reached the answer is 503 and nothing is revoked.
#[utoipa::path(
    post, path = "/auth/logout", operation_id = "log_out", tag = "Accounts", security(("access_token" = [])),
    request_body = super::tokens::RefreshRequest,
    responses(
        (status = 204, description = "The session has ended."),
        answers::Guarded,
        answers::BodyRead,
        answers::StoreAway,
    ),
)]
pub(crate) async fn logout(context: State, Bearer(actor): Bearer, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("refresh_token");
    let token = body.done(token)?;
    use_case::logout(&context.app, &actor, &token).await?;
    Ok(HttpResponse::NoContent().finish())
}
