//! Query parameters.

use crate::error::{FieldError, Loc, Refusal};
use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use std::future::{Ready, ready};

/// The parameters behind the `?`, decoded. Unknown and empty ones are ignored, as forms send those that nobody filled in;
/// of repeated ones the last counts.
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
    errors: Vec<FieldError>,
}

impl FromRequest for Query {
    type Error = Refusal;
    type Future = Ready<Result<Self, Refusal>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(request.query_string());
        ready(
            pairs
                .map(|pairs| Self { pairs: pairs.into_inner(), errors: Vec::new() })
                .map_err(|_| Refusal::invalid_field(&["query"], "cannot be decoded")),
        )
    }
}

impl Query {
    /// The parameter of this name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().rev().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// The parameter of this name, read by `parse`; what it does not read breaks the rule `msg`.
    pub(crate) fn parse<T>(
        &mut self,
        name: &'static str,
        msg: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = parse(self.text(name)?);
        if value.is_none() {
            let loc = vec![Loc::Name("query"), Loc::Name(name)];
            self.errors.push(FieldError { loc, msg: msg.to_owned() });
        }
        value
    }

    /// Whether nothing was wrong.
    pub(crate) fn done(self) -> Result<(), Refusal> {
        if self.errors.is_empty() { Ok(()) } else { Err(Refusal::invalid(self.errors)) }
    }
}
