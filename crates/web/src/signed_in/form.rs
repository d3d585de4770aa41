//! Submitted forms and their validation errors.

use super::page::PageError;
use super::session;
use crate::language::request::AccountLanguage;
use crate::language::{self, t};
use crate::session_cookie;
use actix_session::SessionExt;
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest};
use docent_app::error::Error;
use docent_domain::collection::OPEN_COLLECTIONS_MAX;
use docent_domain::error::{Rule, ValidationError};
use docent_http::ApiError;
pub(crate) use docent_http::Form;
use futures::future::LocalBoxFuture;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;

/// Maximum size of the forms of an account in bytes, such as for a pasted list of addresses.
const MAX_BYTES: usize = 256 * 1024;

/// Form with a valid CSRF token of this session.
pub(crate) struct OwnForm(Form);

impl Deref for OwnForm {
    type Target = Form;

    fn deref(&self) -> &Form {
        &self.0
    }
}

impl FromRequest for OwnForm {
    type Error = PageError;
    type Future = LocalBoxFuture<'static, Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let cookie = request.get_session();
        let form = match session_cookie::id_of(&cookie) {
            Some(_) => Form::read(request, payload, MAX_BYTES),
            None => Form::from_request(request, payload),
        };
        let language = AccountLanguage::from_request(request, &mut Payload::None);
        Box::pin(async move {
            let form = form.await?;
            if session::is_own_form(&cookie, form.text("form_token")) {
                Ok(Self(form))
            } else {
                // The extractor of the account may not have ended yet.
                let _ = language.await;
                Err(ApiError::new(StatusCode::FORBIDDEN, t!("form-expired")).into())
            }
        })
    }
}

/// Digest of the record that a form was filled with, to detect concurrent changes.
pub(crate) fn digest(record: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    record.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Whether a form was filled from an older version of the record than the one with this [`digest`]. Forms without a
/// digest, as sent by programs, are accepted.
pub(crate) fn is_stale(form: &Form, digest: &str) -> bool {
    !matches!(form.text("seen"), "") && form.text("seen") != digest
}

/// Validation errors by field name.
#[derive(Default)]
pub(crate) struct FieldErrors(BTreeMap<&'static str, String>);

impl FieldErrors {
    /// Returns the value, or records its error.
    pub(crate) fn take<T>(&mut self, field: &'static str, value: Result<T, ValidationError>) -> Option<T> {
        value.map_err(|invalid| self.add(field, language::reason(&invalid))).ok()
    }

    /// Records an error of a field, phrased to follow the field's label.
    pub(crate) fn add(&mut self, field: &'static str, reason: impl Into<String>) {
        self.0.entry(field).or_insert_with(|| reason.into());
    }

    /// Records that a field violates a rule.
    pub(crate) fn add_rule(&mut self, field: &'static str, rule: Rule) {
        self.add(field, language::reason(&ValidationError::of(field, rule)));
    }

    /// Records a validation error of a use case; returns other errors.
    pub(crate) fn add_from(&mut self, error: Error) -> Result<(), Error> {
        match error {
            Error::Invalid(invalid) => self.add(invalid.field, language::reason(&invalid)),
            Error::EmailTaken => self.add("email", t!("is-in-use")),
            Error::NameTaken => self.add("name", t!("is-in-use")),
            Error::TooManyOpenCollections => {
                self.add("role_of_all", t!("role-of-all-too-many", max = OPEN_COLLECTIONS_MAX));
            }
            other => return Err(other),
        }
        Ok(())
    }

    /// Error of a field, if any.
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }

    /// Status of the response with the form.
    pub(crate) fn status(&self) -> StatusCode {
        if self.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
