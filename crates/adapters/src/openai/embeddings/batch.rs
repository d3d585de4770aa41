//! What is embedded, and how much of it at once.

use docent_domain::retrieval::Passages;

/// Longer questions are cut; nobody asks for so much, and models have limits of their own.
const QUERY_CHARS: usize = 8 * 1024;
/// Stands for text without content, which back ends refuse.
const BLANK: &str = "-";

/// How much is sent in one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The most texts.
    pub texts: usize,
    /// The most tokens, estimated as a quarter of the bytes. A longer text is sent alone.
    pub tokens: usize,
}

impl Default for BatchLimits {
    fn default() -> Self {
        Self { texts: 64, tokens: 8192 }
    }
}

/// An estimate that needs no tokeniser: English has about four bytes to a token, and scripts with more bytes
/// to a character have more tokens to it as well.
fn estimate(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Cuts `texts` into batches within the limits, keeping their order. None is empty.
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

/// The texts that stand for chunks: the document's title, a blank line, and the chunk.
pub(super) fn passage_texts(passages: Passages<'_>) -> Vec<String> {
    let title = stem(passages.title).trim();
    let text = |(_, text): &(u32, &str)| {
        let both = if title.is_empty() { (*text).to_owned() } else { format!("{title}\n\n{text}") };
        sendable(&both)
    };
    passages.chunks.iter().map(text).collect()
}

/// The text that stands for a question.
pub(super) fn query_text(query: &str) -> String {
    let end = query.char_indices().nth(QUERY_CHARS).map_or(query.len(), |(at, _)| at);
    sendable(query.get(..end).unwrap_or(query))
}

/// A title without the extension that nearly all uploaded files share.
fn stem(title: &str) -> &str {
    match title.len().checked_sub(4).and_then(|at| title.split_at_checked(at)) {
        Some((stem, extension)) if extension.eq_ignore_ascii_case(".pdf") => stem,
        _ => title,
    }
}

/// Text that back ends take: not blank, and without the NUL that some of them stumble over.
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
    fn batches_keep_to_both_limits() {
        let limits = BatchLimits { texts: 3, tokens: 10 };
        assert_eq!(sizes(&[], limits), [0; 0]);
        assert_eq!(sizes(&[4; 7], limits), [3, 3, 1]);
        assert_eq!(sizes(&[20, 20, 1], limits), [2, 1]);
        assert_eq!(sizes(&[4, 400, 4, 4], limits), [1, 1, 2]);
    }

    #[test]
    fn limits_of_nothing_still_send_one_at_a_time() {
        assert_eq!(sizes(&[4, 4], BatchLimits { texts: 0, tokens: 0 }), [1, 1]);
    }

    #[test]
    fn a_chunk_is_embedded_with_its_documents_title() {
        let chunks = [(1, "Close the valve."), (2, " \n")];
        let texts =
            |title| passage_texts(Passages { title, lead: "not this", chunks: &chunks, headings: &[] });
        assert_eq!(texts("Pump.PDF"), ["Pump\n\nClose the valve.", "Pump"]);
        assert_eq!(texts("Ümläut"), ["Ümläut\n\nClose the valve.", "Ümläut"]);
        assert_eq!(texts(" "), ["Close the valve.", "-"]);
    }

    #[test]
    fn questions_are_cut_and_never_blank() {
        assert_eq!(query_text(&"é".repeat(10_000)).chars().count(), 8192);
        assert_eq!(query_text(" pump? "), "pump?");
        for blank in ["", " \n", "\0", "\0 \0"] {
            assert_eq!(query_text(blank), "-", "{blank:?}");
        }
        assert_eq!(query_text("a\0b"), "a b");
    }
}
