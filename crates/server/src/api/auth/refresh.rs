//! `POST /auth/refresh`

use super::token_response;
use crate::{api::Reply, context::State, extract::json::Body};
use docent_app::accounts::refresh as use_case;

pub(crate) async fn refresh(context: State, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("refresh_token");
    let token = body.done(token)?;
    Ok(token_response(&use_case::refresh(&context.app, &token).await?))
}
