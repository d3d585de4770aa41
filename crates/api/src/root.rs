//! `GET /`

use actix_web::HttpRequest;
use actix_web::HttpResponse;
use actix_web::http::header;
use docent_http::routes::prefers_html;
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
