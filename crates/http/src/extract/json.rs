//! JSON bodies, read into values with every fault named.

use crate::{
    context::{self, State},
    error::{ApiError, FieldError, Loc},
};
use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::{StatusCode, header},
    web::{Bytes, BytesMut},
};
use docent_domain::error::ValidationError;
use futures::StreamExt;
use serde_json::{Map, Value};
use std::{
    future::{Ready, ready},
    ops::RangeInclusive,
    str::FromStr,
};

/// A body that has not been read yet.
pub struct Body {
    context: State,
    announced: Option<u64>,
    payload: Payload,
}

impl FromRequest for Body {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let announced = request.headers().get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|value| value.to_str().ok()?.parse().ok());
        let payload = payload.take();
        ready(context::of(request).map(|context| Self { context, announced, payload }))
    }
}

impl Body {
    /// Reads the body, which must be a JSON object. Its content type does not matter: whoever
    /// sends JSON means JSON.
    pub async fn fields(self) -> Result<Fields, ApiError> {
        Self::read(&self.bytes().await?)
    }

    /// The same for a body that may be missing or null, which is an object without fields.
    pub async fn optional_fields(self) -> Result<Fields, ApiError> {
        let bytes = self.bytes().await?;
        Self::read(if matches!(&*bytes, b"" | b"null") { b"{}" } else { &bytes })
    }

    fn read(bytes: &[u8]) -> Result<Fields, ApiError> {
        let value = serde_json::from_slice(bytes).map_err(|error| {
            let msg = format!("must be valid JSON: line {}, column {}", error.line(), error.column());
            ApiError::invalid_field(&["body"], if bytes.is_empty() { "is missing".to_owned() } else { msg })
        })?;
        match value {
            Value::Object(object) => Ok(Fields { object, loc: vec![Loc::Name("body")], errors: Vec::new() }),
            _ => Err(ApiError::invalid_field(&["body"], "must be a JSON object")),
        }
    }

    /// The body as it is.
    pub async fn bytes(mut self) -> Result<Bytes, ApiError> {
        let limit = self.context.settings.max_json_bytes;
        if self.announced.is_some_and(|length| length > limit as u64) {
            return Err(ApiError::too_large(limit as u64));
        }
        let mut bytes = BytesMut::new();
        while let Some(chunk) = next_chunk(&self.context, &mut self.payload).await? {
            if bytes.len() + chunk.len() > limit {
                return Err(ApiError::too_large(limit as u64));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    }
}

/// The next bytes of a body; a client that pauses too long is given up.
async fn next_chunk(context: &State, payload: &mut Payload) -> Result<Option<Bytes>, ApiError> {
    tokio::select! {
        chunk = payload.next() => chunk.transpose().map_err(|_| broken_body()),
        () = context.app.sleep(context.settings.body_timeout) => Err(timed_out()),
    }
}

/// 400: the connection broke in the middle of a body.
pub fn broken_body() -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "The request body ended too early")
}

/// 408: the client stopped sending.
pub fn timed_out() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "The request body took too long")
}

/// A whole number, which JSON may also write as `42.0`.
fn whole(value: &Value) -> Option<u64> {
    /// Up to here every whole number has a form of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = |number: &f64| number.fract() == 0.0 && (0.0..=EXACT).contains(number);
    value.as_u64().or_else(|| value.as_f64().filter(exact).map(|number| number as u64))
}

/// The fields of a JSON object. Reading one notes what is wrong with it; [`Self::done`] tells all of
/// it at once.
pub struct Fields {
    object: Map<String, Value>,
    loc: Vec<Loc>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The fields of an object that came in another way than as a body.
    pub fn of(object: Map<String, Value>) -> Self {
        Self { object, loc: Vec::new(), errors: Vec::new() }
    }

