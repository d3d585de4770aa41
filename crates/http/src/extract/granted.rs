//! Authentication and authorization of a request.

use crate::context::{self, State};
use crate::error::ApiError;
use crate::extract::client::Client;
use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use docent_app::accounts::{api_keys, authenticate, sessions};
use docent_app::error::{Error, Result};
use docent_app::scope;
use docent_domain::access::{Actor, Grant, Operation};
use docent_domain::connection::Resource;
use docent_domain::id::{SessionId, UserId};
use docent_domain::scope::Scope;
use futures::future::LocalBoxFuture;

/// An authenticated actor with the permission for operation `A`.
///
/// It is the first argument of a handler, and bodies are read after it, so that unauthorized clients do not learn about other errors of
/// their request.
pub struct Granted<A> {
    /// The actor.
    pub actor: Actor,
    /// The permission.
    pub grant: Grant<A>,
}

impl<A: Operation + 'static> FromRequest for Granted<A> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = caller(request, Accepts::ValidSessions);
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

/// An authenticated actor with the permission for operation `A` on documents, and those that it may use.
pub struct Scoped<A> {
    /// The actor.
    pub actor: Actor,
    /// The permission.
    pub grant: Grant<A>,
    /// The documents.
    pub scope: Scope,
}

impl<A: Operation + 'static> FromRequest for Scoped<A> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let granted = Granted::from_request(request, payload);
        let context = context::from_request(request);
        Box::pin(async move {
            let Granted { actor, grant } = granted.await?;
            let scope = scope::load(&context?.app, &actor).await?;
            Ok(Self { actor, grant, scope })
        })
    }
}

/// An authenticated actor with all assigned permissions, for operations whose permission depends on the owner of the record.
pub struct Bearer(pub Actor);

impl FromRequest for Bearer {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = caller(request, Accepts::ValidSessions);
        Box::pin(async move {
            let (context, actor) = caller.await?;
            Ok(Self(authenticate::with_permissions(&context.app, actor).await?))
        })
    }
}

/// An authenticated actor whose session may have ended, for a logout, which may be repeated.
pub struct EndedBearer(pub Actor);

impl FromRequest for EndedBearer {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let caller = caller(request, Accepts::EndedSessions);
        Box::pin(async move { Ok(Self(caller.await?.1)) })
    }
}

/// The browser session of a request that was sent by a script of the service's own pages. The middleware of the pages stores
/// it in the request; it is used if the request has no bearer credential.
#[derive(Clone, Copy, Debug)]
pub struct PageSession {
    /// The session that the cookie names.
    pub session: SessionId,
    /// The account that the page shows.
    pub user: UserId,
}

/// The sessions whose access tokens are accepted.
#[derive(Clone, Copy)]
enum Accepts {
    ValidSessions,
    EndedSessions,
}

/// Credentials of a request.
enum Credential {
    Bearer(String),
    Page(PageSession),
}

/// The resource that a path belongs to, which access tokens of applications must be for.
pub fn resource_of(path: &str) -> Resource {
    if path.trim_end_matches('/') == Resource::Mcp.path() { Resource::Mcp } else { Resource::Api }
}

/// Authenticates the request by access token or API key, or else by the session of a page.
fn caller(
    request: &HttpRequest,
    accepts: Accepts,
) -> impl Future<Output = Result<(State, Actor), ApiError>> + use<> {
    let page = || match accepts {
        Accepts::ValidSessions => request.extensions().get::<PageSession>().copied(),
        Accepts::EndedSessions => None,
    };
    let bearer = credential(request.headers()).map(|token| Credential::Bearer(token.to_owned()));
    let credential = bearer.or_else(|| page().map(Credential::Page));
    let context = context::from_request(request);
    let client = request.extensions().get::<Client>().copied();
    let resource = resource_of(request.path());
    async move {
        let (credential, context) = (credential.ok_or(Error::Unauthenticated)?, context?);
        let client = client.ok_or_else(ApiError::internal)?;
        let app = &context.app;
        let actor = match (credential, accepts) {
            (Credential::Page(page), _) => {
                sessions::authenticate_page(app, page.session, page.user, client.address).await?
            }
            (Credential::Bearer(token), Accepts::ValidSessions) => {
                authenticate::bearer(app, &token, resource).await?
            }
            (Credential::Bearer(token), Accepts::EndedSessions) => {
                authenticate::bearer_of_ended_session(app, &token).await?
            }
        };
        Ok((context, actor.with_client_ip(client.address)))
    }
}

/// Returns the bearer token in `Authorization`, or else `X-API-Key`. Other schemes in `Authorization` are ignored, since they can be
/// meant for a proxy.
fn credential(headers: &HeaderMap) -> Option<&str> {
    let key = || headers.get("x-api-key")?.to_str().ok().map(str::trim).filter(|key| api_keys::is_key(key));
    bearer(headers).or_else(key)
}

/// Returns the token of `Authorization: Bearer <token>`. The scheme is case-insensitive.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
