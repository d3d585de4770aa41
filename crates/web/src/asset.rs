//! Stylesheets and scripts.

use actix_web::http::header::{self, AcceptEncoding, Encoding, Header};
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Content type of stylesheets.
pub(crate) const CSS: &str = "text/css; charset=utf-8";
/// Content type of scripts.
pub(crate) const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// A static asset of the pages, and the same compressed.
pub(crate) struct Asset {
    content_type: &'static str,
    text: String,
    gzip: Option<Vec<u8>>,
}

impl Asset {
    /// Compresses the asset once, for all requests.
    pub(crate) fn new(content_type: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        // Writing to memory does not fail; without the compressed text, the asset would be sent as it is.
        let gzip = compress(&text).ok();
        Self { content_type, text, gzip }
    }

    /// The text of the asset.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the asset, compressed if the client accepts that.
    pub(crate) fn respond(&'static self, request: &HttpRequest) -> HttpResponse {
        let mut response = HttpResponse::Ok();
        response
            .content_type(self.content_type)
            .insert_header((header::CACHE_CONTROL, "public, max-age=3600"))
            .append_header((header::VARY, "Accept-Encoding"));
        match &self.gzip {
            Some(gzip) if accepts_gzip(request) => {
                response.insert_header((header::CONTENT_ENCODING, "gzip")).body(gzip.as_slice())
            }
            _ => response.body(self.text.as_str()),
        }
    }
}

fn compress(text: &str) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// Whether the client prefers gzip to no encoding.
fn accepts_gzip(request: &HttpRequest) -> bool {
    let supported = [Encoding::gzip(), Encoding::identity()];
    let accepted = AcceptEncoding::parse(request).ok();
    accepted.and_then(|accepted| accepted.negotiate(supported.iter())) == Some(Encoding::gzip())
}
