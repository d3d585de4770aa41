//! What URL tables are made of.

use crate::{context::State, error::ApiError};
use actix_web::{
    HttpRequest, HttpResponse, Resource, ResponseError, Route,
    guard::{Guard, fn_guard},
    http::{
        Method, StatusCode,
        header::{self, HeaderValue},
    },
    web,
};

/// Whether a request is refused for another reason than its method.
pub type Check = fn(&HttpRequest, &State) -> Option<ApiError>;

/// Declares a table: each path below a root with its methods and their handlers. Paths that look alike are
/// tried from the top.
#[macro_export]
macro_rules! routes {
    (below $root:literal: $($path:literal { $($method:ident => $handler:path),+ } $(unless $check:path)?)+) => {
        /// The paths that are declared here, whole.
        pub const TABLE: $crate::table::Table =
            &[$((concat!($root, $path), &[$(stringify!($method)),+])),+];

        /// Adds those of the paths that are wanted to the server, or to the scope of their root.
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
/// A path that knows these methods and answers 405 to all others.
/// [`Check`]s come before that.
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
                Some(refusal) => refusal.error_response(),
                None => method_not_allowed(&allowed),
            }
        }
    }))
}

/// A route for one method; `GET` answers `HEAD` too.
pub fn on(method: Method) -> Route {
    web::route().guard(answers(method))
}

fn answers(method: Method) -> impl Guard {
    fn_guard(move |context| {
        let asked = &context.head().method;
        *asked == method || (method == Method::GET && *asked == Method::HEAD)
    })
}

/// 405, of which a response tells the methods that the path knows.
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
