//! `POST /auth/password-reset` and `POST /auth/email-verification`, which ask for a letter, and what its link leads to:
//! the `/confirm` of both.

use crate::openapi::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::accounts::verification;
use docent_domain::{error::ValidationError, user::Password, verification::VerificationPurpose};
use docent_http::{
    context::State,
    error::Reply,
    extract::{client::Client, deserialize::BodyErrors, json::Body},
};
use utoipa::ToSchema;

/// An account's address.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "email": "you@example.org" }))]
pub(crate) struct LinkRequest {
    /// Where the letter is to go, if there is such an account.
    #[schema(format = "email", max_length = 320)]
    email: String,
}

/// A new password.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "token": "from-the-link", "password": "correct horse" }))]
pub(crate) struct NewPassword {
    /// What stands behind `?token=` in the link.
    token: String,
    /// At least 8 characters, and at most 1,024 bytes in UTF-8.
    #[deserr(try_from(String) = Password::parse_new -> ValidationError)]
    #[schema(value_type = String, min_length = 8, max_length = 1024)]
    password: Password,
}

/// The secret of a link.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "token": "from-the-link" }))]
pub(crate) struct LinkToken {
    /// What stands behind `?token=` in the link.
    token: String,
}

/// Ask for a link to choose a new password (extension)
///
/// If there is an active account with this address, a link is sent to it, good once and for `password_reset_ttl`. The answer,
/// and the time that it takes, is the same for every address.
#[utoipa::path(
    post, path = "/auth/password-reset", operation_id = "ask_for_password_reset", tag = "Accounts", security(()),
    request_body = LinkRequest,
    responses(
        (status = 202, description = "The letter is sent, if there is anybody to send it to."),
        answers::BodyRead,
        answers::StoreAway,
    ),
)]
pub(crate) async fn ask_for_reset(context: State, client: Client, body: Body) -> Reply {
    ask(context, VerificationPurpose::ResetPassword, client, body).await
}

/// Ask for a link to confirm an address (extension)
///
/// As for a new password. The link is good for `email_verification_ttl`; an address that was confirmed gets no letter.
#[utoipa::path(
    post, path = "/auth/email-verification", operation_id = "ask_for_email_verification", tag = "Accounts",
    security(()),
    request_body = LinkRequest,
    responses(
        (status = 202, description = "The letter is sent, if there is anybody to send it to."),
        answers::BodyRead,
        answers::StoreAway,
    ),
)]
pub(crate) async fn ask_for_verification(context: State, client: Client, body: Body) -> Reply {
    ask(context, VerificationPurpose::VerifyEmail, client, body).await
}

/// 202 at once; what depends on the account comes after it, on the runtime that outlives this thread.
async fn ask(context: State, purpose: VerificationPurpose, client: Client, body: Body) -> Reply {
    let LinkRequest { email } = body.read().await?;
    let sending = verification::request(&context.app, purpose, &email, client.address).await?;
    context.app.spawn_on(&context.runtime, sending);
    Ok(HttpResponse::Accepted().finish())
}

/// Choose a new password by a link (extension)
///
/// All of the account's sessions end. The link stays good when the password is refused.
#[utoipa::path(
    post, path = "/auth/password-reset/confirm", operation_id = "reset_password", tag = "Accounts", security(()),
    request_body = NewPassword,
    responses(
        (status = 204, description = "The password counts from now on."),
        answers::BodyRead,
        answers::LinkRefused,
        answers::StoreAway,
    ),
)]
pub(crate) async fn reset_password(context: State, client: Client, body: Body) -> Reply {
    let NewPassword { token, password } = body.read().await?;
    verification::reset_password(&context.app, &token, password, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Confirm an address by a link (extension)
#[utoipa::path(
    post, path = "/auth/email-verification/confirm", operation_id = "verify_email", tag = "Accounts", security(()),
    request_body = LinkToken,
    responses(
        (status = 204, description = "The address is confirmed."),
        answers::BodyRead,
        answers::LinkRefused,
        answers::StoreAway,
    ),
)]
pub(crate) async fn verify_email(context: State, client: Client, body: Body) -> Reply {
    let LinkToken { token } = body.read().await?;
    verification::verify_email(&context.app, &token, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}
