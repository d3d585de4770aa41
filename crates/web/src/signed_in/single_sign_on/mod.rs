//! `/auth/oidc/{provider}`: sign-in at identity providers.
//!
//! A sign-in begins with a link: browsers would refuse to follow the redirect of a form to another site. It may begin on another
//! site too, such as the provider's list of applications, because the response works only in the browser that began.

pub(crate) mod attempts;
pub(crate) mod buttons;
pub(crate) mod continue_page;

use crate::language::request::AccountLanguage;
use crate::language::t;
use crate::signed_in::area::Area;
use crate::signed_in::login;
use crate::signed_in::page::{PageError, PageResult, see_other};
use crate::signed_in::session::{self, PendingLogin, SignedIn};
use actix_session::Session;
use actix_web::http::{StatusCode, header};
use actix_web::web::Path;
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use attempts::{PendingAttempt, Purpose};
use docent_app::accounts::sessions::ClientInfo;
use docent_app::accounts::single_sign_on::sign_in::{SignInProgress, sign_in};
use docent_app::accounts::single_sign_on::{
    self, Attempt, ProviderResponse, Refusal, SignInError, connections, logout,
};
use docent_http::extract::query::encode_query;
use docent_http::{ApiError, Client, Form, Query, State, UserAgent};
use serde_json::json;

/// Account page that lists the connections.
pub(crate) const IDENTITIES: &str = "/account/identities";

/// `GET …/login`: opens the provider's page. Without it, the sign-in page with its form for passwords is shown.
pub(crate) async fn begin(
    _: AccountLanguage,
    provider: Path<String>,
    context: State,
    cookie: Session,
    query: Query,
) -> PageResult {
    let next = own_page(query.text("next").unwrap_or_default());
    match open_provider(&context, &cookie, &provider, Purpose::SignIn, next).await {
        Ok(url) => Ok(see_other(&url)),
        Err(error) => show_refusal(&context, &cookie, next, error),
    }
}

/// `GET …/confirm`: lets the person sign in again at the provider, as a proof of identity.
pub(crate) async fn begin_proof(
    signed_in: SignedIn,
    provider: Path<String>,
    context: State,
    cookie: Session,
    query: Query,
) -> PageResult {
    let next = own_page(query.text("next").unwrap_or_default());
    match open_provider(&context, &cookie, &provider, Purpose::Prove, next).await {
        Ok(url) => Ok(see_other(&url)),
        Err(error) => proof_refused(&signed_in, next, error),
    }
}

/// Page to open afterwards: one of the service, or else the web chat, which every account can use.
fn own_page(next: &str) -> &str {
    if Area::of(next).page(next) == next { next } else { "/chat" }
}

/// Remembers the attempt in the browser and returns the URL of the provider's page.
pub(crate) async fn open_provider(
    context: &State,
    cookie: &Session,
    provider: &str,
    purpose: Purpose,
    next: &str,
) -> Result<String, SignInError> {
    let (app, attempt) = (&context.app, Attempt::new(&context.app));
    let again = purpose == Purpose::Prove;
    let url = single_sign_on::authorization_url(app, provider, &attempt, again).await?;
    let pending = PendingAttempt::new(&attempt, provider, purpose, next, app.now());
    attempts::remember(cookie, pending).map_err(|error| {
        tracing::error!(%error, "a sign-in attempt could not be stored in the browser");
        SignInError::Refused(Refusal::InvalidResponse)
    })?;
    Ok(url)
}

/// `GET …/callback`: the provider's response.
pub(crate) async fn callback(
    _: AccountLanguage,
    request: HttpRequest,
    provider: Path<String>,
    context: State,
    cookie: Session,
    query: Query,
) -> PageResult {
    let state = query.text("state").unwrap_or_default();
    let pending = attempts::take(&cookie, &provider, state, context.app.now())?;
    let Some((attempt, pending)) = pending else {
        // Some providers leave out the state when they refuse.
        let is_refused = state.is_empty() && query.text("error").is_some();
        let (status, text) = match is_refused {
            true => (StatusCode::UNAUTHORIZED, t!("sso-declined")),
            false => (StatusCode::BAD_REQUEST, t!("sso-expired")),
        };
        return login::show_error(&context, &cookie, status, &text, Area::Account.root());
    };
    let code = query.text("code").filter(|_| query.text("error").is_none());
    let Some(code) = code else {
        let error: String = query.text("error").unwrap_or("no code").chars().take(100).collect();
        if error != "access_denied" {
            tracing::warn!(provider = pending.provider(), error, "an identity provider refused a sign-in");
        }
        return declined(&request, &context, &cookie, &pending).await;
    };
    let response = ProviderResponse { code, issuer: query.text("iss") };
    match pending.purpose() {
        Purpose::SignIn => finish_sign_in(&request, &context, &cookie, &attempt, &pending, response).await,
        Purpose::Connect => {
            let signed_in = SignedIn::extract(&request).await?;
            let actor = &signed_in.actor;
            match connections::connect(&context.app, actor, &provider, &attempt, response).await {
                Ok(()) => signed_in.notify(t!("identity-connected"))?,
                Err(error) => signed_in.warn(reason(error)?)?,
            }
            Ok(see_other(IDENTITIES))
        }
        Purpose::Prove => {
            let signed_in = SignedIn::extract(&request).await?;
            let (actor, session, begun_at) = (&signed_in.actor, signed_in.session, pending.begun_at());
            let app = &context.app;
            match connections::prove_identity(app, actor, session, &provider, &attempt, response, begun_at)
                .await
            {
                Ok(()) => signed_in.open(pending.next()),
                Err(error) => proof_refused(&signed_in, pending.next(), error),
            }
        }
    }
}

