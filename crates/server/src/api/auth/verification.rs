//! `POST /auth/password-reset` and `POST /auth/email-verification`, which ask for a letter, and what its link leads to:
//! the `/confirm` of both.

use crate::{
    api::Reply,
    context::State,
    extract::{client::Client, json::Body},
};
use actix_web::HttpResponse;
use docent_app::accounts::verification;
use docent_domain::{user::Password, verification::Purpose};

pub(crate) async fn ask_for_reset(context: State, client: Client, body: Body) -> Reply {
    ask(context, Purpose::ResetPassword, client, body).await
}

pub(crate) async fn ask_for_verification(context: State, client: Client, body: Body) -> Reply {
    ask(context, Purpose::VerifyEmail, client, body).await
}

/// 202 at once; what depends on the account comes after it, on the runtime that outlives this thread.
async fn ask(context: State, purpose: Purpose, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let email = body.text("email");
    let email = body.done(email)?;
    let letter = verification::ask(&context.app, purpose, &email, client.address).await?;
    context.app.answers.spawn_on(letter, &context.runtime);
    Ok(HttpResponse::Accepted().finish())
}

pub(crate) async fn reset_password(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("token");
    let password = body.text("password");
    let password = body.parse("password", password, |text| Password::chosen(text.to_owned()));
    let (token, password) = body.done(token.zip(password))?;
    verification::reset_password(&context.app, &token, password, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}

pub(crate) async fn verify_email(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("token");
    let token = body.done(token)?;
    verification::verify_email(&context.app, &token, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}
