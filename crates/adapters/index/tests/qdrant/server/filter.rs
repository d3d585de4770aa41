//! Filters of points, evaluated as the server evaluates them.

use ::qdrant_client::qdrant::condition::ConditionOneOf;
use ::qdrant_client::qdrant::r#match::MatchValue;
use ::qdrant_client::qdrant::value::Kind;
use ::qdrant_client::qdrant::{Condition, FieldCondition, Filter, PointStruct, Range, Value};
use tonic::Status;

/// Whether a point meets a filter: one of `should`, all of `must` and none of `must_not`, where each of the lists is ignored
/// if it is empty.
pub(super) fn fits(point: &PointStruct, filter: &Filter) -> Result<bool, Status> {
    if filter.min_should.is_some() {
        return Err(Status::unimplemented("min_should"));
    }
    let each = |conditions: &[Condition]| {
        conditions.iter().map(|condition| holds(point, condition)).collect::<Result<Vec<bool>, _>>()
    };
    let (should, must, must_not) = (each(&filter.should)?, each(&filter.must)?, each(&filter.must_not)?);
    let one = should.is_empty() || should.contains(&true);
    Ok(one && !must.contains(&false) && !must_not.contains(&true))
}

fn holds(point: &PointStruct, condition: &Condition) -> Result<bool, Status> {
    match condition.condition_one_of.as_ref() {
        Some(ConditionOneOf::HasId(ids)) => Ok(ids.has_id.iter().any(|id| Some(id) == point.id.as_ref())),
        Some(ConditionOneOf::Field(field)) => field_holds(point, field),
        // Missing, null and an empty list are the same.
        Some(ConditionOneOf::IsEmpty(field)) => {
            Ok(match value_at(point, &field.key)?.and_then(|of| of.kind.as_ref()) {
                None | Some(Kind::NullValue(_)) => true,
                Some(Kind::ListValue(list)) => list.values.is_empty(),
                Some(_) => false,
            })
        }
        Some(ConditionOneOf::Filter(filter)) if *filter != Filter::default() => fits(point, filter),
        // The server drops empty conditions, which would then select all points.
        None | Some(ConditionOneOf::Filter(_)) => Err(Status::invalid_argument("empty condition")),
        Some(_) => Err(Status::unimplemented("condition")),
    }
}

/// A missing field meets no condition. A list meets a condition if one of its items does.
fn field_holds(point: &PointStruct, field: &FieldCondition) -> Result<bool, Status> {
    let Some(value) = value_at(point, &field.key)? else { return Ok(false) };
    let values = match &value.kind {
        Some(Kind::ListValue(list)) => &list.values[..],
        _ => std::slice::from_ref(value),
    };
    let matched = field.r#match.as_ref().and_then(|of| of.match_value.as_ref());
    let check = |value: &Value| match (matched, &field.range) {
        (Some(matched), None) => is_match(value, matched),
        (None, Some(range)) => is_in_range(value, range),
        _ => Err(Status::unimplemented("field condition")),
    };
    let checked = values.iter().map(check).collect::<Result<Vec<bool>, _>>()?;
    Ok(checked.contains(&true))
}

/// Values of other types do not match. There is no match of fractions.
fn is_match(value: &Value, matched: &MatchValue) -> Result<bool, Status> {
    match (matched, &value.kind) {
        (MatchValue::Keyword(word), Some(Kind::StringValue(text))) => Ok(word == text),
        (MatchValue::Keywords(words), Some(Kind::StringValue(text))) => Ok(words.strings.contains(text)),
        (MatchValue::Boolean(one), Some(Kind::BoolValue(other))) => Ok(one == other),
        (MatchValue::Keyword(_) | MatchValue::Keywords(_) | MatchValue::Boolean(_), _) => Ok(false),
        _ => Err(Status::unimplemented("match")),
    }
}

/// Integers and fractions are compared as fractions; other values are in no range.
fn is_in_range(value: &Value, range: &Range) -> Result<bool, Status> {
    if *range == Range::default() {
        return Err(Status::unimplemented("range without bounds"));
    }
    let number = match value.kind {
        Some(Kind::IntegerValue(number)) => number as f64,
        Some(Kind::DoubleValue(number)) => number,
        _ => return Ok(false),
    };
    let (Range { lt, gt, gte, lte }, holds) = (*range, |bound: Option<f64>, fits: fn(&f64, &f64) -> bool| {
        bound.is_none_or(|bound| fits(&number, &bound))
    });
    Ok(holds(lt, f64::lt) && holds(gt, f64::gt) && holds(gte, f64::ge) && holds(lte, f64::le))
}

/// The value at a JSON path: keys between dots, in quotation marks if they have other characters than letters, digits, `_`
/// and `-`.
fn value_at<'p>(point: &'p PointStruct, path: &str) -> Result<Option<&'p Value>, Status> {
    let invalid = || Status::invalid_argument(format!("invalid path {path}"));
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(invalid)?,
            None => rest.split_at(rest.find(|c: char| !is_plain(c)).unwrap_or(rest.len())),
        };
        if key.is_empty() || key.contains('\\') {
            return Err(invalid());
        }
        keys.push(key);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => break,
            None => return Err(invalid()),
        }
    }
    let mut found = point.payload.get(keys[0]);
    for key in &keys[1..] {
        found = match found.and_then(|value| value.kind.as_ref()) {
            Some(Kind::StructValue(object)) => object.fields.get(*key),
            _ => None,
        };
    }
    Ok(found)
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}
