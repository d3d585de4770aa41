//! The tools `search` and `fetch`, in the form that connectors of ChatGPT require: `search` returns results with IDs, and `fetch` the text
//! of one. Both return their value as JSON in the text content as well.

use super::outcome::{Failed, Found};
use super::reader::Reader;
use crate::search::SearchRequest;
use deserr::Deserr;
use docent_app::App;
use docent_app::documents::pages_text;
use docent_domain::error::ValidationError;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_http::extract::deserialize::deserialize;
use docent_http::{BaseUrl, BodyErrors};
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt;

type Outcome = Result<Found, Failed>;

/// ID of a search result: a document, or pages of it, as `ID`, `ID:4` or `ID:4-5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ResultId {
    document: DocumentId,
    pages: Option<(u32, u32)>,
}

impl ResultId {
    fn of(passage: &ScoredChunk) -> Self {
        let pages = (passage.span.start.page, passage.span.end.page);
        Self { document: passage.document_id, pages: Some(pages) }
    }

    fn parse(text: &str) -> Result<Self, ValidationError> {
        let invalid =
            || ValidationError::new("id", "must be an id that search returned, or that of a document");
        let (document, pages) = match text.split_once(':') {
            Some((document, pages)) => (document, Some(parse_pages(pages).ok_or_else(invalid)?)),
            None => (text, None),
        };
        Ok(Self { document: document.parse().map_err(|_| invalid())?, pages })
    }

    fn first_page(self) -> u32 {
        self.pages.map_or(1, |(first, _)| first)
    }
}

fn parse_pages(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}

impl fmt::Display for ResultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pages {
            None => write!(f, "{}", self.document),
            Some((first, last)) if first == last => write!(f, "{}:{first}", self.document),
            Some((first, last)) => write!(f, "{}:{first}-{last}", self.document),
        }
    }
}

pub(super) async fn search(app: &App, by: &Reader, base: &BaseUrl, arguments: JsonObject) -> Outcome {
    let request: SearchRequest = deserialize(arguments.into())?;
    let found = request.run(app, by.grant, &by.scope).await?;
    let mut seen = HashSet::new();
    let passages = found.passages.iter().filter(|passage| seen.insert(ResultId::of(passage)));
    let results: Vec<Value> = passages
        .map(|passage| {
            let url = base.document(passage.document_id, passage.span.start.page);
            json!({ "id": ResultId::of(passage).to_string(), "title": passage.title, "url": url })
        })
        .collect();
    Ok(found_json(json!({ "results": results })))
}

/// Arguments of `fetch`.
#[derive(Deserr)]
#[deserr(error = BodyErrors)]
struct FetchArguments {
    #[deserr(try_from(&String) = parse_id -> ValidationError)]
    id: ResultId,
}

fn parse_id(text: &str) -> Result<ResultId, ValidationError> {
    ResultId::parse(text)
}

pub(super) async fn fetch(app: &App, by: &Reader, base: &BaseUrl, arguments: JsonObject) -> Outcome {
    let FetchArguments { id } = deserialize(arguments.into())?;
    let read = pages_text::read(app, by.grant, &by.scope, id.document, id.pages).await?;
    let page = id.first_page();
    let Some(mut text) = read.text else {
        return Err(Failed::no_page(&read.document, page, read.pages));
    };
    if let Some(next) = read.next {
        text.push_str(&format!("\n\n[The text goes on: fetch {}:{next}.]", id.document));
    }
    let metadata = json!({ "document_id": id.document.to_string(), "page": page, "pages": read.pages });
    Ok(found_json(json!({
        "id": id.to_string(),
        "title": read.document.title.as_str(),
        "text": text,
        "url": base.document(id.document, page),
        "metadata": metadata,
    })))
}

fn found_json(value: Value) -> Found {
    Found { text: value.to_string(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_id_names_a_document_or_pages_of_it() {
        const DOCUMENT: &str = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";
        for (pages, expected) in [("", None), (":4", Some((4, 4))), (":4-5", Some((4, 5)))] {
            let text = format!("{DOCUMENT}{pages}");
            let id = ResultId::parse(&text).unwrap();
            assert_eq!((id.pages, id.to_string()), (expected, text));
        }
        for text in ["", "x", ":4"] {
            assert!(ResultId::parse(text).is_err(), "{text}");
        }
        for pages in [":", ":0", ":x", ":5-4", ":4-", ":-4", ":4-5-6", ":99999999999"] {
            assert!(ResultId::parse(&format!("{DOCUMENT}{pages}")).is_err(), "{pages}");
        }
    }
}
