//! Query parameters.

use crate::error::{ApiError, FieldError};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use docent_domain::error::ValidationError;
use std::future::{Ready, ready};

/// The decoded query parameters. Unknown and empty ones are ignored, since forms send empty fields;
/// of repeated ones the last is used.
pub struct Query {
    pairs: Vec<(String, String)>,
    errors: Vec<FieldError>,
}

impl FromRequest for Query {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string());
        ready(
            pairs
                .map(|pairs| Self { pairs: pairs.into_inner(), errors: Vec::new() })
                .map_err(|_| ApiError::invalid_field(&["query"], "cannot be decoded")),
        )
    }
}

impl Query {
    /// Returns the parameter with this name.
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().rev().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Returns all values of the parameter with this name that are not empty.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let named = self.pairs.iter().filter(move |(key, value)| key == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    /// Parses the parameter with this name. If `parse` returns `None`, the parameter is reported with `msg`.
    pub fn parse<T>(
        &mut self,
        name: &'static str,
        msg: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = parse(self.text(name)?);
        if value.is_none() {
            self.report(name, msg);
        }
        value
    }

    /// Like [`parse`](Self::parse), but an empty value is invalid. For parameters without which a request means more documents.
    pub fn parse_given<T>(
        &mut self,
        name: &'static str,
        msg: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.require_value(name, msg);
        self.parse(name, msg, parse)
    }

    /// Reports a parameter with an empty value.
    pub fn require_value(&mut self, name: &'static str, msg: &str) {
        if self.text(name).is_none() && self.pairs.iter().any(|(key, _)| key == name) {
            self.report(name, msg);
        }
    }

    /// Like [`parse`](Self::parse), with the reasons of `parse`.
    pub fn check<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, ValidationError>,
    ) -> Option<T> {
        match parse(self.text(name)?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.report(name, &error.reason);
                None
            }
        }
    }

    fn report(&mut self, name: &'static str, msg: &str) {
        let loc = vec!["query".into(), name.into()];
        self.errors.push(FieldError { loc, msg: msg.to_owned() });
    }

    /// Returns an error if a parameter was invalid.
    pub fn done(self) -> Result<(), ApiError> {
        if self.errors.is_empty() { Ok(()) } else { Err(ApiError::invalid(self.errors)) }
    }
}

/// Encodes the present parameters.
pub fn encode_query(pairs: &[(&str, Option<&str>)]) -> String {
    let encode = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            })
            .collect()
    };
    let given =
        pairs.iter().filter_map(|(name, value)| value.map(|value| format!("{name}={}", encode(value))));
    given.collect::<Vec<_>>().join("&")
}
