//! Entry points for the fuzz targets of `tests/fuzz`.

use crate::context::Context;
use crate::error::ApiError;
use crate::extract::upload::{parts_of, receive};
use crate::settings::HttpSettings;
use actix_web::ResponseError;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use actix_web::web::Data;
use bytes::Bytes;
use docent_app::App;
use docent_app::documents::upload::NewDocument;
use docent_domain::access::{AddDocuments, Grant};
use docent_domain::document::Document;
use docent_domain::id::CollectionId;
use futures::stream;
use std::io;
use std::sync::Arc;

/// Receiver of upload forms.
#[allow(missing_debug_implementations, reason = "the use cases have no debug form")]
pub struct UploadForms(Data<Context>);

impl UploadForms {
    /// Creates a receiver for this application. Must be called on a runtime.
    ///
    /// # Errors
    /// If there is no runtime.
    pub fn new(app: Arc<App>, settings: HttpSettings) -> io::Result<Self> {
        let context = Context::new(app, HttpSettings { rate_limit: None, ..settings }, Vec::new())?;
        Ok(Self(Data::new(context)))
    }

    /// Receives a form in these chunks, as `POST /documents/upload` does.
    ///
    /// # Errors
    /// The status of the error.
    pub async fn upload(
        &self,
        grant: Grant<AddDocuments>,
        content_type: HeaderValue,
        pieces: Vec<Bytes>,
    ) -> Result<Document, u16> {
        let headers: HeaderMap = [(CONTENT_TYPE, content_type)].into_iter().collect();
        let body = stream::iter(pieces.into_iter().map(Ok::<_, PayloadError>));
        let document = NewDocument::new(grant, CollectionId::EVERYONE);
        let upload = receive(&self.0, document, parts_of(&headers, body), None).await;
        let upload = upload.map_err(|error| error.status_code().as_u16())?;
        let uploaded = upload.finish().await.map_err(|error| ApiError::from(error).status_code().as_u16())?;
        Ok(uploaded.document)
    }
}
