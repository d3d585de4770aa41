//! Maps chunks to documents of the lexical index.

use docent_domain::chunk::{PageStart, Span};
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{FoundChunk, IndexEntry, IndexedVersion, TermCounts};
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing,
    TextOptions, Value,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{TantivyDocument, TantivyError, Term};
use uuid::Uuid;

/// The names of columns that searches read without decompressing chunks.
pub(super) mod column {
    pub(in super::super) const DOCUMENT_HIGH: &str = "document_high";
    pub(in super::super) const DOCUMENT_LOW: &str = "document_low";
    pub(in super::super) const ORDINAL: &str = "ordinal";
    /// The key of the chunk's dense vector, if any.
    pub(in super::super) const VECTOR: &str = "vector";
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// The document's ID, to find all chunks of a document.
    pub(super) document: Field,
    document_high: Field,
    document_low: Field,
    ordinal: Field,
    vector: Field,
    /// Set on the first chunk of each document to count documents.
    first: Field,
    /// The chunk's terms.
    pub(super) body: Field,
    /// The terms of the headings above the chunk.
    pub(super) heading_terms: Field,
    /// The document's terms, only on its first chunk, so that document frequencies count documents.
    pub(super) title_terms: Field,
    pub(super) lead_terms: Field,
    title: Field,
    filename: Field,
    /// The chunk's text, then the headings before it. The schema of an existing index cannot get further fields.
    text: Field,
    /// Span and pages; see `place`.
    place: Field,
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let terms = |norms| {
        let indexing = TextFieldIndexing::default()
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_tokenizer(TERMS)
            .set_fieldnorms(norms);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fast = || NumericOptions::from(FAST);
    let stored = || TextOptions::default().set_stored();
    let fields = Fields {
        document: builder.add_bytes_field("document", BytesOptions::default().set_indexed()),
        document_high: builder.add_u64_field(column::DOCUMENT_HIGH, fast()),
        document_low: builder.add_u64_field(column::DOCUMENT_LOW, fast()),
        ordinal: builder.add_u64_field(column::ORDINAL, fast()),
        vector: builder.add_u64_field(column::VECTOR, fast()),
        first: builder.add_u64_field("first", NumericOptions::from(INDEXED)),
        body: builder.add_text_field("body", terms(true)),
        heading_terms: builder.add_text_field("heading_terms", terms(false)),
        title_terms: builder.add_text_field("title_terms", terms(false)),
        lead_terms: builder.add_text_field("lead_terms", terms(false)),
        title: builder.add_text_field("title", stored()),
        filename: builder.add_text_field("filename", stored()),
        text: builder.add_text_field("text", stored()),
        place: builder.add_bytes_field("place", BytesOptions::default().set_stored()),
    };
    (builder.build(), fields)
}

impl Fields {
    /// The term that all chunks of a document have.
    pub(super) fn document_term(&self, document: VersionId) -> Term {
        Term::from_field_bytes(self.document, document.as_uuid().as_bytes())
    }

    /// The term that the first chunk of every document has.
    pub(super) fn first_term(&self) -> Term {
        Term::from_field_u64(self.first, 1)
    }

    /// Converts a chunk to a tantivy document; `first` marks the first of its document.
    pub(super) fn write(
        &self,
        document: &IndexedVersion,
        entry: IndexEntry,
        vector: Option<u64>,
        first: bool,
    ) -> TantivyDocument {
        let (high, low) = document.id.as_uuid().as_u64_pair();
        let mut record = TantivyDocument::new();
        record.add_bytes(self.document, document.id.as_uuid().as_bytes());
        record.add_u64(self.document_high, high);
        record.add_u64(self.document_low, low);
        record.add_u64(self.ordinal, u64::from(entry.ordinal));
        if let Some(vector) = vector {
            record.add_u64(self.vector, vector);
        }
        let sparse = entry.embedding.sparse.unwrap_or_default();
        record.add_text(self.body, join(&sparse.body));
        record.add_text(self.heading_terms, join(&sparse.headings));
        if first {
            record.add_u64(self.first, 1);
            record.add_text(self.title_terms, join(&sparse.title));
            record.add_text(self.lead_terms, join(&sparse.lead));
        }
        record.add_text(self.title, &document.labels.title);
        record.add_text(self.filename, &document.labels.file_name);
        record.add_text(self.text, entry.text);
        record.add_text(self.text, entry.headings);
        record.add_bytes(self.place, &place::write(entry.span, &entry.pages));
        record
    }

