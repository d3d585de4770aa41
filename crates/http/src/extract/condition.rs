//! Conditions on attributes of documents, with the grammar of filters in vector stores of the OpenAI API.

use docent_domain::attributes::{AttributeKey, AttributeValue};
use docent_domain::condition::{COMPARISONS_MAX, CONDITION_DEPTH_MAX, Comparison, Condition};
use docent_domain::error::ValidationError;
use serde_json::{Map, Value};

/// The largest whole number of an attribute: 2^53, up to which none loses digits.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Parses a condition that is given as text.
///
/// # Errors
/// If it is not JSON, or not a condition.
pub fn condition_of_text(text: &str) -> Result<Condition, ValidationError> {
    let value = serde_json::from_str(text).map_err(|_| invalid("must be JSON"))?;
    condition(&value, 1)?.checked()
}

/// Parses the field `filters` of a body.
///
/// # Errors
/// If it is not a condition.
pub fn parse_filters(value: Option<Value>) -> Result<Option<Condition>, ValidationError> {
    value.map(|value| condition(&value, 1)?.checked()).transpose()
}

/// Parses filters in a parameter of a URL.
///
/// # Errors
/// If they are no condition.
pub fn filters_of_text(text: &str) -> Result<Condition, ValidationError> {
    let value: Value = serde_json::from_str(text).map_err(|_| invalid("must be a JSON object"))?;
    condition(&value, 1)?.checked()
}

fn condition(value: &Value, depth: usize) -> Result<Condition, ValidationError> {
    if depth > CONDITION_DEPTH_MAX {
        return Err(invalid(format!("must not be nested deeper than {CONDITION_DEPTH_MAX} levels")));
    }
    let object = value.as_object().ok_or_else(|| invalid("must be objects with \"type\""))?;
    let kind = object.get("type").and_then(Value::as_str).ok_or_else(|| invalid("must have a \"type\""))?;
    if let "and" | "or" = kind {
        check_keys(object, &["type", "filters"])?;
        let parts = object.get("filters").and_then(Value::as_array);
        let parts =
            parts.ok_or_else(|| invalid("of the types \"and\" and \"or\" must have a list \"filters\""))?;
        if parts.len() > COMPARISONS_MAX {
            return Err(invalid(format!("must have at most {COMPARISONS_MAX} comparisons")));
        }
        let parts = parts.iter().map(|part| condition(part, depth + 1)).collect::<Result<_, _>>()?;
        return Ok(if kind == "and" { Condition::And(parts) } else { Condition::Or(parts) });
    }
    let comparison = Comparison::parse(kind)
        .ok_or_else(|| invalid("must have a type eq, ne, gt, gte, lt, lte, in, nin, and or or"))?;
    check_keys(object, &["type", "key", "value"])?;
    let key = object.get("key").and_then(Value::as_str).ok_or_else(|| invalid("must have a \"key\""))?;
    let key = AttributeKey::parse(key).map_err(|error| invalid(error.reason))?;
    let value = object.get("value").ok_or_else(|| invalid("must have a \"value\""))?;
    let values = match (comparison, value) {
        (Comparison::In | Comparison::Nin, Value::Array(values)) if values.len() > COMPARISONS_MAX => {
            return Err(invalid(format!("must have at most {COMPARISONS_MAX} comparisons")));
        }
        (Comparison::In | Comparison::Nin, Value::Array(values)) => {
            values.iter().map(attribute_value).collect::<Result<_, _>>()?
        }
        (Comparison::In | Comparison::Nin, _) => {
            return Err(invalid("of the types \"in\" and \"nin\" must have a list of values"));
        }
        (_, value) => vec![attribute_value(value)?],
    };
    Condition::compare(key, comparison, values)
}

fn check_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), ValidationError> {
    match object.keys().all(|key| known.contains(&key.as_str())) {
        true => Ok(()),
        false => Err(invalid(format!("must have no other fields than {}", known.join(", ")))),
    }
}

/// Parses the value of an attribute.
///
/// # Errors
/// If it is not a string, a number or a boolean, too long, or so large that it loses digits.
pub fn attribute_value(value: &Value) -> Result<AttributeValue, ValidationError> {
    match value {
        Value::String(text) => AttributeValue::string(text),
        Value::Number(number) => match number.as_f64() {
            // A whole number that does not fit into 64 bits is a fraction for the parser.
            Some(float) if number.is_f64() || float.abs() <= MAX_WHOLE => AttributeValue::number(float),
            Some(_) | None => {
                Err(invalid("can have whole numbers from -2^53 to 2^53; use a string for longer ones"))
            }
        },
        Value::Bool(is_true) => Ok(AttributeValue::Boolean(*is_true)),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(invalid("can compare only strings, numbers and booleans"))
        }
    }
    .map_err(|error| invalid(error.reason))
}

fn invalid(reason: impl Into<String>) -> ValidationError {
    ValidationError::new("filters", reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn filters_of_vector_stores_are_read() {
        let read = |value: Value| parse_filters(Some(value)).unwrap().unwrap();
        let key = AttributeKey::parse("year").unwrap();
        let year =
            Condition::compare(key.clone(), Comparison::Eq, vec![AttributeValue::Number(2025.0)]).unwrap();
        assert_eq!(read(json!({ "type": "eq", "key": "year", "value": 2025 })), year);
        let any = Condition::compare(key, Comparison::In, vec![AttributeValue::Boolean(true)]).unwrap();
        let listed = json!({ "type": "in", "key": "year", "value": [true] });
        let nested = json!({ "type": "or", "filters": [listed, { "type": "and", "filters": [] }] });
        assert_eq!(read(nested), Condition::Or(vec![any, Condition::And(Vec::new())]));
    }

    #[test]
    fn wrong_filters_are_rejected() {
        for wrong in [
            json!([]),
            json!({}),
            json!({ "type": "like", "key": "a", "value": "b" }),
            json!({ "type": "eq", "key": "a b", "value": "b" }),
            json!({ "type": "eq", "key": "a", "value": ["b"] }),
            json!({ "type": "in", "key": "a", "value": "b" }),
            json!({ "type": "gt", "key": "a", "value": "b" }),
            json!({ "type": "eq", "key": "a", "value": null }),
            json!({ "type": "eq", "key": "a", "value": 1, "more": 2 }),
            json!({ "type": "and", "filters": {} }),
            json!({ "type": "in", "key": "a", "value": vec![1; 201] }),
            json!({ "type": "eq", "key": "a", "value": 9_007_199_254_740_994_u64 }),
            json!({ "type": "eq", "key": "a", "value": i64::MIN }),
        ] {
            assert!(parse_filters(Some(wrong.clone())).is_err(), "{wrong}");
        }
        let deep = (0..1000).fold(
            json!({ "type": "and", "filters": [] }),
            |inner, _| json!({ "type": "and", "filters": [inner] }),
        );
        assert!(parse_filters(Some(deep)).is_err());
    }
}
