//! The URL table.

use crate::{account, api, error::Refusal, settings::HttpSettings};
use actix_web::{
    HttpResponse, Resource, ResponseError, Route,
    guard::{Guard, fn_guard},
    http::{
        Method, StatusCode,
        header::{self, HeaderValue},
    },
    web::{self, ServiceConfig},
};

/// Declares the table: each path with its methods and their handlers. Paths that look alike are tried from
/// the top.
macro_rules! routes {
    ($($path:literal { $($method:ident => $handler:path),+ })+) => {
        /// Every path of the API with the methods that it knows. `HEAD` goes where `GET` goes.
        pub const TABLE: &[(&str, &[&str])] = &[$(($path, &[$(stringify!($method)),+])),+];

        /// Adds those of the API's paths to the server that are wanted.
        pub(crate) fn configure(config: &mut ServiceConfig, is_wanted: impl Fn(&str) -> bool) {
            $(if is_wanted($path) {
                config.service(resource($path, &[$(Method::$method),+])$(.route(on(Method::$method).to($handler)))+);
            })+
        }
    };
}

routes! {
    "/"                     { GET => api::root::root }
    "/status"               { GET => api::status::status }
    "/health/live"          { GET => api::health::live::live }
    "/health/ready"         { GET => api::health::ready::ready }
    "/auth/token"           { POST => api::auth::token::token }
    "/auth/refresh"         { POST => api::auth::refresh::refresh }
    "/auth/logout"          { POST => api::auth::logout::logout }
    "/auth/password-reset"  { POST => api::auth::password_reset::ask }
    "/auth/password-reset/confirm" { POST => api::auth::password_reset::confirm }
    "/auth/email-verification" { POST => api::auth::email_verification::ask }
    "/auth/email-verification/confirm" { POST => api::auth::email_verification::confirm }
    "/account/reset-password" { GET => account::reset_password::page, POST => account::reset_password::submit }
    "/account/verify-email" { GET => account::verify_email::page, POST => account::verify_email::submit }
    "/documents"            { GET => api::documents::list::list, POST => api::documents::create::create }
    "/documents/upload"     { POST => api::documents::upload::upload }
    "/documents/{doc_id}"   { GET => api::documents::get::get, DELETE => api::documents::delete::delete }
    "/documents/{doc_id}/report" { GET => api::documents::report::report }
    "/documents/{doc_id}/retry" { POST => api::documents::retry::retry }
    "/search"               { POST => api::search::search }
    "/agents/{name}"        { POST => api::agents::ask::ask }
}

/// Adds the path of metrics, which is there only when they are.
pub(crate) fn configure_metrics(config: &mut ServiceConfig) {
    config.service(resource("/metrics", &[Method::GET]).route(on(Method::GET).to(api::metrics::metrics)));
}

/// The pattern of the API's table that a path fits, if any.
pub(crate) fn pattern_of(path: &str) -> Option<&'static str> {
    let segments =
        |path: &'_ str| -> Vec<String> { path.trim_matches('/').split('/').map(str::to_owned).collect() };
    let asked = segments(path);
    let fits = |pattern: &&str| {
        let known = segments(pattern);
        let same = |(known, asked): (&String, &String)| known.starts_with('{') || known == asked;
        known.len() == asked.len() && known.iter().zip(&asked).all(same)
    };
    TABLE.iter().map(|(pattern, _)| *pattern).find(fits)
}

/// Whether a path is for those who watch the service. They are always answered.
pub(crate) fn is_probe(settings: &HttpSettings, path: &str) -> bool {
    path.starts_with("/health/") || settings.metrics.is_some() && path.trim_end_matches('/') == "/metrics"
}

/// A path that knows these methods and answers 405 to all others.
pub(crate) fn resource(path: &str, methods: &[Method]) -> Resource {
    let mut allowed: Vec<&str> = methods.iter().map(Method::as_str).collect();
    if methods.contains(&Method::GET) {
        allowed.push("HEAD");
    }
    let allowed = allowed.join(", ");
    web::resource(path).default_service(web::to(move || {
        let allowed = allowed.clone();
        async move { method_not_allowed(&allowed) }
    }))
}

/// A route for one method; `GET` answers `HEAD` too.
pub(crate) fn on(method: Method) -> Route {
    web::route().guard(answers(method))
}

fn answers(method: Method) -> impl Guard {
    fn_guard(move |context| {
        let asked = &context.head().method;
        *asked == method || (method == Method::GET && *asked == Method::HEAD)
    })
}

fn method_not_allowed(allowed: &str) -> HttpResponse {
    let mut response = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed").error_response();
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

/// What leads nowhere.
pub(crate) async fn not_found() -> Result<HttpResponse, Refusal> {
    Err(Refusal::new(StatusCode::NOT_FOUND, "Not found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_its_pattern() {
        for (path, pattern) in [
            ("/", Some("/")),
            ("/documents/", Some("/documents")),
            ("/documents/upload", Some("/documents/upload")),
            ("/documents/17", Some("/documents/{doc_id}")),
            ("/agents/chat", Some("/agents/{name}")),
            ("/documents/17/nothing", None),
            ("/secret", None),
        ] {
            assert_eq!(pattern_of(path), pattern, "{path}");
        }
    }
}
