//! Implementation of the tools.

use super::outcome::{Failed, Found};
use super::reader::Reader;
use crate::documents::list::{TITLE_PART_MAX, cursor, position};
use crate::documents::response::DocumentResponse;
use crate::paging;
use crate::search::{SearchRequest, SearchResponse};
use deserr::Deserr;
use docent_app::App;
use docent_app::documents::{list as listing, page_text};
use docent_domain::error::ValidationError;
use docent_domain::id::DocumentId;
use docent_domain::listing::{DocumentFilter, ListPosition};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::Correction;
use docent_http::BodyErrors;
use docent_http::extract::deserialize::{Whole, deserialize};
use rmcp::model::JsonObject;
use serde_json::json;

type Outcome = Result<Found, Failed>;

const LIST_LIMIT: u64 = 50;

pub(super) async fn search(app: &App, by: &Reader, arguments: JsonObject) -> Outcome {
    let request: SearchRequest = deserialize(arguments.into())?;
    let found = request.run(app, by.grant, &by.scope).await?;
    let notes = found.corrections.iter().filter_map(Correction::note);
    let text = match found.passages.as_slice() {
        [] => "No relevant documents found.".to_owned(),
        passages => notes.chain(passages.iter().map(passage)).collect::<Vec<_>>().join("\n\n"),
    };
    Ok(Found { text, value: json!(SearchResponse::from(&found)) })
}

/// Formats a passage with a header line that names its source.
fn passage(chunk: &ScoredChunk) -> String {
    format!("[{}, {}, document {}]\n{}", chunk.title, chunk.place(), chunk.document_id, chunk.text)
}

/// Arguments of `list_documents`.
#[derive(Deserr)]
#[deserr(error = BodyErrors)]
struct ListArguments {
    #[deserr(default, try_from(Option<String>) = parse_title_part -> ValidationError)]
    q: Option<String>,
    #[deserr(default)]
    limit: Option<Whole<1, 1000>>,
    #[deserr(default, try_from(Option<String>) = parse_position -> ValidationError)]
    cursor: Option<ListPosition>,
}

fn parse_title_part(text: Option<String>) -> Result<Option<String>, ValidationError> {
    match text {
        Some(text) if text.chars().count() > TITLE_PART_MAX => {
            Err(ValidationError::new("q", "must have at most 200 characters"))
        }
        text => Ok(text),
    }
}

fn parse_position(cursor: Option<String>) -> Result<Option<ListPosition>, ValidationError> {
    let invalid = || ValidationError::new("cursor", "is not a cursor of this list");
    cursor.map(|text| position(&text).ok_or_else(invalid)).transpose()
}

pub(super) async fn list(app: &App, by: &Reader, arguments: JsonObject) -> Outcome {
    let ListArguments { q, limit, cursor: after } = deserialize(arguments.into())?;
    let Whole(limit) = limit.unwrap_or(Whole(LIST_LIMIT));
    // One more than requested shows whether there is another page.
    let filter = DocumentFilter {
        title_contains: q,
        after,
        limit: Some(limit + 1),
        ..DocumentFilter::of(by.scope.shown())
    };
    let mut found = listing::list(app, by.grant, &filter).await?;
    let next = paging::truncate(&mut found, limit, cursor);
    let lines = found
        .iter()
        .map(|document| format!("{}  {}  {}", document.id, document.state.name(), document.title.as_str()));
    let more = next.iter().map(|cursor| format!("There are more: go on with the cursor {cursor}."));
    let text = lines.chain(more).collect::<Vec<_>>().join("\n");
    let text = if text.is_empty() { "There are no documents.".to_owned() } else { text };
    let documents: Vec<_> = found.iter().map(DocumentResponse::from).collect();
    Ok(Found { text, value: json!({ "documents": documents, "next_cursor": next }) })
}

/// Arguments of `get_document_page`.
#[derive(Deserr)]
#[deserr(error = BodyErrors)]
struct PageArguments {
    document_id: DocumentId,
    page: Whole<1, 4_294_967_295>,
    #[deserr(default)]
    offset: Option<Whole<0, 4_294_967_295>>,
}

pub(super) async fn page(app: &App, by: &Reader, arguments: JsonObject) -> Outcome {
    let PageArguments { document_id: id, page: Whole(number), offset } = deserialize(arguments.into())?;
    let offset = usize::try_from(offset.map_or(0, |Whole(offset)| offset)).unwrap_or(usize::MAX);
    let page =
        page_text::read(app, by.grant, &by.scope, id, u32::try_from(number).unwrap_or(u32::MAX), offset)
            .await?;
    let title = page.document.title.as_str();
    let Some(text) = page.text else {
        return Err(Failed::no_page(&page.document, u32::try_from(number).unwrap_or(u32::MAX), page.pages));
    };
    let mut value = json!({ "document_id": id.to_string(), "title": title, "page": number, "pages": page.pages, "text": text });
    let place = match &page.label {
        Some(label) => format!("{label} (page {number} of {})", page.pages),
        None => format!("page {number} of {}", page.pages),
    };
    let mut text = format!("[{title}, {place}]\n{text}");
    if let Some(label) = page.label {
        value["label"] = json!(label);
    }
    if let Some(next) = page.next {
        value["next_offset"] = json!(next);
        text.push_str(&format!("\n[The text of this page goes on at the offset {next}.]"));
    }
    Ok(Found { text, value })
}
