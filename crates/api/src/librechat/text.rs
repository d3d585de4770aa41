//! `POST /librechat/text`

use super::User;
use super::form::{LibreChatFileForm, Received, receive, shown_name};
use crate::answers;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use docent_app::documents::upload_text;
use docent_domain::access::AddDocuments;
use docent_http::{Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// The text of a file.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "text": "The warranty lasts five years.", "file_id": "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10", "filename": "Terms.pdf", "known_type": true,
}))]
pub(crate) struct FileText {
    /// The text of all pages.
    text: String,
    /// ID of the file.
    file_id: String,
    /// Name of the file.
    filename: String,
    /// Always true.
    known_type: bool,
}

/// Read the text of a file (extension)
///
/// Nothing of the file is stored. The text on scanned pages is recognised as at the ingestion of documents.
#[utoipa::path(
    post, path = "/librechat/text", operation_id = "librechat_text", tag = "LibreChat",
    security(("librechat_token" = [])),
    request_body(content = LibreChatFileForm, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The text.", body = FileText),
        answers::UnknownPath, answers::InvalidBody, answers::UnsupportedFile, answers::StorageFull,
    ),
)]
pub(crate) async fn text(user: User, context: State, request: HttpRequest, payload: Payload) -> Reply {
    let grant = user.authorize::<AddDocuments>()?;
    let Received { external, upload } = receive(&user, grant, &context, &request, payload).await?;
    let extracted = upload_text::extract(upload?, &grant).await?;
    let pages: Vec<&str> = extracted.pages.iter().map(|page| page.text.trim_end()).collect();
    Ok(HttpResponse::Ok().json(FileText {
        text: pages.join("\n"),
        file_id: external.id.to_string(),
        filename: shown_name(&extracted.name),
        known_type: true,
    }))
}
