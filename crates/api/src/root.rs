//! `GET /`

use actix_web::HttpResponse;
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
/// For people who open the URL of the service.
#[utoipa::path(
    get, path = "/", operation_id = "root", tag = "Service", security(()),
    responses((status = 200, description = "The description.", body = Welcome)),
)]
pub(crate) async fn root(context: State) -> Reply {
    let message = format!("{} answers questions about your documents.", context.settings.app_name);
    Ok(HttpResponse::Ok().json(Welcome { message }))
}
