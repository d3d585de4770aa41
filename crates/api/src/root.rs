//! `GET /`

use actix_web::HttpResponse;
use docent_http::context::State;
use docent_http::error::Reply;
use serde::Serialize;
use utoipa::ToSchema;

/// Who answers here.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "message": "Docent answers questions about your documents." }))]
pub(crate) struct Welcome {
    /// What the service is, in a sentence.
    message: String,
}

/// Say what the service is
///
/// For people who open its address.
#[utoipa::path(
    get, path = "/", operation_id = "root", tag = "Service", security(()),
    responses((status = 200, description = "The service is there.", body = Welcome)),
)]
pub(crate) async fn root(context: State) -> Reply {
    let message = format!("{} answers questions about your documents.", context.settings.app_name);
    Ok(HttpResponse::Ok().json(Welcome { message }))
}
