//! Who is at the panel: a signed cookie that says who logged in and when.

use super::{ROOT, page::Broken};
use crate::{context, extract::client::Client, settings::SessionKey};
use actix_session::{
    Session, SessionExt, SessionMiddleware, config::CookieContentSecurity, storage::CookieSessionStore,
};
use actix_web::{
    Error, FromRequest, HttpMessage, HttpRequest,
    body::MessageBody,
    cookie::SameSite,
    dev::{Payload, ServiceRequest, ServiceResponse},
    http::header::{self, HeaderValue},
    middleware::Next,
};
use chrono::{DateTime, TimeDelta, Utc};
use docent_app::{App, accounts::authenticate};
use docent_domain::{
    access::{Actor, EnterAdmin, Grant},
    id::UserId,
};
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

const COOKIE: &str = "docent_admin";
const LOGIN: &str = "login";
const CSRF: &str = "csrf";
/// A session ends after this time without a request …
const IDLE: TimeDelta = TimeDelta::minutes(30);
/// … and after this time in any case.
const ABSOLUTE: TimeDelta = TimeDelta::hours(12);
/// How often the time of the last request is written down.
const TOUCH: TimeDelta = TimeDelta::minutes(1);

/// The cookie: signed, out of reach of scripts, and not sent along by forms of other sites.
pub(super) fn middleware(key: &SessionKey) -> SessionMiddleware<CookieSessionStore> {
    SessionMiddleware::builder(CookieSessionStore::default(), key.cookie_key())
        .cookie_name(COOKIE.to_owned())
        .cookie_path(ROOT.to_owned())
        .cookie_content_security(CookieContentSecurity::Signed)
        .cookie_http_only(true)
        .cookie_same_site(SameSite::Lax)
        // Set by `secure_cookie` where the client came over TLS.
        .cookie_secure(false)
        .build()
}

/// Marks cookies as `Secure` when the client came over TLS. Without TLS, as on one's own machine, a
/// browser would throw such a cookie away.
pub(super) async fn secure_cookie(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
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

#[derive(Serialize, Deserialize)]
struct Login {
    user: String,
    since: i64,
    seen: i64,
}

impl Login {
    fn is_over(&self, now: DateTime<Utc>) -> bool {
        let older = |at: i64, than: TimeDelta| {
            DateTime::from_timestamp(at, 0).is_none_or(|at| now < at || now - at > than)
        };
        older(self.seen, IDLE) || older(self.since, ABSOLUTE)
    }
}

/// Starts the session of somebody who has just proved who they are. What the browser had before is
/// void, the form token too.
pub(super) fn start(app: &App, session: &Session, user: UserId) -> Result<(), Broken> {
    let now = app.clock.now().timestamp();
    session.renew();
    session.clear();
    session.insert(LOGIN, Login { user: user.to_string(), since: now, seen: now })?;
    form_token(app, session)?;
    Ok(())
}

/// The token that forms of this session carry; forms of other sites do not know it.
pub(super) fn form_token(app: &App, session: &Session) -> Result<String, Broken> {
    if let Ok(Some(token)) = session.get::<String>(CSRF) {
        return Ok(token);
    }
    let mut random = [0; 32];
    app.entropy.fill(&mut random);
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    session.insert(CSRF, &token)?;
    Ok(token)
}

/// Whether a form carries its session's token.
pub(super) fn is_own_form(session: &Session, token: &str) -> bool {
    let Ok(Some(known)) = session.get::<String>(CSRF) else { return false };
    // Every byte is compared, so that the time tells nothing.
    known.len() == token.len() && known.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Somebody at the panel who may be there.
pub(super) struct Staff {
    pub(super) actor: Actor,
    pub(super) grant: Grant<EnterAdmin>,
    /// For the forms of the page.
    pub(super) form_token: String,
}

impl FromRequest for Staff {
    type Error = Broken;
    type Future = LocalBoxFuture<'static, Result<Self, Broken>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (session, context) = (request.get_session(), context::of(request));
        let page = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        Box::pin(async move {
            let context = context?;
            let now = context.app.clock.now();
            let login = session.get::<Login>(LOGIN).ok().flatten().filter(|login| !login.is_over(now));
            let Some((login, user)) =
                login.and_then(|login| login.user.parse().ok().map(|user| (login, user)))
            else {
                session.remove(LOGIN);
                return Err(Broken::LoggedOut { page });
            };
            let actor = match authenticate::by_user_id(&context.app, user).await {
                Ok(actor) => actor,
                Err(docent_app::Error::Unauthenticated) => {
                    session.purge();
                    return Err(Broken::LoggedOut { page });
                }
                Err(error) => return Err(Broken::from(error)),
            };
            let Ok(grant) = actor.may() else {
                session.purge();
                return Err(Broken::LoggedOut { page });
            };
            if now.timestamp() - login.seen >= TOUCH.num_seconds() {
                session.insert(LOGIN, Login { seen: now.timestamp(), ..login })?;
            }
            let form_token = form_token(&context.app, &session)?;
            Ok(Self { actor, grant, form_token })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_when_idle_and_in_any_case() {
        let at = |minutes: i64| DateTime::UNIX_EPOCH + TimeDelta::minutes(minutes);
        let login = |seen: i64| Login { user: String::new(), since: 0, seen: seen * 60 };
        assert!(!login(0).is_over(at(30)));
        assert!(login(0).is_over(at(31)));
        assert!(!login(719).is_over(at(720)));
        assert!(login(720).is_over(at(721)));
        assert!(login(10).is_over(at(9)), "a session of the future is not ours");
    }
}
