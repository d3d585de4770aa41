//! The URL table.

use crate::{account, admin, api, chat, context::State, error::Refusal, settings::HttpSettings};
use actix_web::{
    HttpRequest, HttpResponse, Resource, ResponseError, Route,
    guard::{Guard, fn_guard},
    http::{
        Method, StatusCode,
        header::{self, HeaderValue},
    },
    web,
};

/// Paths with the methods that each knows. `HEAD` goes where `GET` goes.
pub type Table = &'static [(&'static str, &'static [&'static str])];

/// Declares a table: each path below a root with its methods and their handlers. Paths that look alike are
/// tried from the top.
macro_rules! routes {
    (below $root:literal: $($path:literal { $($method:ident => $handler:path),+ })+) => {
        /// The paths that are declared here, whole.
        pub(crate) const TABLE: $crate::routes::Table =
            &[$((concat!($root, $path), &[$(stringify!($method)),+])),+];

        /// Adds those of the paths that are wanted to the server, or to the scope of their root.
        pub(crate) fn configure(
            config: &mut actix_web::web::ServiceConfig,
            is_wanted: impl Fn(&str) -> bool,
        ) {
            use $crate::routes::{on, resource};
            use actix_web::http::Method;
            $(if is_wanted(concat!($root, $path)) {
                let resource = resource($path, &[$(Method::$method),+]);
                config.service(resource$(.route(on(Method::$method).to($handler)))+);
            })+
        }
    };
}
pub(crate) use routes;

routes! {
    below "":
    "/"                     { GET => api::root::root }
    "/status"               { GET => api::status::status }
    "/health/live"          { GET => api::health::live::live }
    "/health/ready"         { GET => api::health::ready::ready }
    "/auth/token"           { POST => api::auth::token::token }
    "/auth/refresh"         { POST => api::auth::refresh::refresh }
    "/auth/logout"          { POST => api::auth::logout::logout }
    "/auth/password-reset"  { POST => api::auth::verification::ask_for_reset }
    "/auth/password-reset/confirm" { POST => api::auth::verification::reset_password }
    "/auth/email-verification" { POST => api::auth::verification::ask_for_verification }
    "/auth/email-verification/confirm" { POST => api::auth::verification::verify_email }
    "/account/reset-password" { GET => account::reset_password::page, POST => account::reset_password::submit }
    "/account/verify-email" { GET => account::verify_email::page, POST => account::verify_email::submit }
    "/chat"                 { GET => chat::page }
    "/chat/chat.css"        { GET => chat::style }
    "/chat/chat.js"         { GET => chat::script }
    "/documents"            { GET => api::documents::list::list, POST => api::documents::create::create }
    "/documents/upload"     { POST => api::documents::upload::upload }
    "/documents/{doc_id}"   { GET => api::documents::get::get, DELETE => api::documents::delete::delete }
    "/documents/{doc_id}/file" { GET => api::documents::file::file }
    "/documents/{doc_id}/pages/{page}" { GET => api::documents::page_image::page_image }
    "/documents/{doc_id}/report" { GET => api::documents::report::report }
    "/documents/{doc_id}/retry" { POST => api::documents::retry::retry }
    "/search"               { POST => api::search::search }
    "/agents/{name}"        { POST => api::agents::ask::ask }
    "/agents/{name}/streams/{id}" { GET => api::agents::resume::resume }
    "/agents/{name}/streams/{id}/stop" { POST => api::agents::stop::stop }
    "/mcp"                  { POST => api::mcp::call }
    "/v1/models"            { GET => api::openai::models::list }
    "/v1/models/{id}"       { GET => api::openai::models::get }
    "/v1/chat/completions"  { POST => api::openai::chat::complete }
    "/v1/embeddings"        { POST => api::openai::embeddings::embed }
    "/conversations"        { GET => api::conversations::list::list, POST => api::conversations::begin::begin }
    "/conversations/{id}"   {
        GET => api::conversations::read::read,
        PATCH => api::conversations::rename::rename,
        DELETE => api::conversations::delete::delete
    }
    "/webhooks"             { GET => api::webhooks::list::list, POST => api::webhooks::create::create }
    "/webhooks/{id}"        {
        GET => api::webhooks::get::get,
        PATCH => api::webhooks::change::change,
        DELETE => api::webhooks::delete::delete
    }
    "/webhooks/{id}/secret" { POST => api::webhooks::rotate::rotate }
    "/webhooks/{id}/test"   { POST => api::webhooks::ping::ping }
    "/webhooks/{id}/deliveries" { GET => api::webhooks::deliveries::deliveries }
    "/webhooks/{id}/deliveries/{delivery}/replay" { POST => api::webhooks::replay::replay }
    "/metrics"              { GET => api::metrics::metrics }
    "/openapi.json"         { GET => api::docs::document }
    "/docs"                 { GET => api::docs::page }
    "/docs/{file}"          { GET => api::docs::file }
}

/// Every path of the service, those of the panel too, and the one of metrics, which is there only when they are.
pub fn all() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let tables = [TABLE].into_iter().chain(admin::TABLES);
    tables.flatten().copied()
}

/// The pattern that a path fits, if any.
pub(crate) fn pattern_of(path: &str) -> Option<&'static str> {
    let segments =
        |path: &'_ str| -> Vec<String> { path.trim_matches('/').split('/').map(str::to_owned).collect() };
    let asked = segments(path);
    let fits = |pattern: &&str| {
        let known = segments(pattern);
        let same = |(known, asked): (&String, &String)| known.starts_with('{') || known == asked;
        known.len() == asked.len() && known.iter().zip(&asked).all(same)
    };
    all().map(|(pattern, _)| pattern).find(fits)
}

/// Whether a path is for those who watch the service. They are always answered.
pub(crate) fn is_probe(settings: &HttpSettings, path: &str) -> bool {
    is_watched(path) && is_there(settings, path)
}

/// Whether a path is for those who watch the service, where it is there.
pub(crate) fn is_watched(path: &str) -> bool {
    path.starts_with("/health/") || is_metrics(path)
}

/// Whether a path is there with these settings.
pub(crate) fn is_there(settings: &HttpSettings, path: &str) -> bool {
    settings.metrics.is_some() || !is_metrics(path)
}

fn is_metrics(path: &str) -> bool {
    path.trim_end_matches('/') == "/metrics"
}

/// A path that knows these methods and answers 405 to all others.
///
/// An agent that there is none of is 404 for them.
pub(crate) fn resource(path: &str, methods: &[Method]) -> Resource {
    let mut allowed: Vec<&str> = methods.iter().map(Method::as_str).collect();
    if methods.contains(&Method::GET) {
        allowed.push("HEAD");
    }
    let allowed = allowed.join(", ");
    web::resource(path).default_service(web::to(move |request: HttpRequest, context: State| {
        let allowed = allowed.clone();
        async move {
            match api::agents::missing(&request, &context) {
                Some(refusal) => refusal.error_response(),
                None => method_not_allowed(&allowed),
            }
        }
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

/// 405, of which a response tells the methods that the path knows.
pub(crate) fn wrong_method() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed")
}

fn method_not_allowed(allowed: &str) -> HttpResponse {
    let mut response = HttpResponse::from_error(wrong_method());
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
            ("/admin", Some("/admin")),
            ("/admin/users/add", Some("/admin/users/add")),
            ("/admin/users/17/", Some("/admin/users/{id}")),
            ("/documents/17/nothing", None),
            ("/secret", None),
        ] {
            assert_eq!(pattern_of(path), pattern, "{path}");
        }
    }
}
