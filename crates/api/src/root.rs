//! `GET /`

use actix_web::HttpRequest;
use actix_web::HttpResponse;
use actix_web::http::header::{self, Accept, Header, Quality};
use docent_http::{Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Description of the service.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "message": "Docent answers questions about your documents." }))]
pub(crate) struct Welcome {
    /// A sentence about the service.
    message: String,
}

/// Describe the service
///
/// For people who open the URL of the service: a client that prefers `text/html` to JSON, such as a browser, is sent to the web chat.
#[utoipa::path(
    get, path = "/", operation_id = "root", tag = "Service", security(()),
    responses(
        (status = 200, description = "The description.", body = Welcome),
        (status = 303, description = "To the web chat, for a client that prefers `text/html`."),
    ),
)]
pub(crate) async fn root(request: HttpRequest, context: State) -> Reply {
    let mut response = if prefers_html(&request) {
        HttpResponse::SeeOther().insert_header((header::LOCATION, "/chat")).finish()
    } else {
        let message = format!("{} answers questions about your documents.", context.settings.app_name);
        HttpResponse::Ok().json(Welcome { message })
    };
    response.headers_mut().append(header::VARY, header::HeaderValue::from_static("Accept"));
    Ok(response)
}

/// Whether `Accept` names HTML and prefers it to JSON. Clients that accept everything, or send no or an invalid header, get JSON.
fn prefers_html(request: &HttpRequest) -> bool {
    let Ok(accept) = Accept::parse(request) else { return false };
    let quality = |kind: &str| {
        let named = accept.iter().find(|accepted| accepted.item.essence_str() == kind);
        named.map_or(Quality::ZERO, |accepted| accepted.quality)
    };
    let html = quality("text/html");
    let json = ["application/json", "application/*"].into_iter().any(|kind| quality(kind) >= html);
    html > Quality::ZERO && !json && html >= quality("*/*")
}
