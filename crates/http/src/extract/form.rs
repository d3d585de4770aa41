//! Submitted forms.

use crate::context;
use crate::error::ApiError;
use crate::extract::body::{self, SMALL};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web};
use futures::future::LocalBoxFuture;

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

    /// Returns all fields in the order of the form.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
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
        Self::read(request, payload, SMALL)
    }
}

impl Form {
    /// Reads a form of at most `limit` bytes; [`FromRequest`] reads small ones.
    ///
    /// # Errors
    /// 415 and 422 for something else than a form; those of [`body::read`].
    pub fn read(
        request: &HttpRequest,
        payload: &mut Payload,
        limit: usize,
    ) -> LocalBoxFuture<'static, Result<Self, ApiError>> {
        let (context, mut payload) = (context::from_request(request), payload.take());
        let (is_form, announced) = (is_form(request), body::content_length(request));
        Box::pin(async move {
            if !is_form {
                return Err(ApiError::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    "Forms must be sent as application/x-www-form-urlencoded",
                ));
            }
            let body = body::read(&context?, &mut payload, announced, limit).await?;
            // Browsers send valid forms, so the others are requests of other clients.
            let invalid = || ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "The form is invalid");
            let text = std::str::from_utf8(&body.bytes).map_err(|_| invalid())?;
            // A form is encoded like a query string.
            let fields = web::Query::<Vec<(String, String)>>::from_query(text);
            fields.map(|fields| Self(fields.into_inner())).map_err(|_| invalid())
        })
    }
}

fn is_form(request: &HttpRequest) -> bool {
    request.content_type().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}
