//! `POST /auth/password-reset` and `POST /auth/email-verification`, which send a link by email, and the `/confirm` of both.

use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::accounts::verification;
use docent_domain::error::ValidationError;
use docent_domain::user::Password;
use docent_domain::verification::VerificationPurpose;
use docent_http::{Body, BodyErrors, Client, Reply, State};
use utoipa::ToSchema;

/// Email address of an account.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "email": "you@example.org" }))]
pub(crate) struct LinkRequest {
    /// Email address of the account.
    #[schema(format = "email", max_length = 320)]
    email: String,
}

/// A new password.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "token": "from-the-link", "password": "correct horse" }))]
pub(crate) struct NewPassword {
    /// Value of `token` in the link.
    token: String,
    /// At least 8 characters, and at most 1,024 bytes in UTF-8.
    #[deserr(try_from(String) = Password::parse_new -> ValidationError)]
    #[schema(value_type = String, min_length = 8, max_length = 1024)]
    password: Password,
}

/// Token of a link.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "token": "from-the-link" }))]
pub(crate) struct LinkToken {
    /// Value of `token` in the link.
    token: String,
}

/// Request a password reset (extension)
///
/// If an active account has this address, a link is sent to it. It can be used once, within an hour. The response and
/// its time are the same for every address.
#[utoipa::path(
    post, path = "/auth/password-reset", operation_id = "ask_for_password_reset", tag = "Accounts", security(()),
    request_body = LinkRequest,
    responses((status = 202, description = "The email is sent if the account exists."), answers::InvalidBody),
)]
pub(crate) async fn request_reset(context: State, client: Client, body: Body) -> Reply {
    send_link(context, VerificationPurpose::ResetPassword, client, body).await
}

/// Request an email verification (extension)
///
/// Works like a password reset. The link expires after three days. No email is sent to a verified address.
#[utoipa::path(
    post, path = "/auth/email-verification", operation_id = "ask_for_email_verification", tag = "Accounts",
    security(()),
    request_body = LinkRequest,
    responses((status = 202, description = "The email is sent if the account exists."), answers::InvalidBody),
)]
pub(crate) async fn request_verification(context: State, client: Client, body: Body) -> Reply {
    send_link(context, VerificationPurpose::VerifyEmail, client, body).await
}

/// Responds before anything that depends on the account is done. The email is sent on the runtime that outlives the request.
async fn send_link(context: State, purpose: VerificationPurpose, client: Client, body: Body) -> Reply {
    let LinkRequest { email } = body.small().read().await?;
    let sending = verification::request(&context.app, purpose, &email, client.address).await?;
    context.app.spawn(sending);
    Ok(HttpResponse::Accepted().finish())
}

/// Reset a password (extension)
///
/// Ends all sessions of the account. If the new password is invalid, the link remains usable.
#[utoipa::path(
    post, path = "/auth/password-reset/confirm", operation_id = "reset_password", tag = "Accounts", security(()),
    request_body = NewPassword,
    responses((status = 204, description = "The password is changed."), answers::InvalidBody, answers::InvalidLink),
)]
pub(crate) async fn reset_password(context: State, client: Client, body: Body) -> Reply {
    let NewPassword { token, password } = body.small().read().await?;
    verification::reset_password(&context.app, &token, password, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Verify an email address (extension)
#[utoipa::path(
    post, path = "/auth/email-verification/confirm", operation_id = "verify_email", tag = "Accounts", security(()),
    request_body = LinkToken,
    responses((status = 204, description = "The address is verified."), answers::InvalidBody, answers::InvalidLink),
)]
pub(crate) async fn verify_email(context: State, client: Client, body: Body) -> Reply {
    let LinkToken { token } = body.small().read().await?;
    verification::verify_email(&context.app, &token, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}
