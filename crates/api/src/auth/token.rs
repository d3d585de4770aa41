//! `POST /auth/token`

use super::tokens::{TokenResponse, token_response};
use crate::openapi::answers;
use deserr::Deserr;
use docent_app::accounts::login;
use docent_app::accounts::sessions::ClientInfo;
use docent_http::{Body, BodyErrors, Client, Reply, State, UserAgent};
use utoipa::ToSchema;

/// Email address and password.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "email": "you@example.org", "password": "correct horse" }))]
pub(crate) struct Credentials {
    /// Email address of the account, case-insensitive.
    email: String,
    /// Password of the account.
    password: String,
}

/// Log in
///
/// An unknown account, an inactive account and a wrong password return the same 401 after the same time. After
/// `login_max_failures` failed attempts for one account from one address within `login_failure_period`, the response is 429.
#[utoipa::path(
    post, path = "/auth/token", operation_id = "log_in", tag = "Accounts", security(()),
    request_body = Credentials,
    responses(
        (status = 200, description = "A new session.", body = TokenResponse<'_>),
        answers::WrongCredentials, answers::InvalidBody,
    ),
)]
pub(crate) async fn token(context: State, client: Client, agent: UserAgent, body: Body) -> Reply {
    let Credentials { email, password } = body.small().read().await?;
    let origin = ClientInfo { address: client.address, agent: agent.0 };
    let pair = login::login(&context.app, &email, password, &origin).await?;
    Ok(token_response(&pair))
}
