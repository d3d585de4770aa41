//! Forms with a file, as LibreChat sends them: the ID of the file, the file, and then further fields.

use super::User;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::Payload;
use docent_app::documents::external::NewExternalFile;
use docent_app::documents::upload::{NewDocument, Upload};
use docent_app::error::Error;
use docent_domain::access::{AddDocuments, Grant};
use docent_domain::external_file::ExternalId;
use docent_domain::id::CollectionId;
use docent_http::extract::body::content_length;
use docent_http::extract::upload::{FILE, REST_MAX, parts_of, receive_all};
use docent_http::{ApiError, State};
use utoipa::ToSchema;

const FILE_ID: &str = "file_id";
const ENTITY_ID: &str = "entity_id";

/// A file with its ID. Other fields, such as `storage_metadata`, are ignored.
#[derive(ToSchema)]
#[schema(example = json!({ "file_id": "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10", "file": "%PDF-1.4" }))]
#[expect(dead_code, reason = "documents the form that the handler reads as a stream")]
pub(crate) struct LibreChatFileForm {
    /// ID that LibreChat gave the file.
    #[schema(min_length = 1, max_length = 200)]
    file_id: String,
    /// The file. Its type is found by its content.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// ID of the agent that the file belongs to. All requests that name it can search the file, of any account.
    #[schema(max_length = 200, nullable = false)]
    entity_id: Option<String>,
}

/// A received form.
pub(super) struct Received {
    /// What the form names.
    pub(super) external: NewExternalFile,
    /// The file, or that its type is not supported.
    pub(super) upload: Result<Upload, ApiError>,
}

/// Receives a form. The file is not recorded yet.
///
/// # Errors
/// If the form is not valid, or the file cannot be stored. A file of an unsupported type is no error.
pub(super) async fn receive(
    user: &User,
    grant: Grant<AddDocuments>,
    context: &State,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Received, ApiError> {
    let collection = CollectionId::personal(user.actor.user());
    let document = NewDocument { ignores_content_type: true, ..NewDocument::new(grant, collection) };
    let limit = context.app.settings().max_upload_bytes;
    let length = content_length(request);
    if length.is_some_and(|bytes| bytes > limit + REST_MAX) {
        return Err(Error::FileTooLarge { limit }.into());
    }
    let parts = parts_of(request.headers(), payload);
    let (upload, fields) = receive_all(context, document, parts, length, &[FILE_ID, ENTITY_ID]).await;
    let upload = match upload {
        Err(error) if error.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE => return Err(error),
        upload => upload,
    };
    match external(user, &fields) {
        Ok(external) => Ok(Received { external, upload }),
        Err(error) => {
            if let Ok(upload) = upload {
                upload.abort().await;
            }
            Err(error)
        }
    }
}

fn external(user: &User, fields: &[(&str, String)]) -> Result<NewExternalFile, ApiError> {
    let field = |name: &str| fields.iter().rev().find(|(of, _)| *of == name).map(|(_, text)| text.as_str());
    let parse = |name: &'static str, text: &str| {
        ExternalId::parse(text).map_err(|error| ApiError::invalid_field(&["body", name], error.reason))
    };
    let id = field(FILE_ID).ok_or_else(|| ApiError::invalid_field(&["body", FILE_ID], "is required"))?;
    let entity = field(ENTITY_ID).filter(|text| !text.is_empty());
    Ok(NewExternalFile {
        id: parse(FILE_ID, id)?,
        entity: entity.map(|text| parse(ENTITY_ID, text)).transpose()?,
        actor: user.actor.clone(),
    })
}

/// The name of a file in responses.
pub(super) fn shown_name(name: &str) -> String {
    if name.is_empty() { FILE.to_owned() } else { name.to_owned() }
}
