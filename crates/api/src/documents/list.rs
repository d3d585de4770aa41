//! `GET /documents`
//!
//! All documents, or, with the extension parameters, a page of some of them. The body stays an array, so
//! where the next page begins is told in the headers `Link` and `X-Next-Cursor`.

use super::response::DocumentResponse;
use crate::openapi::answers;
use actix_web::{HttpResponse, http::header};
use chrono::DateTime;
use docent_app::documents::list::{self as use_case};
use docent_domain::{
    access::ReadDocuments,
    document::Document,
    listing::{DocumentFilter, ListPosition},
};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::query::encode_query,
    extract::{granted::Granted, query::Query},
};

/// The largest page.
const LIMIT_MAX: u64 = 1000;
/// The most characters to search titles for.
const Q_MAX: usize = 200;
const STATUSES: [&str; 3] = ["pending", "ingested", "failed"];

/// List documents
///
/// All of them, newest first. The parameters, which are an extension, narrow the list down; with `limit`, the headers `Link` and
/// `X-Next-Cursor` lead to the rest, if there is one. A parameter that is empty counts as absent.
#[utoipa::path(
    get, path = "/documents", operation_id = "list_documents", tag = "Documents",
    params(
        ("limit" = Option<u64>, Query, description = "How many at most.", minimum = 1, maximum = 1000, nullable = false),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the page before.", nullable = false,
            pattern = r"^([0-9]{1,15}\.[0-9a-f]{32})?$", example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e",
        ),
        (
            "status" = Option<super::response::DocumentStatus>, Query, description = "Only those in this state.", nullable = false, example = "ingested",
        ),
        ("q" = Option<String>, Query, description = "Only those with this in their title.", max_length = 200, nullable = false),
    ),
    responses(
        (
            status = 200, description = "The documents.", body = [DocumentResponse<'_>],
            headers(
                ("Link" = String, description = "With `rel=\"next\"`: where the next page is, if there is one."),
                ("X-Next-Cursor" = String, description = "The `cursor` of the next page, if there is one."),
            ),
        ),
        answers::Guarded,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn list(by: Granted<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let mut filter = filter(&mut query);
    let limit = query.parse("limit", "must be a whole number from 1 to 1000", |text| {
        text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit))
    });
    let search = query.text("q").map(str::to_owned);
    query.done()?;
    // One more than asked for tells whether there is another page.
    filter.limit = limit.map(|limit| limit + 1);
    let mut documents = use_case::list(&context.app, by.grant, &filter).await?;

    let mut response = HttpResponse::Ok();
    if let Some(limit) = limit
        && documents.len() as u64 > limit
    {
        documents.truncate(limit as usize);
        if let Some(last) = documents.last() {
            let cursor = cursor(last);
            let link = next_link(limit, &cursor, filter.status, search.as_deref())?;
            response.insert_header((header::LINK, link)).insert_header(("X-Next-Cursor", cursor));
        }
    }
    let documents: Vec<_> = documents.iter().map(DocumentResponse::from).collect();
    Ok(response.json(documents))
}

/// Reads `status`, `q` and `cursor`.
pub(crate) fn filter(query: &mut Query) -> DocumentFilter {
    DocumentFilter {
        status: query.parse("status", "must be pending, ingested or failed", |text| {
            STATUSES.into_iter().find(|status| *status == text)
        }),
        title_contains: query.parse("q", "must have at most 200 characters", |text| {
            (text.chars().count() <= Q_MAX).then(|| text.to_owned())
        }),
        after: query.parse("cursor", "is not a cursor of this list", position),
        limit: None,
    }
}

/// The place of a document in the list, as text.
pub(crate) fn cursor(document: &Document) -> String {
    format!("{}.{}", document.created_at.timestamp_micros(), document.id.as_uuid().simple())
}

/// The place that [`cursor`] tells.
pub(crate) fn position(cursor: &str) -> Option<ListPosition> {
    let (micros, id) = cursor.split_once('.')?;
    Some(ListPosition {
        created_at: DateTime::from_timestamp_micros(micros.parse().ok()?)?,
        id: id.parse().ok()?,
    })
}

fn next_link(limit: u64, cursor: &str, status: Option<&str>, q: Option<&str>) -> Result<String, ApiError> {
    let limit = limit.to_string();
    let pairs = [("limit", Some(limit.as_str())), ("cursor", Some(cursor)), ("status", status), ("q", q)];
    Ok(format!("</documents?{}>; rel=\"next\"", encode_query(&pairs)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::{
        id::{DocumentId, UserId},
        text::Title,
    };

    #[test]
    fn a_cursor_leads_back_to_its_place() {
        let at = DateTime::from_timestamp_micros(1_767_225_600_123_456).unwrap();
        let id = DocumentId::generate(at, [7; 10]);
        let owner = UserId::generate(at, [1; 10]);
        let document = Document::new(id, owner, Title::parse("t").unwrap(), None, at);
        assert_eq!(position(&cursor(&document)), Some(ListPosition { created_at: at, id }));
        for wrong in ["", ".", "1", "x.y", "9999999999999999999.0"] {
            assert_eq!(position(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn parameters_are_encoded() {
        assert_eq!(encode_query(&[("q", Some("a&b c/é")), ("status", None)]), "q=a%26b%20c%2F%C3%A9");
    }
}
