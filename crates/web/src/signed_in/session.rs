//! Sessions of browsers: a signed cookie contains the ID of a stored session.

use super::page::{PageError, requested_page, see_other};
use super::proof;
use super::single_sign_on::attempts;
use crate::language::request::prefer;
use crate::language::t;
use crate::session_cookie::{self, ATTEMPTS, SESSION};
use actix_session::{Session, SessionExt, SessionInsertError};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest, HttpResponse};
use chrono::{DateTime, TimeDelta, Utc};
use docent_app::App;
use docent_app::accounts::sessions::{self, BrowserSession, ClientInfo};
use docent_app::accounts::single_sign_on::provider_sign_in::ProviderSignIn;
use docent_app::error::Error;
use docent_domain::access::{Actor, ConnectIdentity, Grant, Operation, UseAdminPanel};
use docent_domain::id::{SessionId, UserId};
use docent_domain::text::{Email, PersonName};
use docent_http::{ApiError, Client, UserAgent, context};
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

const CSRF: &str = "csrf";
const FLASH: &str = "flash";
const PENDING: &str = "pending";

/// Starts the session of an authenticated user. The previous session of the browser, with
/// its form token, becomes invalid. Sign-ins that other tabs have begun continue.
pub(crate) async fn start(
    app: &App,
    session: &Session,
    id: SessionId,
    browser: &ClientInfo,
) -> Result<(), ApiError> {
    if let Some(earlier) = session_cookie::id_of(session) {
        sessions::end_replaced(app, earlier, browser.address).await?;
    }
    let attempts = attempts::sign_ins(session);
    session.renew();
    session.clear();
    if !attempts.is_empty() {
        session.insert(ATTEMPTS, attempts).map_err(|error| unwritable(&error))?;
    }
    if browser.stays_signed_in {
        session_cookie::outlast_the_browser(session).map_err(|error| unwritable(&error))?;
    }
    session.insert(SESSION, id.to_string()).map_err(|error| unwritable(&error))?;
    form_token(app, session)?;
    Ok(())
}

/// A login whose password was correct, or whose identity provider was asked, and that waits for a code of the second factor.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingLogin {
    user: String,
    checked_at: i64,
    proof_at: i64,
    /// Whether the person wants to stay signed in.
    #[serde(default)]
    stays_signed_in: bool,
    /// The sign-in at an identity provider, if there was one.
    #[serde(default)]
    provider: Option<PendingProvider>,
}

/// The sign-in at an identity provider, without its signed token: that would not fit into a cookie.
#[derive(Serialize, Deserialize)]
struct PendingProvider {
    provider: String,
    issuer: String,
    subject: String,
    session: Option<String>,
}

/// What the code completes.
pub(super) struct PendingCode {
    pub(super) user: UserId,
    /// Time of issue of the proof of identity.
    pub(super) proof_at: DateTime<Utc>,
    pub(super) sign_in: Option<ProviderSignIn>,
    /// Whether the person wants to stay signed in.
    pub(super) stays_signed_in: bool,
}

/// How long a login waits for a code.
const PENDING_MAX: TimeDelta = TimeDelta::minutes(10);

impl PendingLogin {
    /// Remembers in the browser that the first step of the login of `user` succeeded.
    pub(crate) fn begin(
        app: &App,
        session: &Session,
        (user, proof_at): (UserId, DateTime<Utc>),
        sign_in: Option<&ProviderSignIn>,
        browser: &ClientInfo,
    ) -> Result<(), PageError> {
        let (checked_at, proof_at) = (app.now().timestamp_micros(), proof_at.timestamp_micros());
        let provider = sign_in.map(|sign_in| PendingProvider {
            provider: sign_in.provider.clone(),
            issuer: sign_in.issuer.clone(),
            subject: sign_in.subject.clone(),
            session: sign_in.session.clone(),
        });
        let (user, stays_signed_in) = (user.to_string(), browser.stays_signed_in);
        let pending = Self { user, checked_at, proof_at, stays_signed_in, provider };
        Ok(session.insert(PENDING, pending)?)
    }

