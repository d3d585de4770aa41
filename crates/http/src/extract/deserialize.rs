//! Conversion of JSON values to request types with `deserr`. Every invalid field is reported, with its location.

use crate::error::{ApiError, ERRORS_MAX, FieldError, Loc};
use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, MergeWithError, Sequence, Value, ValueKind,
    ValuePointerRef,
};
use docent_domain::collection::{CollectionDescription, CollectionName, CollectionRole};
use docent_domain::conversation::ConversationTitle;
use docent_domain::error::ValidationError;
use docent_domain::external_file::ExternalId;
use docent_domain::feedback::{FeedbackComment, FeedbackReason};
use docent_domain::group::GroupName;
use docent_domain::id::{CollectionId, ConversationId, DocumentId, MessageId};
use docent_domain::text::{Email, Title};
use docent_domain::webhook::{WebhookDescription, WebhookUrl};
use std::ops::ControlFlow;

/// Characters of an unknown field's name that a response repeats.
const KEY_MAX: usize = 100;

/// Converts a JSON object to `T`.
///
/// # Errors
/// 422 with one entry per invalid field.
pub fn deserialize<T: Deserr<BodyErrors>>(value: serde_json::Value) -> Result<T, ApiError> {
    deserr::deserialize(value).map_err(|BodyErrors(errors)| ApiError::invalid(errors))
}

/// The invalid fields of a JSON body.
#[derive(Debug)]
pub struct BodyErrors(Vec<FieldError>);

impl BodyErrors {
    /// Reports the value at `location`.
    pub fn at(location: ValuePointerRef<'_>, msg: impl Into<String>) -> Self {
        let mut loc = Vec::new();
        let mut step = &location;
        loop {
            step = match step {
                ValuePointerRef::Origin => break,
                ValuePointerRef::Key { key, prev } => {
                    loc.push(Loc::Name(key.chars().take(KEY_MAX).collect::<String>().into()));
                    prev
                }
                ValuePointerRef::Index { index, prev } => {
                    loc.push(Loc::Index(*index));
                    prev
                }
            };
        }
        loc.push("body".into());
        loc.reverse();
        Self(vec![FieldError { loc, msg: msg.into() }])
    }
}

impl MergeWithError<Self> for BodyErrors {
    fn merge(all: Option<Self>, more: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let mut errors = all.map_or_else(Vec::new, |Self(errors)| errors);
        errors.extend(more.0);
        if errors.len() < ERRORS_MAX {
            ControlFlow::Continue(Self(errors))
        } else {
            ControlFlow::Break(Self(errors))
        }
    }
}

impl MergeWithError<ValidationError> for BodyErrors {
    fn merge(
        all: Option<Self>,
        error: ValidationError,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        Self::merge(all, Self::at(location, error.reason), location)
    }
}

impl DeserializeError for BodyErrors {
    fn error<V: IntoValue>(
        all: Option<Self>,
        error: ErrorKind<'_, V>,
        location: ValuePointerRef<'_>,
    ) -> ControlFlow<Self, Self> {
        let error = match error {
            ErrorKind::MissingField { field } => Self::at(location.push_key(field), "is required"),
            ErrorKind::IncorrectValueKind { accepted, .. } => Self::at(location, kind_message(accepted)),
            ErrorKind::UnknownValue { accepted, .. } => {
                Self::at(location, format!("must be {}", alternatives(accepted)))
            }
            ErrorKind::UnknownKey { key, .. } => Self::at(location.push_key(key), "is not a known field"),
            ErrorKind::BadSequenceLen { expected, .. } => {
                Self::at(location, format!("must have {expected} items"))
            }
            ErrorKind::Unexpected { msg } => Self::at(location, msg),
        };
        Self::merge(all, error, location)
    }
}

fn kind_message(accepted: &[ValueKind]) -> &'static str {
    match accepted.first() {
        Some(ValueKind::String) => "must be a string",
        Some(ValueKind::Boolean) => "must be true or false",
        Some(ValueKind::Sequence) => "must be a list",
        Some(ValueKind::Map) => "must be a JSON object",
        Some(ValueKind::Null) => "must be null",
        Some(ValueKind::Integer | ValueKind::NegativeInteger | ValueKind::Float) | None => "must be a number",
    }
}

/// Joins names: `a, b or c`.
fn alternatives(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// A whole number from `MIN` to `MAX`. JSON may write it as `42.0` too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const MIN: u64, const MAX: u64>(pub u64);

impl<const MIN: u64, const MAX: u64> Deserr<BodyErrors> for Whole<MIN, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, BodyErrors> {
        /// Largest integer up to which every integer is a distinct `f64`.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let number = match value {
            Value::Integer(number) => Some(number),
            Value::Float(number) if number.fract() == 0.0 && (0.0..=EXACT).contains(&number) => {
                Some(number as u64)
            }
            _ => None,
        };
        let number = number.filter(|number| (MIN..=MAX).contains(number));
        let msg = || format!("must be a whole number from {MIN} to {MAX}");
        number.map(Self).ok_or_else(|| BodyErrors::at(location, msg()))
    }
}

/// A list with at most `MAX` items. Longer ones are rejected before any item is converted.
#[derive(Debug)]
pub struct List<T, const MAX: usize>(pub Vec<T>);

impl<T: Deserr<BodyErrors>, const MAX: usize> Deserr<BodyErrors> for List<T, MAX> {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, BodyErrors> {
        if let Value::Sequence(items) = &value
            && items.len() > MAX
        {
            return Err(BodyErrors::at(location, format!("must have at most {MAX} items")));
        }
        Deserr::deserialize_from_value(value, location).map(Self)
    }
}

/// Parses strings into domain values.
macro_rules! from_string {
    ($($type:ty: $parse:expr;)+) => {$(
        impl Deserr<BodyErrors> for $type {
            fn deserialize_from_value<V: IntoValue>(
                value: Value<V>,
                location: ValuePointerRef<'_>,
            ) -> Result<Self, BodyErrors> {
                let text: String = Deserr::deserialize_from_value(value, location)?;
                let parse: fn(&str) -> Result<Self, ValidationError> = $parse;
                parse(&text).map_err(|error| BodyErrors::at(location, error.reason))
            }
        }
    )+};
}

from_string! {
    Title: Self::parse;
    ConversationTitle: Self::parse;
    WebhookUrl: Self::parse;
    WebhookDescription: Self::parse;
    CollectionName: Self::parse;
    CollectionDescription: Self::parse;
    CollectionRole: |text| Self::parse(text).ok_or_else(|| {
        ValidationError::new("role", "must be viewer, contributor or manager")
    });
    Email: Self::parse;
    ExternalId: Self::parse;
    GroupName: Self::parse;
    FeedbackComment: Self::parse;
    FeedbackReason: |text| Self::parse(text).ok_or_else(|| {
        let names: Vec<_> = Self::ALL.iter().map(|reason| reason.name()).collect();
        ValidationError::new("reason", format!("must be {}", alternatives(&names)))
    });
    CollectionId: |text| text.parse().map_err(|_| not_a_uuid());
    ConversationId: |text| text.parse().map_err(|_| not_a_uuid());
    MessageId: |text| text.parse().map_err(|_| not_a_uuid());
    DocumentId: |text| text.parse().map_err(|_| not_a_uuid());
}

fn not_a_uuid() -> ValidationError {
    ValidationError::new("id", "must be a UUID")
}
