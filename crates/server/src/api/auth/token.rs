//! `POST /auth/token`

use super::token_response;
use crate::{
    api::Reply,
    context::State,
    extract::{
        client::{Client, UserAgent},
        json::Body,
    },
};
use docent_app::accounts::{login, sessions::Origin};

pub(crate) async fn token(context: State, client: Client, agent: UserAgent, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let credentials = body.text("email").zip(body.text("password"));
    let (email, password) = body.done(credentials)?;
    let origin = Origin { address: client.address, agent: agent.0 };
    let pair = login::login(&context.app, &email, password, &origin).await?;
    Ok(token_response(&pair))
}
