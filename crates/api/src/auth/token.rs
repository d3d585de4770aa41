//! `POST /auth/token`

use super::tokens::token_response;
use crate::openapi::answers;
use docent_app::accounts::{login, sessions::ClientInfo};
use docent_http::{
    context::State,
    error::Reply,
    extract::{
        client::{Client, UserAgent},
        json::Body,
    },
};
use utoipa::ToSchema;

/// Who logs in.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "email": "you@example.org", "password": "correct horse" }))]
pub(crate) struct Credentials {
    /// The account's address; its case does not matter.
    email: String,
    /// The account's password.
    password: String,
}

/// Log in
///
/// An unknown account, an inactive one and a wrong password get the same 401 after the same time. After
/// `login_max_failures` failures for one account from one address within `login_failure_period`, the answer is 429.
#[utoipa::path(
    post, path = "/auth/token", operation_id = "log_in", tag = "Accounts", security(()),
    request_body = Credentials,
    responses(
        (status = 200, description = "A new session.", body = super::tokens::TokenResponse<'_>),
        answers::WrongCredentials,
        answers::BodyRead,
        answers::StoreAway,
    ),
)]
pub(crate) async fn token(context: State, client: Client, agent: UserAgent, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let credentials = body.text("email").zip(body.text("password"));
    let (email, password) = body.done(credentials)?;
    let origin = ClientInfo { address: client.address, agent: agent.0 };
    let pair = login::login(&context.app, &email, password, &origin).await?;
    Ok(token_response(&pair))
}
