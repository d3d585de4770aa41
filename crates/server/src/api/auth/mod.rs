//! Logging in, staying in, logging out.

pub(crate) mod email_verification;
pub(crate) mod logout;
pub(crate) mod password_reset;
pub(crate) mod refresh;
pub(crate) mod token;

use crate::{api::Reply, context::State, extract::client::Client};
use actix_web::HttpResponse;
use docent_app::accounts::{TokenPair, verification};
use docent_domain::verification::Purpose;
use serde_json::json;

fn token_response(pair: &TokenPair) -> HttpResponse {
    HttpResponse::Ok().json(json!({
        "access_token": pair.access,
        "token_type": "bearer",
        "refresh_token": pair.refresh,
    }))
}

/// 202 at once; what depends on the account comes after it, on the runtime that outlives this thread.
async fn send_letter(context: State, purpose: Purpose, email: &str, client: Client) -> Reply {
    let letter = verification::ask(&context.app, purpose, email, client.address).await?;
    context.app.answers.spawn_on(letter, &context.runtime);
    Ok(HttpResponse::Accepted().finish())
}