async fn finish_sign_in(
    request: &HttpRequest,
    context: &State,
    cookie: &Session,
    attempt: &Attempt,
    pending: &PendingAttempt,
    response: ProviderResponse<'_>,
) -> PageResult {
    let (client, agent) = (Client::extract(request).await?, UserAgent::extract(request).await);
    let agent = agent.map_err(|_| ApiError::internal())?;
    let origin = ClientInfo::new(client.address, agent.0);
    let (app, next) = (&context.app, pending.next());
    match sign_in(app, pending.provider(), attempt, response, &origin).await {
        Ok(SignInProgress::Started(id)) => {
            session::start(app, cookie, id, &origin).await?;
            session::open(cookie, next)
        }
        Ok(SignInProgress::CodeNeeded { user, proof_at, sign_in }) => {
            PendingLogin::begin(app, cookie, (user, proof_at), Some(&sign_in), &origin)?;
            let query = encode_query(&[("next", Some(next))]);
            Ok(see_other(&format!("{}/code?{query}", Area::of(next).login())))
        }
        Err(error) => show_refusal(context, cookie, next, error),
    }
}

/// The person has cancelled, or the provider has refused.
async fn declined(
    request: &HttpRequest,
    context: &State,
    cookie: &Session,
    pending: &PendingAttempt,
) -> PageResult {
    if pending.purpose() == Purpose::SignIn {
        let text = t!("sso-declined");
        return login::show_error(context, cookie, StatusCode::UNAUTHORIZED, &text, pending.next());
    }
    let signed_in = SignedIn::extract(request).await?;
    signed_in.warn(t!("sso-declined"))?;
    Ok(see_other(if pending.purpose() == Purpose::Connect {
        IDENTITIES
    } else {
        Area::of(pending.next()).root()
    }))
}

/// The sign-in page with the reason, its form for passwords and its buttons to try again.
fn show_refusal(context: &State, cookie: &Session, next: &str, error: SignInError) -> PageResult {
    let status = status(&error);
    login::show_error(context, cookie, status, &reason(error)?, next)
}

/// Status of the page that shows an error.
pub(crate) fn status(error: &SignInError) -> StatusCode {
    match error {
        SignInError::Refused(Refusal::UnknownProvider) => StatusCode::NOT_FOUND,
        SignInError::Refused(Refusal::InvalidResponse) => StatusCode::BAD_REQUEST,
        SignInError::Refused(_) => StatusCode::FORBIDDEN,
        SignInError::Unavailable(_) | SignInError::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Back to the page that asks for the proof, with the reason.
fn proof_refused(signed_in: &SignedIn, next: &str, error: SignInError) -> PageResult {
    signed_in.warn(reason(error)?)?;
    Ok(see_other(&format!("/account/confirm?{}", encode_query(&[("next", Some(next))]))))
}

/// Text of an error for the person.
pub(crate) fn reason(error: SignInError) -> Result<String, PageError> {
    Ok(match error {
        SignInError::Failed(error) => return Err(error.into()),
        SignInError::Unavailable(_) => t!("sso-unavailable"),
        SignInError::Refused(refusal) => match refusal {
            Refusal::UnknownProvider => t!("sso-unknown-provider"),
            Refusal::InvalidResponse => t!("sso-invalid"),
            Refusal::NoEmail => t!("sso-no-email"),
            Refusal::UnverifiedEmail => t!("sso-unverified-email"),
            Refusal::ForeignDomain => t!("sso-foreign-domain"),
            Refusal::NoNewAccounts => t!("sso-no-new-accounts"),
            Refusal::NeedsConnection => t!("sso-needs-connection"),
            Refusal::Inactive => t!("sso-inactive"),
            Refusal::ConnectedElsewhere => t!("sso-connected-elsewhere"),
            Refusal::NotAuthenticatedAgain => t!("sso-not-authenticated-again"),
        },
    })
}

/// `POST …/backchannel-logout`: the provider ends sessions. Responses are those of OpenID Connect Back-Channel Logout.
pub(crate) async fn backchannel_logout(
    provider: Path<String>,
    context: State,
    form: Result<Form, ApiError>,
) -> Result<HttpResponse, ApiError> {
    let form = form?;
    let answer = |status: StatusCode| {
        let mut answer = HttpResponse::build(status);
        answer.insert_header((header::CACHE_CONTROL, "no-store"));
        answer
    };
    match logout::end_sessions(&context.app, &provider, form.text("logout_token")).await {
        Ok(_) => Ok(answer(StatusCode::OK).finish()),
        Err(SignInError::Refused(_)) => {
            Ok(answer(StatusCode::BAD_REQUEST).json(json!({ "error": "invalid_request" })))
        }
        Err(SignInError::Unavailable(_)) => Ok(answer(StatusCode::SERVICE_UNAVAILABLE).finish()),
        Err(SignInError::Failed(error)) => Err(error.into()),
    }
}
