//! `POST /oauth/token`

use super::Issuer;
use super::problem::{OAuthProblem, Refusal, field, required};
use crate::answers;
use actix_web::HttpResponse;
use docent_app::oauth::tokens::{self, CodeExchange, ConnectionTokens, RefreshExchange};
use docent_http::{ApiError, Form, Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Fields of the form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents the form")]
#[schema(example = json!({ "grant_type": "refresh_token", "client_id": "067e6162-3b6f-7ae2-a171-2470b63dff00", "refresh_token": "…" }))]
pub(crate) struct TokenForm {
    /// `authorization_code` or `refresh_token`.
    grant_type: String,
    /// ID of the client.
    client_id: String,
    /// The code, for `authorization_code`.
    #[schema(nullable = false)]
    code: Option<String>,
    /// The PKCE verifier, for `authorization_code`.
    #[schema(nullable = false)]
    code_verifier: Option<String>,
    /// The redirect URI of the request for the code; optional.
    #[schema(nullable = false)]
    redirect_uri: Option<String>,
    /// The refresh token, for `refresh_token`.
    #[schema(nullable = false)]
    refresh_token: Option<String>,
    /// Fewer scopes for the access token, for `refresh_token`; separated by spaces.
    #[schema(nullable = false)]
    scope: Option<String>,
    /// The resource of the request for the code; optional.
    #[schema(nullable = false)]
    resource: Option<String>,
}

/// Tokens of a connected application.
#[derive(Serialize, ToSchema)]
pub(crate) struct OAuthTokens {
    access_token: String,
    /// Always `Bearer`.
    token_type: &'static str,
    /// Lifetime of the access token in seconds.
    expires_in: u64,
    /// Replaces the earlier refresh token.
    refresh_token: String,
    /// Scopes of the access token, separated by spaces.
    scope: String,
}

/// Get tokens for a connected application (extension)
///
/// OAuth 2.1: exchanges an authorization code (with PKCE, `S256` only) or a refresh token. Codes are valid once, for 60 seconds. Each refresh
/// token is replaced when it is used, and remains usable for 30 seconds; a later use disconnects the application, and so does the second use of a code. 404
/// if `oauth` is off.
#[utoipa::path(
    post, path = "/oauth/token", operation_id = "get_oauth_tokens", tag = "Accounts", security(()),
    request_body(content = TokenForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, description = "The tokens.", body = OAuthTokens),
        (status = 400, description = "The request or what it exchanges is not valid.", body = OAuthProblem),
        answers::UnreadableBody, answers::UnknownPath,
    ),
)]
pub(crate) async fn token(issuer: Issuer, context: State, form: Result<Form, ApiError>) -> Reply {
    match exchange(&issuer, &context, form).await {
        Ok(tokens) => Ok(HttpResponse::Ok().json(OAuthTokens {
            access_token: tokens.access,
            token_type: "Bearer",
            expires_in: tokens.expires_in.as_secs(),
            refresh_token: tokens.refresh,
            scope: tokens.scopes.to_string(),
        })),
        Err(refusal) => refusal.response(),
    }
}

async fn exchange(
    issuer: &Issuer,
    context: &State,
    form: Result<Form, ApiError>,
) -> Result<ConnectionTokens, Refusal> {
    let (form, base) = (form?, issuer.0.as_str());
    let client_id = required(&form, "client_id")?;
    let resource = field(&form, "resource")?;
    let tokens = match required(&form, "grant_type")? {
        "authorization_code" => {
            let exchange = CodeExchange {
                client_id,
                code: required(&form, "code")?,
                verifier: required(&form, "code_verifier")?,
                redirect_uri: field(&form, "redirect_uri")?,
                resource,
            };
            tokens::exchange(&context.app, base, exchange).await?
        }
        "refresh_token" => {
            let refresh_token = required(&form, "refresh_token")?;
            let scope = field(&form, "scope")?;
            let exchange = RefreshExchange { client_id, refresh_token, scope, resource };
            tokens::refresh(&context.app, base, exchange).await?
        }
        _ => {
            let description = "grant_type must be authorization_code or refresh_token";
            return Err(Refusal::new("unsupported_grant_type", description));
        }
    };
    Ok(tokens)
}
