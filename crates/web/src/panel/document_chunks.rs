//! `GET /admin/documents/{id}/chunks`

use super::{
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, Broken, id_of},
    session::Staff,
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use docent_app::documents::browse as use_case;
use docent_domain::{access::ViewDocuments, id::DocumentId, permission::RecordKind, retrieval::StoredChunk};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

#[derive(Serialize)]
struct ChunkView {
    ordinal: u32,
    pages: String,
    characters: usize,
    text: String,
}

impl From<&StoredChunk> for ChunkView {
    fn from(chunk: &StoredChunk) -> Self {
        Self {
            ordinal: chunk.ordinal,
            pages: pages(chunk.span.start.page, chunk.span.end.page),
            characters: chunk.text.chars().count(),
            text: chunk.text.clone(),
        }
    }
}

/// Formats a page range: `page 3`, `pages 3–4`.
pub(super) fn pages(first: u32, last: u32) -> String {
    if first == last { format!("page {first}") } else { format!("pages {first}–{last}") }
}

pub(super) async fn chunks(
    staff: Staff,
    context: State,
    id: Path<String>,
    query: Query,
) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewDocuments>()?;
    let id: DocumentId = id_of(RecordKind::Document, &id)?;
    let number = PageNumber::of(&query);
    let (document, found) = use_case::chunks(&context.app, grant, id, number.page()).await?;
    let chunks: Vec<ChunkView> = found.records.iter().map(ChunkView::from).collect();
    let mut values = staff.page("documents");
    let path = format!("{ROOT}/documents/{id}/chunks");
    values.insert("paging", &Paging::of(number, chunks.len(), found.total, &path, &[]));
    values.insert("id", &id.to_string());
    values.insert("document_title", document.title.as_str());
    values.insert("status", document.state.name());
    values.insert("chunks", &chunks);
    page::show(&context, StatusCode::OK, "chunks.html", &values)
}
