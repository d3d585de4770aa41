//! `POST /auth/token`

use super::tokens::{TokenResponse, token_response};
use crate::answers;
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
    /// Code of the authenticator app, or a recovery code, for an account with a second factor.
    #[deserr(default)]
    code: Option<String>,
}

/// Log in
///
/// An unknown account, an inactive account and a wrong password return the same 401 after the same time. After
/// `login_max_failures` failed attempts for one account from one network within `login_failure_period`, the response is 429; so it is
/// sooner after many failures from other networks, or for other accounts.
///
/// For an account with a second factor and a correct password, a request without `code` returns 401 with the code `code_required`,
/// and one with a wrong or used code 401 with `invalid_code`. An account that must have a second factor and has none gets 403 with
/// `second_factor_required`.
#[utoipa::path(
    post, path = "/auth/token", operation_id = "log_in", tag = "Accounts", security(()),
    request_body = Credentials,
    responses(
        (status = 200, description = "A new session.", body = TokenResponse<'_>),
        answers::WrongCredentials, answers::InvalidBody,
    ),
)]
pub(crate) async fn token(context: State, client: Client, agent: UserAgent, body: Body) -> Reply {
    let Credentials { email, password, code } = body.small().read().await?;
    let origin = ClientInfo::new(client.address, agent.0);
    let pair = login::login(&context.app, &email, password, code.as_deref(), &origin).await?;
    Ok(token_response(&pair))
}
