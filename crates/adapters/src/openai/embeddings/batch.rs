//! Texts to embed and their batches.

use docent_domain::passage_text::embedded_texts;
use docent_domain::retrieval::Passages;

/// Longer queries are cut, because models limit their input.
const QUERY_CHARS: usize = 8 * 1024;
/// Replaces blank text, which back ends reject.
const BLANK: &str = "-";

/// Limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Maximum number of texts.
    pub texts: usize,
    /// Maximum number of tokens, estimated as a quarter of the bytes. A longer text is sent alone.
    pub tokens: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { texts: 64, tokens: 8192 }
    }
}

/// Estimates the number of tokens: English has about four bytes per token, and scripts with more bytes per character
/// also have more tokens per character.
fn estimate(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Splits `texts` into non-empty batches within the limits, in order.
pub(super) fn batches(mut texts: &[String], limits: BatchLimits) -> impl Iterator<Item = &[String]> {
    std::iter::from_fn(move || {
        let mut tokens = 0_usize;
        let fits = |text: &&String| {
            tokens = tokens.saturating_add(estimate(text));
            tokens <= limits.tokens
        };
        let count = texts.iter().take(limits.texts).take_while(fits).count().max(1);
        let (batch, rest) = texts.split_at_checked(count)?;
        texts = rest;
        Some(batch)
    })
}

/// Returns the texts to embed for chunks.
pub(super) fn passage_texts(passages: Passages<'_>) -> Vec<String> {
    embedded_texts(passages).iter().map(|text| sendable(text)).collect()
}

/// Returns the text to embed for a query.
pub(super) fn query_text(query: &str) -> String {
    let end = query.char_indices().nth(QUERY_CHARS).map_or(query.len(), |(at, _)| at);
    sendable(query.get(..end).unwrap_or(query))
}

/// Makes text acceptable to back ends: not blank, and without NUL, which some of them reject.
fn sendable(text: &str) -> String {
    let text = text.trim().replace('\0', " ");
    if text.trim().is_empty() { BLANK.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(lengths: &[usize], limits: BatchLimits) -> Vec<usize> {
        let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let batches: Vec<&[String]> = batches(&texts, limits).collect();
        assert_eq!(batches.concat(), texts);
        batches.iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn batches_respect_both_limits() {
        let limits = BatchLimits { texts: 3, tokens: 10 };
        assert_eq!(sizes(&[], limits), [0; 0]);
        assert_eq!(sizes(&[4; 7], limits), [3, 3, 1]);
        assert_eq!(sizes(&[20, 20, 1], limits), [2, 1]);
        assert_eq!(sizes(&[4, 400, 4, 4], limits), [1, 1, 2]);
    }

    #[test]
    fn zero_limits_give_batches_of_one() {
        assert_eq!(sizes(&[4, 4], BatchLimits { texts: 0, tokens: 0 }), [1, 1]);
    }

    #[test]
    fn chunk_text_includes_document_title() {
        let chunks = [(1, "Close the valve."), (2, " \n")];
        let texts = |title| {
            passage_texts(Passages { title, lead: "not this", chunks: &chunks, headings: &[], context: &[] })
        };
        assert_eq!(texts("Pump.PDF"), ["Pump\n\nClose the valve.", "Pump"]);
        assert_eq!(texts("Ümläut"), ["Ümläut\n\nClose the valve.", "Ümläut"]);
        assert_eq!(texts(" "), ["Close the valve.", "-"]);
    }

    #[test]
    fn chunk_text_includes_its_line_of_context() {
        let chunks = [(1, "Close the valve."), (2, "Open it.")];
        let context = ["Manual of a pump.".to_owned(), String::new()];
        let passages =
            Passages { title: "Pump", lead: "", chunks: &chunks, headings: &[], context: &context };
        assert_eq!(
            passage_texts(passages),
            ["Pump\n\nManual of a pump.\n\nClose the valve.", "Pump\n\nOpen it."]
        );
    }

    #[test]
    fn query_is_cut_and_never_blank() {
        assert_eq!(query_text(&"é".repeat(10_000)).chars().count(), 8192);
        assert_eq!(query_text(" pump? "), "pump?");
        for blank in ["", " \n", "\0", "\0 \0"] {
            assert_eq!(query_text(blank), "-", "{blank:?}");
        }
        assert_eq!(query_text("a\0b"), "a b");
    }
}
