//! Submitted forms.

use super::page::Broken;
use crate::error::Refusal;
use actix_web::{FromRequest, HttpRequest, dev::Payload, http::StatusCode, web};
use futures::future::LocalBoxFuture;
use std::collections::HashMap;

/// The fields of a submitted form. It may hold a password, so it has no debug form.
pub(super) struct Form(HashMap<String, String>);

impl Form {
    /// A field's text; empty when it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

impl FromRequest for Form {
    type Error = Broken;
    type Future = LocalBoxFuture<'static, Result<Self, Broken>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        // At most 16 KiB, actix-web's own limit for forms.
        let form = web::Form::<HashMap<String, String>>::from_request(request, payload);
        Box::pin(async move {
            let unreadable = |_| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "The form cannot be read");
            Ok(Self(form.await.map_err(unreadable)?.into_inner()))
        })
    }
}
