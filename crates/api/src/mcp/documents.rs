//! What the tools do.

use super::outcome::{Failed, Found};
use crate::{
    answer_events::Source,
    documents::{
        list::{cursor, position},
        response::DocumentResponse,
    },
};
use docent_app::{
    App,
    documents::{list as listing, page_text},
    search as searching,
};
use docent_domain::{
    access::{Grant, ReadDocuments},
    error::ValidationError,
    id::DocumentId,
    listing::DocumentFilter,
    retrieval::ScoredChunk,
};
use docent_http::extract::json::Fields;
use serde_json::json;

type Outcome = Result<Found, Failed>;

const SEARCH_LIMIT: u64 = 5;
const SEARCH_LIMIT_MAX: u64 = 50;
const LIST_LIMIT: u64 = 50;
const LIST_LIMIT_MAX: u64 = 1000;
const QUERY_MAX: usize = 10_000;
const Q_MAX: usize = 200;
const DOCUMENTS_MAX: usize = 1000;

pub(super) async fn search(
    app: &App,
    grant: Grant<ReadDocuments>,
    arguments: rmcp::model::JsonObject,
) -> Outcome {
    let mut fields = Fields::of(arguments);
    let query = fields.text("query");
    let query = fields.parse("query", query, |text| match text.trim() {
        "" => Err(ValidationError::new("query", "must not be empty")),
        text if text.chars().count() > QUERY_MAX => {
            Err(ValidationError::new("query", "must have at most 10000 characters"))
        }
        text => Ok(text.to_owned()),
    });
    let limit = fields.optional_number("limit", 1..=SEARCH_LIMIT_MAX).unwrap_or(SEARCH_LIMIT);
    let documents = fields.optional_ids::<DocumentId>("document_ids", DOCUMENTS_MAX);
    let query = fields.done(query)?;
    let found = searching::search(app, grant, &query, documents.as_deref(), limit as usize).await?;
    let text = match found.as_slice() {
        [] => "No relevant documents found.".to_owned(),
        found => found.iter().map(passage).collect::<Vec<_>>().join("\n\n"),
    };
    let results: Vec<_> = found.iter().map(Source::from).collect();
    Ok(Found { text, value: json!({ "results": results }) })
}

/// A passage, below a line that tells where it comes from.
fn passage(chunk: &ScoredChunk) -> String {
    let (first, last) = (chunk.span.start.page, chunk.span.end.page);
    let place = if first == last { format!("page {first}") } else { format!("pages {first} to {last}") };
    format!("[{}, {place}, document {}]\n{}", chunk.title, chunk.document_id, chunk.text)
}

pub(super) async fn list(
    app: &App,
    grant: Grant<ReadDocuments>,
    arguments: rmcp::model::JsonObject,
) -> Outcome {
    let mut fields = Fields::of(arguments);
    let q = fields.optional_text("q");
    let title_contains = fields.parse("q", q, |text| {
        let is_short = text.chars().count() <= Q_MAX;
        is_short.then(|| text.to_owned()).ok_or(ValidationError::new("q", "must have at most 200 characters"))
    });
    let after = fields.optional_text("cursor");
    let after = fields.parse("cursor", after, |text| {
        position(text).ok_or(ValidationError::new("cursor", "is not a cursor of this list"))
    });
    let limit = fields.optional_number("limit", 1..=LIST_LIMIT_MAX).unwrap_or(LIST_LIMIT);
    fields.done(Some(()))?;
    // One more than asked for tells whether there is another page.
    let filter = DocumentFilter { status: None, title_contains, after, limit: Some(limit + 1) };
    let mut found = listing::list(app, grant, &filter).await?;
    let has_more = found.len() as u64 > limit;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| has_more).map(cursor);
    let lines = found
        .iter()
        .map(|document| format!("{}  {}  {}", document.id, document.state.name(), document.title.as_str()));
    let more = next.iter().map(|cursor| format!("There are more: go on with the cursor {cursor}."));
    let text = lines.chain(more).collect::<Vec<_>>().join("\n");
    let text = if text.is_empty() { "There are no documents.".to_owned() } else { text };
    let documents: Vec<_> = found.iter().map(DocumentResponse::from).collect();
    Ok(Found { text, value: json!({ "documents": documents, "next_cursor": next }) })
}

pub(super) async fn page(
    app: &App,
    grant: Grant<ReadDocuments>,
    arguments: rmcp::model::JsonObject,
) -> Outcome {
    let mut fields = Fields::of(arguments);
    let id = fields.text("document_id");
    let id = fields.parse("document_id", id, |text| {
        text.parse::<DocumentId>().map_err(|_| ValidationError::new("document_id", "must be a UUID"))
    });
    let number = fields.number("page", 1..=u64::from(u32::MAX));
    let (id, number) = fields.done(id.zip(number))?;
    let page = page_text::read(app, grant, id, u32::try_from(number).unwrap_or(u32::MAX)).await?;
    let title = page.document.title.as_str();
    let Some(text) = page.text else {
        return Err(Failed(match page.pages {
            0 => format!("the document has no pages to read: it is {}", page.document.state.name()),
            pages => format!("there is no page {number}: the document has {pages}"),
        }));
    };
    let value = json!({ "document_id": id.to_string(), "title": title, "page": number, "pages": page.pages, "text": text });
    Ok(Found { text: format!("[{title}, page {number} of {}]\n{text}", page.pages), value })
}
