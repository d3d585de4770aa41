//! Passages in responses: documents of LangChain, in which LibreChat's own service answers.

use docent_app::documents::external::ReadableFile;
use docent_app::search::SearchResults;
use docent_domain::document::Document;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_http::BaseUrl;
use serde::Serialize;
use std::collections::HashMap;
use utoipa::ToSchema;

/// A passage.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e", "type": "Document", "page_content": "The warranty lasts five years.",
    "metadata": {
        "file_id": "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10", "source": "Terms.pdf", "page": 3, "page_label": null,
        "link": "https://docent.example.org/chat#document=01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e&page=3",
    },
}))]
pub(crate) struct Passage {
    /// ID of the passage.
    #[schema(required)]
    id: Option<String>,
    /// Always `Document`.
    r#type: &'static str,
    /// The text.
    page_content: String,
    /// Where it is.
    metadata: PassageMetadata,
}

/// Where a passage is.
#[derive(Serialize, ToSchema)]
pub(crate) struct PassageMetadata {
    /// ID that LibreChat gave the file.
    file_id: String,
    /// Name of the file.
    source: String,
    /// Page, counted from 1.
    #[schema(minimum = 1)]
    page: u32,
    /// What the page is in a file that is not a PDF, such as `Slide 3`.
    #[schema(required)]
    page_label: Option<String>,
    /// Link to the page in the web chat.
    link: String,
}

/// A passage or its distance. Pairs have one of each.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PassageOrDistance {
    /// The passage.
    Passage(Passage),
    /// From 0, which is nearest, to 1. Comparable between searches with the same ranking only.
    Distance(f64),
}

impl Passage {
    /// A page of a file.
    pub(super) fn of_page(
        file: &ReadableFile,
        page: (u32, Option<String>),
        text: String,
        base: &BaseUrl,
    ) -> Self {
        let (page, page_label) = page;
        let metadata = PassageMetadata {
            file_id: file.id.to_string(),
            source: source(&file.document).to_owned(),
            page,
            page_label,
            link: base.document(file.document.id, page),
        };
        Self { id: None, r#type: "Document", page_content: text, metadata }
    }

    fn of_chunk(file: &ReadableFile, chunk: ScoredChunk, base: &BaseUrl) -> Self {
        let page = (chunk.span.start.page, chunk.label);
        Self { id: Some(chunk.id.to_string()), ..Self::of_page(file, page, chunk.text, base) }
    }
}

/// The name of a document's file. LibreChat shows what follows the last slash, of which names of files have none.
pub(super) fn source(document: &Document) -> &str {
    document.file.as_ref().map_or(document.title.as_str(), |file| file.name.as_str())
}

/// The passages that a search found in these files, each with its distance, best first.
pub(super) fn pairs(
    files: &[ReadableFile],
    found: SearchResults,
    base: &BaseUrl,
) -> Vec<Vec<PassageOrDistance>> {
    let files: HashMap<DocumentId, &ReadableFile> =
        files.iter().map(|file| (file.document.id, file)).collect();
    let scores = found.scores();
    let pair = |(score, chunk): (f64, ScoredChunk)| {
        let file = files.get(&chunk.document_id)?;
        let passage = Passage::of_chunk(file, chunk, base);
        Some(vec![PassageOrDistance::Passage(passage), PassageOrDistance::Distance(distance(score))])
    };
    scores.into_iter().zip(found.passages).filter_map(pair).collect()
}

/// The distance of a score from 0 to 1. LibreChat shows one minus the distance as the relevance.
fn distance(score: f64) -> f64 {
    ((1.0 - score) * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_passages_are_nearer() {
        let distances = [1.0, 0.75, 0.1, 0.0].map(distance);
        assert_eq!(distances, [0.0, 0.25, 0.9, 1.0]);
    }
}
