//! Submitted forms.

use crate::error::ApiError;
use crate::extract::json::broken_body;
use actix_web::dev::Payload;
use actix_web::error::UrlencodedError;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, web};
use futures::future::LocalBoxFuture;

/// Maximum size of a form in bytes.
const LIMIT: usize = 64 * 1024;

/// The fields of a form. Not `Debug`, since it can contain a password.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Returns the text of a field, or an empty string.
    pub fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or("")
    }

    /// Returns all values of a field, such as the checked checkboxes.
    pub fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Whether a checkbox is checked.
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

/// Converts an error. Browsers send valid forms, so these are requests of other clients.
fn unreadable(error: &UrlencodedError) -> ApiError {
    match error {
        UrlencodedError::Overflow { .. } => ApiError::too_large(LIMIT as u64),
        UrlencodedError::ContentType => ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Forms must be sent as application/x-www-form-urlencoded",
        ),
        UrlencodedError::Payload(_) => broken_body(),
        _ => ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "The form is invalid"),
    }
}