    /// A string that must be there.
    pub fn text(&mut self, name: &'static str) -> Option<String> {
        match self.object.remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(_) => self.wrong(name, "must be a string"),
            None => self.wrong(name, "is required"),
        }
    }

    /// A string that may be missing or null.
    pub fn optional_text(&mut self, name: &'static str) -> Option<String> {
        match self.object.remove(name) {
            Some(Value::String(text)) => Some(text),
            None | Some(Value::Null) => None,
            Some(_) => self.wrong(name, "must be a string"),
        }
    }

    /// A value of any kind; none when it is missing or null.
    pub fn value(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name).filter(|value| !value.is_null())
    }

    /// A boolean that may be missing or null, which is `false`.
    pub fn flag(&mut self, name: &'static str) -> bool {
        match self.object.remove(name) {
            Some(Value::Bool(flag)) => flag,
            None | Some(Value::Null) => false,
            Some(_) => self.wrong(name, "must be true or false").unwrap_or(false),
        }
    }

    /// A whole number in a range, that may be missing or null.
    pub fn optional_number(&mut self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        match self.object.remove(name)? {
            Value::Null => None,
            value => whole(&value).filter(|number| range.contains(number)).or_else(|| {
                self.wrong(name, format!("must be a whole number from {} to {}", range.start(), range.end()))
            }),
        }
    }

    /// A whole number in a range, that must be there.
    pub fn number(&mut self, name: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        match self.object.get(name) {
            None | Some(Value::Null) => self.wrong(name, "is required"),
            Some(_) => self.optional_number(name, range),
        }
    }

    /// A list of at most `most` UUIDs, that may be missing or null.
    pub fn optional_ids<Id: FromStr>(&mut self, name: &'static str, most: usize) -> Option<Vec<Id>> {
        let items = match self.object.remove(name)? {
            Value::Null => return None,
            Value::Array(items) if items.len() <= most => items,
            Value::Array(_) => return self.wrong(name, format!("must have at most {most} items")),
            _ => return self.wrong(name, "must be a list"),
        };
        let mut ids = Vec::with_capacity(items.len());
        for (n, item) in items.iter().enumerate() {
            match item.as_str().map(str::parse) {
                Some(Ok(id)) => ids.push(id),
                _ => {
                    let loc = [self.loc.as_slice(), &[Loc::Name(name), Loc::Index(n)]].concat();
                    self.errors.push(FieldError { loc, msg: "must be a UUID".to_owned() });
                }
            }
        }
        Some(ids)
    }

    /// The objects of a list that must be there, each read by `read`.
    pub fn list<T>(&mut self, name: &'static str, mut read: impl FnMut(&mut Fields) -> Option<T>) -> Vec<T> {
        let items = match self.object.remove(name) {
            Some(Value::Array(items)) => items,
            Some(_) => self.wrong(name, "must be a list").unwrap_or_default(),
            None => self.wrong(name, "is required").unwrap_or_default(),
        };
        let mut values = Vec::with_capacity(items.len());
        for (n, item) in items.into_iter().enumerate() {
            let loc = [self.loc.as_slice(), &[Loc::Name(name), Loc::Index(n)]].concat();
            let Value::Object(object) = item else {
                self.errors.push(FieldError { loc, msg: "must be an object".to_owned() });
                continue;
            };
            let mut fields = Fields { object, loc, errors: Vec::new() };
            values.extend(read(&mut fields));
            self.errors.append(&mut fields.errors);
        }
        values
    }

    /// Turns a string into a value of the domain.
    pub fn parse<T>(
        &mut self,
        name: &'static str,
        text: Option<String>,
        parse: impl FnOnce(&str) -> Result<T, ValidationError>,
    ) -> Option<T> {
        match parse(&text?) {
            Ok(value) => Some(value),
            Err(invalid) => self.wrong(name, invalid.reason),
        }
    }

    /// Notes that a field breaks a rule.
    pub fn wrong<T>(&mut self, name: &'static str, msg: impl Into<String>) -> Option<T> {
        let mut loc = self.loc.clone();
        loc.push(Loc::Name(name));
        self.errors.push(FieldError { loc, msg: msg.into() });
        None
    }

    /// Whether something was wrong so far.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// `value`, if nothing was wrong.
    pub fn done<T>(self, value: Option<T>) -> Result<T, ApiError> {
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(ApiError::invalid(self.errors)),
        }
    }
}
