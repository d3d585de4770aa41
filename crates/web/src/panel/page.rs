//! Renders pages and error pages.

use crate::templates;
use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use docent_app::error::Error;
use docent_domain::permission::RecordKind;
use docent_http::{context::State, error::ApiError};
use std::{fmt, str::FromStr};
use tera::Context;

/// Content security policy: own stylesheet and script only, no inline scripts, no
/// framing.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// Renders a page.
pub(super) fn show(
    context: &State,
    status: StatusCode,
    template: &str,
    values: &Context,
) -> Result<HttpResponse, Broken> {
    let mut values = values.clone();
    values.insert("app_name", &context.settings.app_name);
    Ok(html_response(status, templates::render(template, &values)?))
}

fn html_response(status: StatusCode, html: String) -> HttpResponse {
    HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .body(html)
}

/// Redirects the browser to another page (303).
pub(super) fn see_other(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, path)).finish()
}

/// ID in the path of a page.
pub(super) fn id_of<I: FromStr>(kind: RecordKind, id: &str) -> Result<I, Error> {
    id.parse().map_err(|_| Error::NotFound(kind))
}

/// Handler for unknown paths below `/admin`: 404.
pub(super) async fn not_found() -> Result<HttpResponse, Broken> {
    Err(Broken::Refused(ApiError::new(StatusCode::NOT_FOUND, "Page not found")))
}

/// Why a page cannot be shown.
#[derive(Debug)]
pub(super) enum Broken {
    /// Not signed in, or not allowed to use the panel; both look the same to the client.
    LoggedOut {
        /// The requested page.
        page: String,
    },
    /// Any other error.
    Refused(ApiError),
}

impl From<ApiError> for Broken {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<actix_session::SessionInsertError> for Broken {
    fn from(error: actix_session::SessionInsertError) -> Self {
        tracing::error!(%error, "a session could not be written");
        Self::Refused(ApiError::internal())
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoggedOut { .. } => f.write_str("not logged in"),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl ResponseError for Broken {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::LoggedOut { .. } => StatusCode::SEE_OTHER,
            Self::Refused(refusal) => refusal.status(),
        }
    }

    fn error_response(&self) -> HttpResponse {
        match self {
            Self::LoggedOut { page } => see_other(&super::login_link::address(page)),
            Self::Refused(refusal) => {
                // The error texts are fixed and contain no client input.
                let html = include_str!("../templates/error.html")
                    .replace("{{ status }}", refusal.status().as_str())
                    .replace("{{ detail }}", refusal.detail());
                let mut response = html_response(refusal.status(), html);
                refusal.report(&mut response);
                response
            }
        }
    }
}
