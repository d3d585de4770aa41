//! Renders pages and error pages.

use crate::language::request::AccountLanguage;
use crate::language::{self, t};
use crate::templates::{Page, html_response, render};
use actix_web::http::header::HeaderValue;
use actix_web::http::{StatusCode, header};
use actix_web::{FromRequest, HttpRequest, HttpResponse, ResponseError};
use docent_app::error::Error;
use docent_domain::permission::RecordKind;
use docent_http::ApiError;
use docent_http::routes::prefers_html;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Path of the form that asks for a proof of identity.
pub(crate) const PROOF_PAGE: &str = "/account/confirm";

/// Content security policy: own stylesheet and script only, no inline scripts, no
/// framing.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Response of a page handler.
pub(crate) type PageResult = Result<HttpResponse, PageError>;

/// Renders a page.
pub(crate) fn show(status: StatusCode, page: &impl Page) -> PageResult {
    Ok(html_response(status, POLICY, render(page)?))
}

/// Redirects the browser to another page (303).
pub(crate) fn see_other(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, path)).finish()
}

/// Path and query of the requested page.
pub(crate) fn requested_page(request: &HttpRequest) -> String {
    request.uri().path_and_query().map(ToString::to_string).unwrap_or_default()
}

/// ID in the path of a page.
pub(crate) fn id_of<I: FromStr>(kind: RecordKind, id: &str) -> Result<I, Error> {
    id.parse().map_err(|_| Error::NotFound(kind))
}

/// Handler for unknown paths below `/admin` and `/account`: 404.
pub(crate) async fn not_found(_: AccountLanguage) -> PageResult {
    Err(PageError::Failed(ApiError::new(StatusCode::NOT_FOUND, t!("page-not-found"))))
}

/// Handler for unknown paths: 404, as a page for clients that prefer `text/html`, such as browsers, and as JSON for others.
pub async fn unknown_path(request: HttpRequest) -> HttpResponse {
    let mut response = if prefers_html(&request) {
        // Chooses the language of the account; it never fails.
        let _ = AccountLanguage::extract(&request).await;
        PageError::Failed(ApiError::new(StatusCode::NOT_FOUND, t!("page-not-found"))).error_response()
    } else {
        HttpResponse::from_error(ApiError::new(StatusCode::NOT_FOUND, "Not found"))
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum PageError {
    /// Not signed in, or not allowed to use the area; both look the same to the client.
    LoggedOut {
        /// The requested page.
        page: String,
    },
    /// The account must set up a second factor first.
    NoSecondFactor,
    /// The operation needs a recent proof of identity. [`super::proof::ask`] leads to it and back.
    Unproven,
    /// Any other error.
    Failed(ApiError),
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> Self {
        Self::Failed(match error {
            Error::ProofNeeded => return Self::Unproven,
            Error::SecondFactorRequired => return Self::NoSecondFactor,
            Error::NotFound(kind) => {
                ApiError::new(StatusCode::NOT_FOUND, language::named("not-found-", kind.name()))
            }
            Error::Forbidden => ApiError::new(StatusCode::FORBIDDEN, t!("error-forbidden")),
            Error::MissingAccess(missing) => {
                let missing = language::missing(missing);
                ApiError::new(StatusCode::FORBIDDEN, t!("error-missing-access", missing = missing))
            }
            Error::OpeningForbidden => ApiError::new(StatusCode::FORBIDDEN, t!("error-opening-forbidden")),
            other => other.into(),
        })
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoggedOut { .. } => f.write_str("not logged in"),
            Self::NoSecondFactor => f.write_str("no second factor"),
            Self::Unproven => f.write_str("no recent proof of identity"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::LoggedOut { .. } | Self::NoSecondFactor | Self::Unproven => StatusCode::SEE_OTHER,
            Self::Failed(error) => error.status(),
        }
    }

    fn error_response(&self) -> HttpResponse {
        match self {
            Self::LoggedOut { page } => see_other(&super::area::login_link(page)),
            Self::NoSecondFactor => see_other("/account/second-factor"),
            Self::Unproven => see_other(PROOF_PAGE),
            Self::Failed(error) => {
                let detail = language::error_detail(error);
                let page = ErrorPage { status: error.status().as_u16(), detail: &detail };
                let mut response = html_response(error.status(), POLICY, render(&page).unwrap_or_default());
                error.report(&mut response);
                response
            }
        }
    }
}

/// Page for an error.
#[derive(Serialize)]
pub(crate) struct ErrorPage<'a> {
    status: u16,
    detail: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ErrorPage<'_> {
        fn samples() -> Vec<Self> {
            vec![Self { status: 404, detail: "Page not found" }]
        }
    }
}