    /// A value that follows the text; empty in chunks of earlier releases.
    fn addition(&self, record: &TantivyDocument, position: usize) -> String {
        let value = record.get_all(self.text).nth(position).and_then(|value| value.as_str());
        value.unwrap_or_default().to_owned()
    }

    /// Converts a tantivy document to a chunk.
    pub(super) fn read(
        &self,
        record: &TantivyDocument,
        document: u128,
        ordinal: u32,
        score: f32,
    ) -> tantivy::Result<FoundChunk> {
        let invalid = || TantivyError::InternalError("a stored chunk is invalid".to_owned());
        let text = |field| {
            let value = record.get_first(field).and_then(|value| value.as_str());
            value.map(str::to_owned).ok_or_else(invalid)
        };
        let place = record.get_first(self.place).and_then(|value| value.as_bytes()).ok_or_else(invalid)?;
        let (span, pages) = place::read(place).ok_or_else(invalid)?;
        let version = VersionId::from_uuid(Uuid::from_u128(document));
        Ok(FoundChunk {
            id: ChunkId::of(version, ordinal),
            version,
            title: text(self.title)?,
            text: text(self.text)?,
            span,
            pages,
            headings: self.addition(record, 1),
            score,
        })
    }
}

/// The name of the tokenizer that splits joined terms. Tantivy's own pre-tokenized text would serialize each term as JSON.
/// The name is stored in existing indexes.
pub(super) const TERMS: &str = "raw";

/// Separates terms; does not occur in terms.
const SEPARATOR: char = '\0';

/// Joins terms, each repeated as often as it occurs.
fn join(terms: &TermCounts) -> String {
    let repeated = terms.iter().flat_map(|(term, n)| std::iter::repeat_n(term, n as usize));
    let mut joined = String::new();
    for term in repeated.filter(|term| !term.is_empty()) {
        if !joined.is_empty() {
            joined.push(SEPARATOR);
        }
        joined.push_str(term);
    }
    joined
}

/// Splits the output of [`join`].
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    token: Token,
}

impl Tokenizer for Terms {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        self.token.reset();
        TermStream { rest: text, token: &mut self.token }
    }
}

pub(super) struct TermStream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl TokenStream for TermStream<'_> {
    fn advance(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let (term, rest) = self.rest.split_once(SEPARATOR).unwrap_or((self.rest, ""));
        self.rest = rest;
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Encodes span and pages as little-endian 32-bit numbers: start page and offset, end page and offset, then page number
/// and start of each page.
mod place {
    use super::{PageStart, Span};

    pub(super) fn write(span: Span, pages: &[PageStart]) -> Vec<u8> {
        let pages = pages.iter().copied().flat_map(<[u32; 2]>::from);
        <[u32; 4]>::from(span).into_iter().chain(pages).flat_map(u32::to_le_bytes).collect()
    }

    pub(super) fn read(bytes: &[u8]) -> Option<(Span, Vec<PageStart>)> {
        let (numbers, []) = bytes.as_chunks::<4>() else { return None };
        let numbers: Vec<u32> = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let (span, pages) = numbers.split_first_chunk::<4>()?;
        let (pages, []) = pages.as_chunks::<2>() else { return None };
        Some((Span::from(*span), pages.iter().copied().map(PageStart::from).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::Position;

    #[test]
    fn joined_terms_are_split_again() {
        let counts = TermCounts::count(["pump", "", "réturn", "pump"].map(str::to_owned));
        let (mut tokenizer, joined) = (Terms::default(), join(&counts));
        let mut terms = Vec::new();
        tokenizer.token_stream(&joined).process(&mut |token| terms.push(token.text.clone()));
        assert_eq!(terms, ["pump", "pump", "réturn"]);
        let nothing = tokenizer.token_stream("").advance();
        assert!(!nothing);
    }

    #[test]
    fn place_round_trips() {
        let span = Span { start: Position { page: 3, offset: 70_000 }, end: Position { page: 5, offset: 1 } };
        let pages = vec![PageStart { page: 3, at: 0 }, PageStart { page: 4, at: 17 }];
        assert_eq!(place::read(&place::write(span, &pages)), Some((span, pages)));
        assert_eq!(place::read(&[0; 15]), None);
        assert_eq!(place::read(&[0; 20]), None);
        assert_eq!(place::read(&[]), None);
    }
}
