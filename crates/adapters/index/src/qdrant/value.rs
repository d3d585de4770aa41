//! Values of payload fields.

use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{ListValue, Struct, Value};
use std::collections::HashMap;

pub(super) fn fields<const N: usize>(fields: [(&str, Value); N]) -> HashMap<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(super) fn object<const N: usize>(of: [(&str, Value); N]) -> Value {
    object_of(fields(of))
}

pub(super) fn object_of(fields: HashMap<String, Value>) -> Value {
    Value { kind: Some(Kind::StructValue(Struct { fields })) }
}

pub(super) fn list(values: Vec<Value>) -> Value {
    Value { kind: Some(Kind::ListValue(ListValue { values })) }
}

pub(super) fn string(text: String) -> Value {
    Value { kind: Some(Kind::StringValue(text)) }
}

pub(super) fn number(n: u32) -> Value {
    integer(n.into())
}

pub(super) fn integer(n: i64) -> Value {
    Value { kind: Some(Kind::IntegerValue(n)) }
}

pub(super) fn take_string(payload: &mut HashMap<String, Value>, name: &str) -> Option<String> {
    match payload.remove(name)?.kind? {
        Kind::StringValue(text) => Some(text),
        _ => None,
    }
}

pub(super) fn read_number(value: &Value) -> Option<u32> {
    match value.kind.as_ref()? {
        Kind::IntegerValue(n) => u32::try_from(*n).ok(),
        _ => None,
    }
}

pub(super) fn read_field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value.kind.as_ref()? {
        Kind::StructValue(of) => of.fields.get(name),
        _ => None,
    }
}
