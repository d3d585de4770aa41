//! Building blocks of route tables.

use crate::context::State;
use crate::error::ApiError;
use actix_web::guard::{Guard, fn_guard};
use actix_web::http::header::{self, Accept, Header, HeaderValue, Quality};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, Resource, ResponseError, Route, web};

/// Returns an error that takes precedence over 405.
pub type Check = fn(&HttpRequest, &State) -> Option<ApiError>;

/// Declares a route table: each path below a root with its methods and their handlers. The first matching path is used.
#[macro_export]
macro_rules! routes {
    (below $root:literal: $($path:literal { $($method:ident => $handler:path),+ } $(unless $check:path)?)+) => {
        /// The declared paths, with their root.
        pub const TABLE: $crate::table::Table =
            &[$((concat!($root, $path), &[$(stringify!($method)),+])),+];

        /// Adds the selected paths to the server, or to the scope of their root.
        pub fn configure(
            config: &mut actix_web::web::ServiceConfig,
            is_wanted: impl Fn(&str) -> bool,
        ) {
            use $crate::routes::{on, resource};
            use actix_web::http::Method;
            $(if is_wanted(concat!($root, $path)) {
                let resource = resource($path, &[$(Method::$method),+], &[$($check)?]);
                config.service(resource$(.route(on(Method::$method).to($handler)))+);
            })+
        }
    };
}
/// Creates a path with these methods. Other methods return 405, unless a [`Check`] returns another error.
pub fn resource(path: &str, methods: &[Method], checks: &'static [Check]) -> Resource {
    let mut allowed: Vec<&str> = methods.iter().map(Method::as_str).collect();
    if methods.contains(&Method::GET) {
        allowed.push("HEAD");
    }
    let allowed = allowed.join(", ");
    web::resource(path).default_service(web::to(move |request: HttpRequest, context: State| {
        let allowed = allowed.clone();
        async move {
            match checks.iter().find_map(|check| check(&request, &context)) {
                Some(error) => error.error_response(),
                None => method_not_allowed(&allowed),
            }
        }
    }))
}

/// Creates a route for one method; `GET` handles `HEAD` too.
pub fn on(method: Method) -> Route {
    web::route().guard(matches_method(method))
}

fn matches_method(method: Method) -> impl Guard {
    fn_guard(move |context| {
        let requested = &context.head().method;
        *requested == method || (method == Method::GET && *requested == Method::HEAD)
    })
}

/// 405. The header `Allow` of the response lists the methods.
pub fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed")
}

fn method_not_allowed(allowed: &str) -> HttpResponse {
    let mut response = HttpResponse::from_error(wrong_method());
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

/// Handler for unknown paths: 404.
pub async fn not_found() -> Result<HttpResponse, ApiError> {
    Err(ApiError::new(StatusCode::NOT_FOUND, "Not found"))
}

/// Whether `Accept` names HTML and prefers it to JSON. Clients that accept everything, or send no or an invalid header, get JSON.
pub fn prefers_html(request: &HttpRequest) -> bool {
    let Ok(accept) = Accept::parse(request) else { return false };
    let quality = |kind: &str| {
        let named = accept.iter().find(|accepted| accepted.item.essence_str() == kind);
        named.map_or(Quality::ZERO, |accepted| accepted.quality)
    };
    let html = quality("text/html");
    let json = ["application/json", "application/*"].into_iter().any(|kind| quality(kind) >= html);
    html > Quality::ZERO && !json && html >= quality("*/*")
}
