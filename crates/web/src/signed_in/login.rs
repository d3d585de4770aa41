//! `/admin/login` and `/account/login`

use super::area::Area;
use super::form::Form;
use super::page::{self, PageResult};
use super::session::{self, PendingCode, PendingLogin};
use crate::language::request::AccountLanguage;
use crate::language::t;
use crate::session_cookie;
use crate::signed_in::single_sign_on::buttons::{ProviderLink, sign_in_links};
use actix_session::Session;
use actix_web::http::{StatusCode, header};
use docent_app::accounts::login::{self, Destination};
use docent_app::accounts::sessions::{self, ClientInfo};
use docent_app::accounts::verification;
use docent_app::error::Error;
use docent_app::settings::PasswordLogin;
use docent_domain::access::UseAdminPanel;
use docent_http::extract::query::encode_query;
use docent_http::{ApiError, Client, Query, State, UserAgent};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct LoginPage<'a> {
    app_name: &'a str,
    /// Who can sign in.
    hint: String,
    /// Path of this page.
    action: String,
    /// Path of the sign-in page for the other pages, and its label.
    other: (String, String),
    form_token: String,
    error: Option<&'a str>,
    /// Whether the account of a correct password cannot use these pages.
    is_without_access: bool,
    /// Submitted email address.
    email: &'a str,
    /// Whether to stay signed in was chosen.
    stays_signed_in: bool,
    /// Page to open after signing in.
    next: &'a str,
    /// Whether the service can send a link for a new password.
    sends_email: bool,
    /// Links to identity providers.
    providers: Vec<ProviderLink>,
    /// Whether some accounts can sign in with a password.
    has_password: bool,
    /// Whether the form for passwords is for a few accounts, and closed at first.
    is_folded: bool,
}

pub(crate) async fn show(
    _: AccountLanguage,
    area: Area,
    context: State,
    session: Session,
    client: Client,
    query: Query,
) -> PageResult {
    let next = area.page(query.text("next").unwrap_or_default());
    let is_refused = area == Area::Panel && is_without_panel_access(&context, &session, client).await;
    let notice = if is_refused { Notice::NoAccess } else { Notice::None };
    show_form(area, &context, &session, StatusCode::OK, notice, &Entered::nothing(next))
}

/// Whether the browser is signed in with an account that cannot use the panel.
async fn is_without_panel_access(context: &State, session: &Session, client: Client) -> bool {
    let Some(id) = session_cookie::id_of(session) else { return false };
    let known = sessions::authenticate_browser(&context.app, id, client.address).await;
    known.is_ok_and(|known| known.actor.authorize::<UseAdminPanel>().is_err())
}

pub(crate) async fn submit(
    _: AccountLanguage,
    area: Area,
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> PageResult {
    let form = form?;
    let (email, next) = (form.text("email"), area.page(form.text("next")));
    let retry = |status, text: String| {
        show_form(area, &context, &session, status, Notice::Error(&text), &Entered::of(&form, next))
    };
    if !session::is_own_form(&session, form.text("form_token")) {
        return retry(StatusCode::FORBIDDEN, t!("form-expired-retry"));
    }
    let password = form.text("password").to_owned();
    let stays_signed_in = Entered::of(&form, next).stays_signed_in;
    let origin = ClientInfo { stays_signed_in, ..ClientInfo::new(client.address, agent.0) };
    let app = &context.app;
    match login::enter(app, destination(area), email, password, &origin).await {
        Ok(id) => {
            session::start(app, &session, id, &origin).await?;
            session::open(&session, next)
        }
        Err(Error::CodeRequired { user, proof_at }) => {
            PendingLogin::begin(app, &session, (user, proof_at), None, &origin)?;
            let query = encode_query(&[("next", Some(next))]);
            Ok(page::see_other(&format!("{}/code?{query}", area.login())))
        }
        Err(Error::NoPanelAccess) => {
            let entered = Entered::of(&form, next);
            show_form(area, &context, &session, StatusCode::FORBIDDEN, Notice::NoAccess, &entered)
        }
        Err(Error::InvalidCredentials) => retry(StatusCode::UNAUTHORIZED, t!("login-incorrect")),
        Err(error @ Error::TooManyFailedLogins { .. }) => too_many(error, retry),
        Err(error) => Err(error.into()),
    }
}

/// The pages that a sign-in page is for.
const fn destination(area: Area) -> Destination {
    match area {
        Area::Panel => Destination::Panel,
        Area::Account => Destination::Account,
    }
}

/// Shows a form again after too many failed logins.
fn too_many(error: Error, retry: impl FnOnce(StatusCode, String) -> PageResult) -> PageResult {
    let pause = ApiError::from(error).retry_after();
    let mut response = retry(StatusCode::TOO_MANY_REQUESTS, t!("login-too-many"))?;
    if let Some(seconds) = pause {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    Ok(response)
}

/// Second step of a login, for accounts with a second factor.
#[derive(Serialize)]
pub(crate) struct CodePage<'a> {
    app_name: &'a str,
    /// Path of this page.
    action: String,
    /// Path of the first step.
    login: String,
    form_token: String,
    error: Option<&'a str>,
    /// Page to open after signing in.
    next: &'a str,
}

pub(crate) async fn show_code(
    _: AccountLanguage,
    area: Area,
    context: State,
    session: Session,
    query: Query,
) -> PageResult {
    let next = area.page(query.text("next").unwrap_or_default());
    show_code_form(area, &context, &session, StatusCode::OK, None, next)
}

pub(crate) async fn submit_code(
    _: AccountLanguage,
    area: Area,
    context: State,
    session: Session,
    client: Client,
    agent: UserAgent,
    form: Result<Form, ApiError>,
) -> PageResult {
    let (form, app) = (form?, &context.app);
    let next = area.page(form.text("next"));
    let retry = |status, text: String| show_code_form(area, &context, &session, status, Some(&text), next);
    if !session::is_own_form(&session, form.text("form_token")) {
        return retry(StatusCode::FORBIDDEN, t!("form-expired-retry"));
    }
    let Some(PendingCode { user, proof_at, sign_in, stays_signed_in }) = PendingLogin::of(app, &session)
    else {
        return Ok(page::see_other(&area.login()));
    };
    let origin = ClientInfo { stays_signed_in, ..ClientInfo::new(client.address, agent.0) };
    let (code, sign_in) = (form.text("code"), sign_in.as_ref());
    match login::enter_with_code(app, destination(area), user, proof_at, code, &origin, sign_in).await {
        Ok(id) => {
            session::start(app, &session, id, &origin).await?;
            session::open(&session, next)
        }
        Err(Error::InvalidCode) => retry(StatusCode::UNAUTHORIZED, t!("login-invalid-code")),
        Err(Error::InvalidCredentials) => Ok(page::see_other(&area.login())),
        Err(Error::NoPanelAccess) => {
            let entered = Entered::nothing(next);
            show_form(area, &context, &session, StatusCode::FORBIDDEN, Notice::NoAccess, &entered)
        }
        Err(error @ Error::TooManyFailedLogins { .. }) => too_many(error, retry),
        Err(error) => Err(error.into()),
    }
}

fn show_code_form(
    area: Area,
    context: &State,
    session: &Session,
    status: StatusCode,
    error: Option<&str>,
    next: &str,
) -> PageResult {
    if PendingLogin::of(&context.app, session).is_none() {
        return Ok(page::see_other(&area.login()));
    }
    let form_token = session::form_token(&context.app, session)?;
    let action = format!("{}/code", area.login());
    let app_name = &context.settings.app_name;
    page::show(status, &CodePage { app_name, action, login: area.login(), form_token, error, next })
}

/// Name of the checkbox that asks to stay signed in.
const STAY: &str = "stay";

/// What the form keeps of the attempt before.
struct Entered<'a> {
    email: &'a str,
    stays_signed_in: bool,
    /// Page to open after signing in.
    next: &'a str,
}

