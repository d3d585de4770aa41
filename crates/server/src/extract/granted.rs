//! The right to do something, from a bearer token.

use crate::{context, error::Refusal};
use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
};
use docent_app::{
    accounts::authenticate,
    error::{Error, Result},
};
use docent_domain::access::{Act, Actor, Grant};
use futures::future::LocalBoxFuture;

/// Somebody who has proved who they are, and their right to do `A`.
///
/// It comes first among a handler's arguments, and bodies are read after it: whoever may not do
/// something is not told what else is wrong with their request.
pub(crate) struct Granted<A> {
    pub(crate) actor: Actor,
    pub(crate) grant: Grant<A>,
}

impl<A: Act + 'static> FromRequest for Granted<A> {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let actor = Bearer::from_request(request, payload);
        Box::pin(async move {
            let Bearer(actor) = actor.await?;
            let grant = actor.may().map_err(Error::from)?;
            Ok(Self { actor, grant })
        })
    }
}

/// The holder of the request's access token.
pub(crate) struct Bearer(pub(crate) Actor);

impl FromRequest for Bearer {
    type Error = Refusal;
    type Future = LocalBoxFuture<'static, Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let token = bearer(request.headers()).map(str::to_owned);
        let context = context::of(request);
        Box::pin(async move {
            let token = token.ok_or(Error::Unauthenticated)?;
            Ok(Self(authenticate::by_access_token(&context?.app, &token).await?))
        })
    }
}

/// The token of `Authorization: Bearer <token>`; the scheme's case does not matter.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
