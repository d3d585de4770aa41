//! The way in for the fuzz targets of `tests/fuzz`; only their builds have it.

use crate::{
    api::documents::upload::receive, context::Context, serve, settings::HttpSettings, streams::Streams,
};
use actix_multipart::Multipart;
use actix_web::{
    ResponseError,
    error::PayloadError,
    http::header::{CONTENT_TYPE, HeaderMap, HeaderValue},
    web::Data,
};
use bytes::Bytes;
use docent_app::App;
use docent_domain::{
    access::{AddDocuments, Grant},
    document::Document,
};
use futures::stream;
use std::{io, sync::Arc};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// What upload forms are given to.
#[allow(missing_debug_implementations, reason = "the use cases have no debug form")]
pub struct UploadForms(Data<Context>);

impl UploadForms {
    /// Forms for this application. Must be called on a runtime.
    ///
    /// # Errors
    /// When there is no runtime, or a page's template is broken.
    pub fn new(app: Arc<App>, settings: HttpSettings) -> io::Result<Self> {
        let context = Context {
            started_at: app.clock.now(),
            app,
            rate_limit: None,
            pages: serve::templates().map_err(io::Error::other)?,
            runtime: Handle::try_current().map_err(io::Error::other)?,
            settings,
            streams: Streams::default(),
            cut: CancellationToken::new(),
        };
        Ok(Self(Data::new(context)))
    }

    /// Takes in a form that comes in these pieces, as `POST /documents/upload` does.
    ///
    /// # Errors
    /// The status of the refusal.
    pub async fn upload(
        &self,
        grant: Grant<AddDocuments>,
        content_type: HeaderValue,
        pieces: Vec<Bytes>,
    ) -> Result<Document, u16> {
        let headers: HeaderMap = [(CONTENT_TYPE, content_type)].into_iter().collect();
        let body = stream::iter(pieces.into_iter().map(Ok::<_, PayloadError>));
        let upload = receive(&self.0, grant, Multipart::new(&headers, body)).await;
        let upload = upload.map_err(|refusal| refusal.status_code().as_u16())?;
        upload.finish().await.map_err(|error| crate::error::Refusal::from(error).status_code().as_u16())
    }
}
