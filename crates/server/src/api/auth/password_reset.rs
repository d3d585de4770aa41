//! `POST /auth/password-reset`, `POST /auth/password-reset/confirm`

use super::send_letter;
use crate::{
    api::Reply,
    context::State,
    extract::{client::Client, json::Body},
};
use actix_web::HttpResponse;
use docent_app::accounts::verification;
use docent_domain::{user::Password, verification::Purpose};

pub(crate) async fn ask(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let email = body.text("email");
    let email = body.done(email)?;
    send_letter(context, Purpose::ResetPassword, &email, client).await
}

pub(crate) async fn confirm(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("token");
    let password = body.text("password");
    let password = body.parse("password", password, |text| Password::chosen(text.to_owned()));
    let (token, password) = body.done(token.zip(password))?;
    verification::reset_password(&context.app, &token, password, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}
