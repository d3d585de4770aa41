//! `POST /auth/email-verification`, `POST /auth/email-verification/confirm`

use super::send_letter;
use crate::{
    api::Reply,
    context::State,
    extract::{client::Client, json::Body},
};
use actix_web::HttpResponse;
use docent_app::accounts::verification;
use docent_domain::verification::Purpose;

pub(crate) async fn ask(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let email = body.text("email");
    let email = body.done(email)?;
    send_letter(context, Purpose::VerifyEmail, &email, client).await
}

pub(crate) async fn confirm(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("token");
    let token = body.done(token)?;
    verification::verify_email(&context.app, &token, client.address).await?;
    Ok(HttpResponse::NoContent().finish())
}
