//! The right to do something, from a bearer token.

use crate::{
    context::{self, State},
    error::ApiError,
    extract::client::Client,
};
use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
};
use docent_app::{
    accounts::{api_keys, authenticate},
    error::{Error, Result},
};
use docent_domain::access::{Actor, Grant, Operation};
use futures::future::LocalBoxFuture;

/// Somebody who has proved who they are, and their right to do `A`.
///
/// It comes first among a handler's arguments, and bodies are read after it: whoever may not do
/// something is not told what else is wrong with their request.
pub struct Granted<A> {
    /// Who it is.
    pub actor: Actor,
    /// Their right.
    pub grant: Grant<A>,
}

impl<A: Operation + 'static> FromRequest for Granted<A> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = caller(request);
        Box::pin(async move {
            let (context, mut actor) = caller.await?;
            if authenticate::requires_permission::<A>() {
                actor = authenticate::with_permissions(&context.app, actor).await?;
            }
            let grant = actor.authorize().map_err(Error::from)?;
            Ok(Self { actor, grant })
        })
    }
}

/// Who sends the request, with all that they are allowed: for what depends on whose the record is.
pub struct Bearer(pub Actor);

impl FromRequest for Bearer {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = caller(request);
        Box::pin(async move {
            let (context, actor) = caller.await?;
            Ok(Self(authenticate::with_permissions(&context.app, actor).await?))
        })
    }
}

/// Who sends the request, by an access token or an API key.
fn caller(request: &HttpRequest) -> impl Future<Output = Result<(State, Actor), ApiError>> + use<> {
    let credential = credential(request.headers()).map(str::to_owned);
    let context = context::of(request);
    let client = request.extensions().get::<Client>().copied();
    async move {
        let (credential, context) = (credential.ok_or(Error::Unauthenticated)?, context?);
        let actor = authenticate::bearer(&context.app, &credential).await?;
        let actor = match client {
            Some(client) => actor.with_client_ip(client.address),
            None => actor,
        };
        Ok((context, actor))
    }
}

/// What the request proves its sender with: the bearer token in `Authorization`, or else `X-API-Key`. Another scheme
/// in `Authorization` is for somebody on the way, such as a proxy that asks for a password.
fn credential(headers: &HeaderMap) -> Option<&str> {
    let key = || headers.get("x-api-key")?.to_str().ok().map(str::trim).filter(|key| api_keys::is_key(key));
    bearer(headers).or_else(key)
}

/// The token of `Authorization: Bearer <token>`; the scheme's case does not matter.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