    /// What the code completes, unless it was begun too long ago.
    pub(super) fn of(app: &App, session: &Session) -> Option<PendingCode> {
        let pending = session.get::<Self>(PENDING).ok().flatten()?;
        let checked_at = DateTime::from_timestamp_micros(pending.checked_at)?;
        let user = pending.user.parse().ok()?;
        let proof_at = DateTime::from_timestamp_micros(pending.proof_at)?;
        let stays_signed_in = pending.stays_signed_in;
        let sign_in = pending.provider.map(|known| ProviderSignIn {
            provider: known.provider,
            issuer: known.issuer,
            subject: known.subject,
            session: known.session,
            has_second_factor: false,
            authenticated_at: None,
            id_token: None,
        });
        (app.now() - checked_at < PENDING_MAX).then_some(PendingCode {
            user,
            proof_at,
            sign_in,
            stays_signed_in,
        })
    }
}

/// CSRF token of this session.
pub(crate) fn form_token(app: &App, session: &Session) -> Result<String, ApiError> {
    if let Ok(Some(token)) = session.get::<String>(CSRF) {
        return Ok(token);
    }
    let random: [u8; 32] = app.random();
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    session.insert(CSRF, &token).map_err(|error| unwritable(&error))?;
    Ok(token)
}

/// Error for a session that cannot be serialized.
fn unwritable(error: &SessionInsertError) -> ApiError {
    tracing::error!(%error, "a session could not be written");
    ApiError::internal()
}

impl From<SessionInsertError> for PageError {
    fn from(error: SessionInsertError) -> Self {
        Self::Failed(unwritable(&error))
    }
}

/// Whether a form contains the token of its session.
pub(crate) fn is_own_form(session: &Session, token: &str) -> bool {
    let Ok(Some(known)) = session.get::<String>(CSRF) else { return false };
    // Constant-time comparison.
    known.len() == token.len() && known.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Authenticated account.
pub(crate) struct SignedIn {
    pub(crate) actor: Actor,
    /// Email address.
    pub(crate) email: Email,
    /// Name that others see, if the person chose one.
    pub(crate) name: Option<PersonName>,
    /// Whether the account has a password.
    pub(crate) has_password: bool,
    /// Current session.
    pub(crate) session: SessionId,
    /// Time of the last proof of identity.
    verified_at: DateTime<Utc>,
    /// Whether the panel needs a new proof of identity.
    is_panel_locked: bool,
    /// CSRF token for the forms of the page.
    pub(crate) form_token: String,
    cookie: Session,
}

/// Message shown once on the next page.
#[derive(Serialize, Deserialize)]
pub(crate) struct Flash {
    /// `done` or `error`.
    kind: String,
    text: String,
    /// Path of a file that the page downloads.
    #[serde(default)]
    download: Option<String>,
}

impl Flash {
    fn of(kind: &str, text: String) -> Self {
        Self { kind: kind.to_owned(), text, download: None }
    }
}

/// Opens the requested page after a sign-in or a proof of identity. A download starts on its page: the browser would stay on
/// the form, which looks as if nothing had happened.
pub(crate) fn open(cookie: &Session, page: &str) -> Result<HttpResponse, PageError> {
    let Some(list) = proof::page_of_download(page) else { return Ok(see_other(page)) };
    let flash = Flash { download: Some(page.to_owned()), ..Flash::of("done", t!("download-starts")) };
    cookie.insert(FLASH, flash)?;
    Ok(see_other(&list))
}

impl SignedIn {
    /// Whether the operation `A` is allowed, if necessary after a proof of identity.
    pub(crate) fn can<A: Operation>(&self) -> bool {
        self.actor.can::<A>()
    }

    /// Authorizes the operation `A`.
    pub(crate) fn authorize<A: Operation>(&self) -> Result<Grant<A>, PageError> {
        self.actor.authorize().map_err(|refused| PageError::from(Error::from(refused)))
    }

    /// Authorizes the operation `A` on a record of the account.
    pub(crate) fn authorize_own<A: Operation>(&self) -> Result<Grant<A>, PageError> {
        let own = Some(self.actor.user());
        self.actor.authorize_for(own).map_err(|refused| PageError::from(Error::from(refused)))
    }

    /// Checks the proof of identity for the operation `A`, which a role on a record allows.
    pub(crate) fn ensure_proof<A: Operation>(&self) -> Result<(), PageError> {
        self.actor.ensure_proof::<A>().map_err(|refused| PageError::from(Error::from(refused)))
    }

    /// Checks that an account without a password has proven its identity, before a form that others confirm with theirs.
    pub(crate) fn ensure_proof_without_password(&self) -> Result<(), PageError> {
        if self.has_password { Ok(()) } else { self.ensure_proof::<ConnectIdentity>() }
    }

    /// Message of the previous action, which is shown once.
    pub(crate) fn take_flash(&self) -> Option<Flash> {
        self.cookie.remove_as(FLASH).and_then(Result::ok)
    }

    /// Opens the requested page after a proof of identity.
    pub(crate) fn open(&self, page: &str) -> Result<HttpResponse, PageError> {
        open(&self.cookie, page)
    }

    /// Starts a new session after all sessions of the user were ended.
    pub(crate) async fn restart_session(
        &self,
        app: &App,
        cookie: &Session,
        client: Client,
        agent: UserAgent,
    ) -> Result<(), PageError> {
        let stays_signed_in = session_cookie::outlasts_the_browser(cookie);
        let origin = ClientInfo { stays_signed_in, ..ClientInfo::new(client.address, agent.0) };
        let id = sessions::replace_browser_session(app, &self.actor, self.session, self.verified_at, &origin)
            .await?;
        Ok(start(app, cookie, id, &origin).await?)
    }

    /// Shows a success message on the next page.
    pub(crate) fn notify(&self, text: impl Into<String>) -> Result<(), PageError> {
        Ok(self.cookie.insert(FLASH, Flash::of("done", text.into()))?)
    }

    /// Shows an error message on the next page.
    pub(crate) fn warn(&self, text: impl Into<String>) -> Result<(), PageError> {
        Ok(self.cookie.insert(FLASH, Flash::of("error", text.into()))?)
    }
}

impl FromRequest for SignedIn {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (cookie, context) = (request.get_session(), context::from_request(request));
        let client = request.extensions().get::<Client>().copied();
        let page = requested_page(request);
        let needs_second_factor = !is_open_without_second_factor(request.path());
        Box::pin(async move {
            let (context, client) = (context?, client.ok_or_else(ApiError::internal)?);
            let Some(id) = session_cookie::id_of(&cookie) else { return Err(PageError::LoggedOut { page }) };
            let known = match sessions::authenticate_browser(&context.app, id, client.address).await {
                Ok(known) => known,
                Err(Error::Unauthenticated) => {
                    cookie.purge();
                    return Err(PageError::LoggedOut { page });
                }
                Err(error) => return Err(PageError::from(error)),
            };
            let BrowserSession { actor, user, verified_at, lacks_second_factor, is_panel_locked } = known;
            prefer(user.language.as_ref());
            if needs_second_factor && lacks_second_factor {
                return Err(PageError::NoSecondFactor);
            }
            let form_token = form_token(&context.app, &cookie)?;
            Ok(Self {
                actor,
                has_password: user.password.is_usable(),
                email: user.email,
                name: user.name,
                session: id,
                verified_at,
                is_panel_locked,
                form_token,
                cookie,
            })
        })
    }
}

