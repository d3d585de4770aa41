//! Sessions of the panel: a signed cookie contains the ID of a stored session.

use super::nav::ROOT;
use super::page::PageError;
use actix_session::config::CookieContentSecurity;
use actix_session::storage::CookieSessionStore;
use actix_session::{Session, SessionExt, SessionMiddleware};
use actix_web::body::MessageBody;
use actix_web::cookie::{Key, SameSite};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use docent_app::App;
use docent_app::accounts::sessions::{self, ClientInfo};
use docent_app::error::Error;
use docent_domain::access::{Actor, Grant, Operation, UseAdminPanel};
use docent_domain::id::SessionId;
use docent_domain::text::Email;
use docent_http::settings::SessionKey;
use docent_http::{ApiError, Client, UserAgent, context};
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

const COOKIE: &str = "docent_admin";
const SESSION: &str = "session";
const CSRF: &str = "csrf";
const FLASH: &str = "flash";

/// Cookie settings: signed, `HttpOnly` and `SameSite=Lax`.
pub(super) fn middleware(key: &SessionKey) -> SessionMiddleware<CookieSessionStore> {
    SessionMiddleware::builder(CookieSessionStore::default(), Key::derive_from(key.bytes()))
        .cookie_name(COOKIE.to_owned())
        .cookie_path(ROOT.to_owned())
        .cookie_content_security(CookieContentSecurity::Signed)
        .cookie_http_only(true)
        .cookie_same_site(SameSite::Lax)
        // Set by `secure_cookie` if the client used TLS.
        .cookie_secure(false)
        .build()
}

/// Marks cookies as `Secure` if the client used TLS. Without TLS, as on a local machine, a
/// browser would discard such a cookie.
pub(super) async fn secure_cookie(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let is_secure = request.extensions().get::<Client>().is_some_and(|client| client.is_secure);
    let mut response = next.call(request).await?;
    if is_secure {
        let cookies: Vec<_> = response.headers_mut().remove(header::SET_COOKIE).collect();
        for cookie in cookies {
            let marked = HeaderValue::from_bytes(&[cookie.as_bytes(), b"; Secure"].concat())?;
            response.headers_mut().append(header::SET_COOKIE, marked);
        }
    }
    Ok(response)
}

/// Starts the session of an authenticated user. The previous session of the browser, with
/// its form token, becomes invalid.
pub(super) fn start(app: &App, session: &Session, id: SessionId) -> Result<(), PageError> {
    session.renew();
    session.clear();
    session.insert(SESSION, id.to_string())?;
    form_token(app, session)?;
    Ok(())
}

/// CSRF token of this session.
pub(super) fn form_token(app: &App, session: &Session) -> Result<String, PageError> {
    if let Ok(Some(token)) = session.get::<String>(CSRF) {
        return Ok(token);
    }
    let random: [u8; 32] = app.random();
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    session.insert(CSRF, &token)?;
    Ok(token)
}

/// Whether a form contains the token of its session.
pub(super) fn is_own_form(session: &Session, token: &str) -> bool {
    let Ok(Some(known)) = session.get::<String>(CSRF) else { return false };
    // Constant-time comparison.
    known.len() == token.len() && known.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Authenticated staff member.
pub(super) struct Staff {
    pub(super) actor: Actor,
    /// Email address.
    pub(super) email: Email,
    /// Current session.
    pub(super) session: SessionId,
    /// CSRF token for the forms of the page.
    pub(super) form_token: String,
    cookie: Session,
}

/// Message shown once on the next page.
#[derive(Serialize, Deserialize)]
pub(super) struct Flash {
    /// `done` or `error`.
    kind: String,
    text: String,
}

impl Staff {
    /// Whether the operation `A` is allowed.
    pub(super) fn can<A: Operation>(&self) -> bool {
        self.actor.authorize::<A>().is_ok()
    }

    /// Authorizes the operation `A`.
    pub(super) fn authorize<A: Operation>(&self) -> Result<Grant<A>, PageError> {
        self.actor.authorize().map_err(|refused| PageError::from(Error::from(refused)))
    }

    /// Message of the previous action, which is shown once.
    pub(super) fn take_flash(&self) -> Option<Flash> {
        self.cookie.remove_as(FLASH).and_then(Result::ok)
    }

    /// Starts a new session after all sessions of the user were ended.
    pub(super) async fn restart_session(
        &self,
        app: &App,
        cookie: &Session,
        client: Client,
        agent: UserAgent,
    ) -> Result<(), PageError> {
        let origin = ClientInfo { address: client.address, agent: agent.0 };
        start(app, cookie, sessions::replace_panel_session(app, &self.actor, &origin).await?)
    }

    /// Shows a success message on the next page.
    pub(super) fn notify(&self, text: impl Into<String>) -> Result<(), PageError> {
        Ok(self.cookie.insert(FLASH, Flash { kind: "done".to_owned(), text: text.into() })?)
    }

    /// Shows an error message on the next page.
    pub(super) fn warn(&self, text: impl Into<String>) -> Result<(), PageError> {
        Ok(self.cookie.insert(FLASH, Flash { kind: "error".to_owned(), text: text.into() })?)
    }
}

impl FromRequest for Staff {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (cookie, context) = (request.get_session(), context::of(request));
        let client = request.extensions().get::<Client>().copied();
        let page = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        Box::pin(async move {
            let (context, client) = (context?, client.ok_or_else(ApiError::internal)?);
            let id = cookie.get::<String>(SESSION).ok().flatten().and_then(|id| id.parse().ok());
            let Some(id) = id else { return Err(PageError::LoggedOut { page }) };
            let (actor, user) = match sessions::authenticate_panel(&context.app, id, client.address).await {
                Ok(known) => known,
                Err(Error::Unauthenticated) => {
                    cookie.purge();
                    return Err(PageError::LoggedOut { page });
                }
                Err(error) => return Err(PageError::from(error)),
            };
            if actor.authorize::<UseAdminPanel>().is_err() {
                cookie.purge();
                return Err(PageError::LoggedOut { page });
            }
            let form_token = form_token(&context.app, &cookie)?;
            Ok(Self { actor, email: user.email, session: id, form_token, cookie })
        })
    }
}

#[cfg(test)]
impl Flash {
    pub(super) fn sample() -> Self {
        Self { kind: "done".to_owned(), text: "The account was saved.".to_owned() }
    }
}
