//! `POST /auth/logout`

use crate::{
    api::Reply,
    context::State,
    extract::{granted::Bearer, json::Body},
};
use actix_web::HttpResponse;
use docent_app::accounts::logout as use_case;

pub(crate) async fn logout(context: State, Bearer(actor): Bearer, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let token = body.text("refresh_token");
    let token = body.done(token)?;
    use_case::logout(&context.app, &actor, &token).await?;
    Ok(HttpResponse::NoContent().finish())
}