/// Authenticated staff member.
pub(crate) struct Staff(SignedIn);

impl Deref for Staff {
    type Target = SignedIn;

    fn deref(&self) -> &SignedIn {
        &self.0
    }
}

impl FromRequest for Staff {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (signed_in, page) = (SignedIn::from_request(request, payload), requested_page(request));
        Box::pin(async move {
            let signed_in = signed_in.await?;
            // The session stays valid for the account pages.
            match signed_in.can::<UseAdminPanel>() {
                true if signed_in.is_panel_locked => Err(PageError::Unproven),
                true => Ok(Self(signed_in)),
                false => Err(PageError::LoggedOut { page }),
            }
        })
    }
}

/// Whether an account that must have a second factor can open this page to set it up.
fn is_open_without_second_factor(path: &str) -> bool {
    // Without a password, the proof for it is a new sign-in at the provider.
    let pages =
        ["/account/second-factor", "/account/confirm", "/account/logout", "/admin/logout", "/auth/oidc/"];
    pages.iter().any(|page| path.starts_with(page))
}

#[cfg(test)]
impl Flash {
    pub(crate) fn sample() -> Self {
        Self::of("done", "The account was saved.".to_owned())
    }
    pub(crate) fn sample_download() -> Self {
        Self { download: Some("/admin/usage.csv?by=day".to_owned()), ..Self::sample() }
    }
}
