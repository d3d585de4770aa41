//! Paging of lists whose body is an array: the next page is in the headers `Link` and `X-Next-Cursor`.

use actix_web::HttpResponse;
use actix_web::http::header;
use chrono::{DateTime, Utc};
use docent_http::Query;
use docent_http::extract::query::encode_query;
use serde::Serialize;
use std::fmt::Display;
use std::str::FromStr;
use utoipa::IntoParams;

/// Default number of records on a page.
pub(crate) const DEFAULT_LIMIT: u64 = 100;
/// Maximum number of records on a page.
const LIMIT_MAX: u64 = 1000;

/// Parameters of lists ordered by time.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "documents what `limit` and `after` read")]
pub(crate) struct Parameters {
    /// Maximum number of records. Default: 100.
    #[param(minimum = 1, maximum = 1000, nullable = false)]
    limit: Option<u64>,
    /// `X-Next-Cursor` of the previous page.
    #[param(
        nullable = false,
        pattern = r"^([0-9]{1,16}\.[0-9a-f]{32})?$",
        example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e"
    )]
    cursor: Option<String>,
}

/// Reads the parameter `limit`.
pub(crate) fn limit(query: &mut Query) -> Option<u64> {
    query.parse("limit", "must be a whole number from 1 to 1000", |text| {
        text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit))
    })
}

/// Reads the parameter `cursor`.
pub(crate) fn after<T>(query: &mut Query, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    query.parse("cursor", "is not a cursor of this list", parse)
}

/// Encodes the position of a record in a list ordered by time.
pub(crate) fn cursor(at: DateTime<Utc>, id: impl Display) -> String {
    format!("{}.{}", at.timestamp_micros(), id.to_string().replace('-', ""))
}

/// Decodes a position encoded by [`cursor`].
pub(crate) fn position<Id: FromStr>(cursor: &str) -> Option<(DateTime<Utc>, Id)> {
    let (micros, id) = cursor.split_once('.')?;
    Some((DateTime::from_timestamp_micros(micros.parse().ok()?)?, id.parse().ok()?))
}

/// Limits `found`, which has one record more than requested if there is another page, and returns the cursor of that page.
pub(crate) fn truncate<T>(
    found: &mut Vec<T>,
    limit: u64,
    cursor: impl FnOnce(&T) -> String,
) -> Option<String> {
    let has_more = found.len() as u64 > limit;
    found.truncate(limit as usize);
    found.last().filter(|_| has_more).map(cursor)
}

/// Builds the response. `next` is the cursor of the next page, `parameters` are those that it repeats.
pub(crate) fn response(
    body: impl Serialize,
    path: &str,
    parameters: &[(&str, Option<&str>)],
    limit: u64,
    next: Option<String>,
) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    if let Some(cursor) = next {
        let limit = limit.to_string();
        let own = [("limit", Some(limit.as_str())), ("cursor", Some(cursor.as_str()))];
        let query = encode_query(&[&own, parameters].concat());
        let link = format!("<{path}?{query}>; rel=\"next\"");
        response.insert_header((header::LINK, link)).insert_header(("X-Next-Cursor", cursor));
    }
    response.json(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::id::DocumentId;

    #[test]
    fn cursor_encodes_its_position() {
        let at = DateTime::from_timestamp_micros(1_767_225_600_123_456).unwrap();
        let id = DocumentId::generate(at, [7; 10]);
        assert_eq!(position(&cursor(at, id)), Some((at, id)));
        for wrong in ["", ".", "1", "x.y", "9999999999999999999.0"] {
            assert_eq!(position::<DocumentId>(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn query_parameters_are_percent_encoded() {
        assert_eq!(encode_query(&[("q", Some("a&b c/é")), ("status", None)]), "q=a%26b%20c%2F%C3%A9");
    }
}