impl<'a> Entered<'a> {
    const fn nothing(next: &'a str) -> Self {
        Self { email: "", stays_signed_in: false, next }
    }

    fn of(form: &'a Form, next: &'a str) -> Self {
        Self { email: form.text("email"), stays_signed_in: form.text(STAY) == "on", next }
    }
}

/// What the form says about the attempt before.
#[derive(Clone, Copy)]
enum Notice<'a> {
    None,
    Error(&'a str),
    /// The account cannot use these pages.
    NoAccess,
}

/// Shows the sign-in page of a page that could not be opened, with the reason.
pub(crate) fn show_error(
    context: &State,
    session: &Session,
    status: StatusCode,
    error: &str,
    next: &str,
) -> PageResult {
    let area = Area::of(next);
    show_form(area, context, session, status, Notice::Error(error), &Entered::nothing(area.page(next)))
}

fn show_form(
    area: Area,
    context: &State,
    session: &Session,
    status: StatusCode,
    notice: Notice<'_>,
    entered: &Entered<'_>,
) -> PageResult {
    let form_token = session::form_token(&context.app, session)?;
    let (hint, other) = match area {
        Area::Panel => (t!("login-to-panel"), (Area::Account, t!("login-to-account"))),
        Area::Account => (t!("login-to-account"), (Area::Panel, t!("login-to-panel"))),
    };
    let password_login = &context.app.settings().password_login;
    let page = LoginPage {
        app_name: &context.settings.app_name,
        hint,
        action: area.login(),
        other: (other.0.login(), other.1),
        form_token,
        error: match notice {
            Notice::Error(text) => Some(text),
            Notice::None | Notice::NoAccess => None,
        },
        is_without_access: matches!(notice, Notice::NoAccess),
        email: entered.email,
        stays_signed_in: entered.stays_signed_in,
        next: entered.next,
        sends_email: verification::is_possible(&context.app),
        providers: sign_in_links(&context.app, entered.next),
        has_password: *password_login != PasswordLogin::Only(Vec::new()),
        is_folded: *password_login != PasswordLogin::Everyone,
    };
    page::show(status, &page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for CodePage<'_> {
        fn samples() -> Vec<Self> {
            let page = |error| Self {
                app_name: "Docent",
                action: "/admin/login/code".to_owned(),
                login: "/admin/login".to_owned(),
                form_token: "0f".to_owned(),
                error,
                next: "/admin/jobs",
            };
            vec![page(None), page(Some("This code is not valid."))]
        }
    }

    impl Samples for LoginPage<'_> {
        fn samples() -> Vec<Self> {
            let page = |error: Option<&'static str>, email: &'static str, sends_email| Self {
                app_name: "Docent",
                hint: "Staff sign-in".to_owned(),
                action: "/admin/login".to_owned(),
                other: ("/account/login".to_owned(), "Sign in to your account".to_owned()),
                form_token: "0f".to_owned(),
                error,
                is_without_access: error.is_none() && !email.is_empty(),
                email,
                stays_signed_in: sends_email,
                next: "/admin/jobs",
                sends_email,
                providers: if sends_email { ProviderLink::samples() } else { Vec::new() },
                has_password: !sends_email || email.is_empty(),
                is_folded: !sends_email,
            };
            let (wrong, email) = (Some("The credentials are wrong."), "a@example.com");
            vec![page(None, "", true), page(wrong, email, false), page(None, email, true)]
        }
    }
}
