//! Submitted forms.

use crate::{error::ApiError, extract::json::broken_body};
use actix_web::{FromRequest, HttpRequest, dev::Payload, error::UrlencodedError, http::StatusCode, web};
use futures::future::LocalBoxFuture;

/// The most bytes of a submitted form.
const LIMIT: usize = 64 * 1024;

/// The fields of a submitted form. It may hold a password, so it has no debug form.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// A field's text; empty when it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or("")
    }

    /// All values of a field, such as of the boxes that are ticked.
    pub fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Whether a box is ticked.
    pub fn is_ticked(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }
}

impl FromRequest for Form {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let read = web::UrlEncoded::<Vec<(String, String)>>::new(request, payload).limit(LIMIT);
        Box::pin(async move { read.await.map(Self).map_err(|error| unreadable(&error)) })
    }
}

/// What browsers send can be read: whoever gets this has made a request by hand.
fn unreadable(error: &UrlencodedError) -> ApiError {
    match error {
        UrlencodedError::Overflow { .. } => ApiError::too_large(LIMIT as u64),
        UrlencodedError::ContentType => {
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "This is not how forms are sent")
        }
        UrlencodedError::Payload(_) => broken_body(),
        _ => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "The form is invalid"),
    }
}
