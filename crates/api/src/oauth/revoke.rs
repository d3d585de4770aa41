//! `POST /oauth/revoke`

use super::Issuer;
use super::problem::{OAuthProblem, Refusal, required};
use crate::answers;
use actix_web::HttpResponse;
use docent_app::oauth::tokens;
use docent_http::{ApiError, Form, Reply, State};
use utoipa::ToSchema;

/// Fields of the form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents the form")]
#[schema(example = json!({ "client_id": "067e6162-3b6f-7ae2-a171-2470b63dff00", "token": "…" }))]
pub(crate) struct RevocationForm {
    /// ID of the client.
    client_id: String,
    /// An access or refresh token.
    token: String,
}

/// Disconnect the application (extension)
///
/// RFC 7009. All tokens of the connection end. Unknown and expired tokens are accepted. 404 if `oauth` is off.
#[utoipa::path(
    post, path = "/oauth/revoke", operation_id = "revoke_oauth_token", tag = "Accounts", security(()),
    request_body(content = RevocationForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The token is not valid any more."),
        (status = 400, description = "A field is missing, or the token belongs to another client.", body = OAuthProblem),
        answers::UnreadableBody, answers::UnknownPath,
    ),
)]
pub(crate) async fn revoke(_: Issuer, context: State, form: Result<Form, ApiError>) -> Reply {
    let revoke = async || -> Result<(), Refusal> {
        let form = form?;
        let (client_id, token) = (required(&form, "client_id")?, required(&form, "token")?);
        Ok(tokens::revoke(&context.app, client_id, token).await?)
    };
    match revoke().await {
        Ok(()) => Ok(HttpResponse::Ok().finish()),
        Err(refusal) => refusal.response(),
    }
}
