//! Passages as models read them: after a line about their document and their place in it.

use crate::retrieval::{Passages, ScoredChunk};

/// Maximum number of characters of a title in a header.
const TITLE_CHARACTERS: usize = 200;
/// Maximum number of characters of each heading, and of the place, in a header.
const PART_CHARACTERS: usize = 80;
/// Maximum number of headings in a header.
const HEADINGS: usize = 2;

/// Returns a title without the extension `.pdf`.
pub fn without_extension(title: &str) -> &str {
    match title.len().checked_sub(4).and_then(|at| title.split_at_checked(at)) {
        Some((stem, extension)) if extension.eq_ignore_ascii_case(".pdf") => stem,
        _ => title,
    }
}

/// Returns a text after a header and a blank line; without a header, the text alone.
pub fn with_header(header: &str, text: &str) -> String {
    if header.is_empty() { text.to_owned() } else { format!("{header}\n\n{text}") }
}

/// Returns the texts that represent the passages in a dense embedding: the title of the document without `.pdf`, and the text of
/// the passage after a blank line.
pub fn embedded_texts(passages: Passages<'_>) -> Vec<String> {
    let title = without_extension(passages.title).trim();
    passages.chunks.iter().map(|(_, text)| with_header(title, text)).collect()
}

/// Returns a line with what a passage often lacks: the title of its document, the headings before it and its page, such as
/// `Amcor 10-K 2023 | Segment Results | page 41`. At most 440 characters and separators. `headings` has one per line; those
/// that are in the passage, in the title or in the label of the page are left out.
pub fn header(chunk: &ScoredChunk, headings: &str) -> String {
    let (title, place) = (without_extension(&chunk.title).trim(), chunk.place());
    let is_new = |heading: &&str| {
        !heading.is_empty()
            && ![chunk.text.as_str(), title, place.as_str()].iter().any(|text| text.contains(heading))
    };
    let headings: Vec<&str> = headings.lines().map(str::trim).filter(is_new).collect();
    let last = headings.get(headings.len().saturating_sub(HEADINGS)..).unwrap_or_default();
    let parts = std::iter::once(beginning(title, TITLE_CHARACTERS))
        .chain(last.iter().map(|heading| beginning(heading, PART_CHARACTERS)))
        .chain([beginning(&place, PART_CHARACTERS)]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
}

fn beginning(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Position, Span};
    use crate::id::{ChunkId, DocumentId, VersionId};
    use uuid::Uuid;

    fn chunk(title: &str, text: &str, pages: (u32, u32)) -> ScoredChunk {
        let document_id = DocumentId::from_uuid(Uuid::from_u128(1));
        let at = |page| Position { page, offset: 0 };
        ScoredChunk {
            headings: String::new(),
            id: ChunkId::of(VersionId::first(document_id), 0),
            document_id,
            version: 1,
            title: title.to_owned(),
            text: text.to_owned(),
            span: Span { start: at(pages.0), end: at(pages.1) },
            pages: Vec::new(),
            score: 1.0,
            recognized: false,
            label: None,
        }
    }

    #[test]
    fn header_has_title_headings_and_place() {
        let plain = chunk("Amcor 2023.PDF", "Net sales rose.", (41, 41));
        assert_eq!(
            header(&plain, "Segment Results\nFlexibles"),
            "Amcor 2023 | Segment Results | Flexibles | page 41"
        );
        assert_eq!(header(&plain, ""), "Amcor 2023 | page 41");
        assert_eq!(
            header(&chunk("Amcor", "", (1, 2)), "A Part\nB Part\nC Part"),
            "Amcor | B Part | C Part | pages 1 to 2"
        );
        let slide = ScoredChunk { label: Some("Setup › Network".to_owned()), ..plain };
        assert_eq!(header(&slide, "Setup\nNetwork\nValves"), "Amcor 2023 | Valves | Setup › Network");
    }

    #[test]
    fn heading_that_is_known_otherwise_is_left_out() {
        let passage = chunk("Pump Manual", "Seals\nthey leak.", (2, 2));
        assert_eq!(header(&passage, "Pump Manual\nSeals"), "Pump Manual | page 2");
    }

    #[test]
    fn header_is_bounded() {
        let long = "ü".repeat(1000);
        let passage = ScoredChunk { label: Some("l".repeat(1000)), ..chunk(&long, "text", (1, 1)) };
        let header =
            header(&passage, &format!("{}\n{}\n{}", "a".repeat(999), "b".repeat(999), "c".repeat(999)));
        assert_eq!(header.chars().count(), TITLE_CHARACTERS + 3 * PART_CHARACTERS + 3 * " | ".len());
        assert!(!header.contains('a'));
    }

    #[test]
    fn embedded_text_has_title() {
        let chunks = [(1, "Close the valve."), (2, "Open it.")];
        let passages = Passages { title: "Pump.PDF", lead: "not this", chunks: &chunks, headings: &[] };
        assert_eq!(embedded_texts(passages), ["Pump\n\nClose the valve.", "Pump\n\nOpen it."]);
        assert_eq!(embedded_texts(Passages { title: " ", ..passages })[1], "Open it.");
    }

    #[test]
    fn text_without_a_header_is_unchanged() {
        assert_eq!(with_header("", "text"), "text");
        assert_eq!(with_header("Pump", "text"), "Pump\n\ntext");
        for (title, expected) in [("Pump.PDF", "Pump"), ("Ümläut", "Ümläut"), (".pdf", ""), ("pdf", "pdf")]
        {
            assert_eq!(without_extension(title), expected);
        }
    }
}
