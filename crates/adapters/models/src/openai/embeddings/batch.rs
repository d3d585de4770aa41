//! Texts to embed and their batches.

use docent_domain::passage_text::embedded_texts;
use docent_domain::retrieval::Passages;

/// Longer queries are cut, because models limit their input.
const QUERY_CHARS: usize = 8 * 1024;
/// Replaces blank text, which back ends reject.
const BLANK: &str = "-";

/// Average number of bytes per token: English has about four, and scripts with more bytes per character also
/// have more tokens per character.
const TOKEN_BYTES: usize = 4;

/// Limits of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Maximum number of texts.
    pub texts: usize,
    /// Maximum number of tokens, estimated as a quarter of the bytes. A longer text is sent alone.
    pub tokens: usize,
    /// Maximum number of tokens of one text, estimated likewise; longer texts are cut. `None`: the limit is
    /// learnt from refusals.
    pub text_tokens: Option<usize>,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { texts: 32, tokens: 8192, text_tokens: None }
    }
}

impl BatchLimits {
    /// Maximum number of bytes of one text.
    pub(super) fn text_bytes(&self) -> Option<usize> {
        self.text_tokens.map(|tokens| tokens.saturating_mul(TOKEN_BYTES))
    }
}

/// Estimates the number of tokens of a text.
fn estimate(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// Estimates the number of tokens of texts.
pub(super) fn tokens(texts: &[impl AsRef<str>]) -> usize {
    texts.iter().map(|text| estimate(text.as_ref())).sum()
}

/// Returns how many of the texts, from the first, are within the limits of a request; at least 1 unless there
/// are none.
pub(super) fn size(texts: &[String], limits: BatchLimits) -> usize {
    let mut tokens = 0_usize;
    let fits = |text: &&String| {
        tokens = tokens.saturating_add(estimate(text));
        tokens <= limits.tokens
    };
    texts.iter().take(limits.texts).take_while(fits).count().clamp(1, texts.len().max(1))
}

/// Returns the texts to embed for chunks, after the prefix of the model.
pub(super) fn passage_texts(passages: Passages<'_>, prefix: &str) -> Vec<String> {
    embedded_texts(passages).iter().map(|text| format!("{prefix}{}", sendable(text))).collect()
}

/// Returns the text to embed for a query, after the prefix of the model.
pub(super) fn query_text(query: &str, prefix: &str) -> String {
    let end = query.char_indices().nth(QUERY_CHARS).map_or(query.len(), |(at, _)| at);
    format!("{prefix}{}", sendable(query.get(..end).unwrap_or(query)))
}

/// Returns the beginning of a text, of at most this many bytes.
pub(super) fn beginning(text: &str, bytes: Option<usize>) -> &str {
    let Some(bytes) = bytes.filter(|bytes| *bytes < text.len()) else { return text };
    // At least one character, so that the text is not blank.
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.get(..text.floor_char_boundary(bytes).max(first)).unwrap_or(text)
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
        let (mut rest, mut sizes) = (texts.as_slice(), Vec::new());
        while !rest.is_empty() {
            sizes.push(size(rest, limits));
            rest = &rest[sizes[sizes.len() - 1]..];
        }
        sizes
    }

    #[test]
    fn batches_respect_both_limits() {
        let limits = BatchLimits { texts: 3, tokens: 10, text_tokens: None };
        assert_eq!(sizes(&[], limits), [0; 0]);
        assert_eq!(sizes(&[4; 7], limits), [3, 3, 1]);
        assert_eq!(sizes(&[20, 20, 1], limits), [2, 1]);
        assert_eq!(sizes(&[4, 400, 4, 4], limits), [1, 1, 2]);
    }

    #[test]
    fn zero_limits_give_batches_of_one() {
        assert_eq!(sizes(&[4, 4], BatchLimits { texts: 0, tokens: 0, text_tokens: None }), [1, 1]);
    }

    #[test]
    fn chunk_text_includes_document_title() {
        let chunks = [(1, "Close the valve."), (2, " \n")];
        let texts = |title| {
            let passages = Passages { title, lead: "not this", chunks: &chunks, headings: &[] };
            passage_texts(passages, "")
        };
        assert_eq!(texts("Pump.PDF"), ["Pump\n\nClose the valve.", "Pump"]);
        assert_eq!(texts("Ümläut"), ["Ümläut\n\nClose the valve.", "Ümläut"]);
        assert_eq!(texts(" "), ["Close the valve.", "-"]);
    }

    #[test]
    fn query_is_cut_and_never_blank() {
        assert_eq!(query_text(&"é".repeat(10_000), "").chars().count(), 8192);
        assert_eq!(query_text(" pump? ", "q: "), "q: pump?");
        for blank in ["", " \n", "\0", "\0 \0"] {
            assert_eq!(query_text(blank, ""), "-", "{blank:?}");
        }
        assert_eq!(query_text("a\0b", ""), "a b");
    }

    #[test]
    fn beginning_ends_at_a_character() {
        let beginning = |bytes| beginning("éab", Some(bytes));
        assert_eq!([0, 1, 2, 3, 4, 9].map(beginning), ["é", "é", "é", "éa", "éab", "éab"]);
        assert_eq!(super::beginning("éab", None), "éab");
        let limits = BatchLimits { text_tokens: Some(512), ..BatchLimits::default() };
        assert_eq!(limits.text_bytes(), Some(2048));
    }
}
