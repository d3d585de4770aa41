//! `GET /admin/documents/{id}/chunks`

use super::nav::ROOT;
use crate::language::{self, place_label, t};
use crate::paging::{PageNumber, Paging};
use crate::signed_in::page::{PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::documents::browse as use_case;
use docent_domain::access::ViewDocuments;
use docent_domain::extraction::PageLabels;
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::{ScoredChunk, StoredChunk};
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ChunksPage {
    /// ID of the document.
    id: String,
    document_title: String,
    /// Status of the document.
    status: &'static str,
    /// Label of the status.
    status_name: String,
    chunks: Vec<ChunkView>,
    paging: Paging,
}

#[derive(Serialize)]
struct ChunkView {
    ordinal: u32,
    pages: String,
    characters: usize,
    text: String,
}

impl ChunkView {
    fn of(chunk: &StoredChunk, labels: Option<&PageLabels>) -> Self {
        let (first, last) = (chunk.span.start.page, chunk.span.end.page);
        Self {
            ordinal: chunk.ordinal,
            pages: match labels.and_then(|labels| labels.get(first)) {
                Some(label) => place_label(&label),
                None => pages(first, last),
            },
            characters: chunk.text.chars().count(),
            text: chunk.text.clone(),
        }
    }
}

/// Formats a page range: `page 3`, `pages 3–4`. Page numbers are names, so they have no separators.
pub(super) fn pages(first: u32, last: u32) -> String {
    let [from, to] = [first, last].map(|page| page.to_string());
    if first == last { t!("at-page", page = from) } else { t!("at-pages", first = from, last = to) }
}

/// Where a passage is: the label of its first page, or its pages.
pub(super) fn place(chunk: &ScoredChunk) -> String {
    match &chunk.label {
        Some(label) => place_label(label),
        None => pages(chunk.span.start.page, chunk.span.end.page),
    }
}

pub(super) async fn chunks(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewDocuments>()?;
    let id: DocumentId = id_of(RecordKind::Document, &id)?;
    let number = PageNumber::of(&query);
    let (document, found) = use_case::chunks(&context.app, grant, id, number.page()).await?;
    let labels = document.coverage.as_ref().map(|coverage| &coverage.page_labels);
    let path = format!("{ROOT}/documents/{id}/chunks");
    let page = ChunksPage {
        id: id.to_string(),
        document_title: document.title.as_str().to_owned(),
        status: document.state.name(),
        status_name: language::named("status-", document.state.name()),
        chunks: found.records.iter().map(|chunk| ChunkView::of(chunk, labels)).collect(),
        paging: Paging::of(number, found.records.len(), found.total, &path, &[]),
    };
    staff.show(&context, "documents", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    #[test]
    fn page_numbers_have_no_separators() {
        assert_eq!(pages(1200, 1200), "page 1200");
        assert_eq!(pages(999, 1000), "pages 999–1000");
    }

    impl Samples for ChunksPage {
        fn samples() -> Vec<Self> {
            let chunk =
                || ChunkView { ordinal: 0, pages: pages(3, 3), characters: 4, text: "Text".to_owned() };
            let page = |status, chunks, paging| Self {
                id: "1".to_owned(),
                document_title: "Title".to_owned(),
                status,
                status_name: "Processing".to_owned(),
                chunks,
                paging,
            };
            vec![
                page("ingested", vec![chunk()], Paging::sample()),
                page("ingested", Vec::new(), Paging::sample()),
                page("ingested", Vec::new(), Paging::empty()),
                page("pending", Vec::new(), Paging::empty()),
            ]
        }
    }
}
