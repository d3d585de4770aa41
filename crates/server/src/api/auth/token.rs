//! `POST /auth/token`

use super::token_response;
use crate::{
    api::Reply,
    context::State,
    extract::{client::Client, json::Body},
};
use docent_app::accounts::login;

pub(crate) async fn token(context: State, client: Client, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let credentials = body.text("email").zip(body.text("password"));
    let (email, password) = body.done(credentials)?;
    let pair = login::login(&context.app, &email, password, client.address).await?;
    Ok(token_response(&pair))
}
