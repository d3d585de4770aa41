//! The API that LibreChat expects of its RAG service, below `/librechat`. It exists if a shared secret is configured.
//!
//! LibreChat names its user in a token that it signs with the secret. Errors have the format of the other paths: LibreChat's own service
//! has a `detail` too.

pub(crate) mod context;
pub(crate) mod delete;
pub(crate) mod embed;
mod form;
pub(crate) mod get;
pub(crate) mod health;
mod passage;
pub(crate) mod query;
pub(crate) mod query_multiple;
pub(crate) mod text;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use docent_app::accounts::librechat;
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{Actor, Grant, Operation};
use docent_domain::scope::Scope;
use docent_http::extract::granted::bearer;
use docent_http::{ApiError, Client, State, context as request_context};
use futures::future::LocalBoxFuture;

/// The user of LibreChat that a request is for, with the documents that its account may use.
pub(crate) struct User {
    actor: Actor,
    scope: Scope,
}

impl User {
    fn authorize<A: Operation>(&self) -> Result<Grant<A>, ApiError> {
        Ok(self.actor.authorize().map_err(Error::from)?)
    }
}

impl FromRequest for User {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let context = request_context::from_request(request);
        let client = request.extensions().get::<Client>().copied();
        let token = bearer(request.headers()).map(str::to_owned);
        Box::pin(async move {
            let context = context?;
            ensure_connected(&context)?;
            let (client, token) =
                (client.ok_or_else(ApiError::internal)?, token.ok_or(Error::Unauthenticated)?);
            let actor = librechat::authenticate(&context.app, &token, client.address).await?;
            let scope = scope::load(&context.app, &actor).await?;
            Ok(Self { actor, scope })
        })
    }
}

/// Refuses a request if no secret is configured, as for an unknown path.
fn ensure_connected(context: &State) -> Result<(), ApiError> {
    if librechat::is_connected(&context.app) { Ok(()) } else { Err(not_found("Not found")) }
}

/// 404. LibreChat takes it for a file that was deleted before.
fn not_found(detail: &'static str) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, detail)
}
