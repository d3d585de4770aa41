//! `POST /oauth/register`: dynamic client registration (RFC 7591).

use super::Issuer;
use super::problem::{OAuthProblem, Refusal};
use crate::answers;
use actix_web::HttpResponse;
use docent_app::oauth::clients::{self, Registration, RegistrationError};
use docent_domain::client_uri::RedirectUri;
use docent_domain::oauth::RegisteredClient;
use docent_http::{ApiError, Body, Client, Reply, State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a client says about itself. Other fields are ignored.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({ "client_name": "Reader", "redirect_uris": ["http://127.0.0.1/callback"] }))]
pub(crate) struct ClientMetadata {
    /// Where the browser returns to: `https`, `http` for `localhost`, `127.0.0.1` or `[::1]` (with any port), or a scheme in the form
    /// of a reversed domain name.
    redirect_uris: Vec<String>,
    /// Name of the client, which accounts see.
    #[serde(default)]
    client_name: Option<String>,
}

/// A registered client. All clients are public: they have no secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClientResponse<'a> {
    client_id: String,
    /// Time of registration in seconds since 1970.
    client_id_issued_at: i64,
    client_name: &'a str,
    redirect_uris: Vec<&'a str>,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
}

impl<'a> ClientResponse<'a> {
    fn of(client: &'a RegisteredClient) -> Self {
        Self {
            client_id: client.id.to_string(),
            client_id_issued_at: client.created_at.timestamp(),
            client_name: client.name.as_str(),
            redirect_uris: client.redirect_uris.iter().map(RedirectUri::as_str).collect(),
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
        }
    }
}

/// Register an OAuth client (extension)
///
/// RFC 7591. Clients are public, whatever method of authentication they ask for. Clients that get no token within a day are removed. 404 if
/// `oauth` is off.
#[utoipa::path(
    post, path = "/oauth/register", operation_id = "register_client", tag = "Accounts", security(()),
    request_body = ClientMetadata,
    responses(
        (status = 201, description = "The client.", body = ClientResponse<'_>),
        (status = 400, description = "The metadata is not valid.", body = OAuthProblem),
        answers::UnreadableBody, answers::UnknownPath,
    ),
)]
pub(crate) async fn register(_: Issuer, context: State, client: Client, body: Body) -> Reply {
    let bytes = body.small().bytes().await?;
    let Ok(metadata) = serde_json::from_slice::<ClientMetadata>(&bytes) else {
        let description = "the body is not a JSON object with redirect_uris, a list of texts";
        return Refusal::new("invalid_client_metadata", description).response();
    };
    let registration =
        Registration { name: metadata.client_name.as_deref(), redirect_uris: &metadata.redirect_uris };
    match clients::register(&context.app, registration, client.address).await {
        Ok(client) => Ok(HttpResponse::Created().json(ClientResponse::of(&client))),
        Err(error @ RegistrationError::RedirectUri(_)) => {
            Refusal::new("invalid_redirect_uri", error.to_string()).response()
        }
        Err(error @ RegistrationError::Metadata(_)) => {
            Refusal::new("invalid_client_metadata", error.to_string()).response()
        }
        Err(RegistrationError::TooMany { retry_after }) => Err(ApiError::too_many(retry_after)),
        Err(RegistrationError::Failed(error)) => Err(error.into()),
    }
}
