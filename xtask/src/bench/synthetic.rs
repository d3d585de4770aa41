//! Synthetic documents, the same in every run; see `words` for their text.

use super::words::{chunk, content_words, fraction};
use crate::random::Random;
use anyhow::{Context, Result};
use chrono::DateTime;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::id::{ChunkId, CollectionId, DocumentId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::{Embedding, IndexEntry, IndexedVersion, Passages};
use docent_models::builtin::embedder::BuiltinEmbedder;
use docent_ports::embedder::Embedder;
use docent_text::headings;

/// A document before it is embedded.
pub(super) struct Document {
    pub(super) document: IndexedVersion,
    texts: Vec<String>,
}

impl Document {
    /// Generates document `n` with a number of chunks.
    pub(super) fn new(n: u32, chunks: u32, random: &mut Random) -> Result<Self> {
        let id: DocumentId = format!("00000000-0000-7000-8000-{n:012x}").parse()?;
        let title = format!("{} {n}.pdf", content_words(random, 3));
        let document = IndexedVersion { id: VersionId::first(id), labels: labels(n, title)? };
        Ok(Self { document, texts: (0..chunks).map(|_| chunk(random)).collect() })
    }

    /// Embeds its chunks with the built-in embedder, as ingestion does.
    pub(super) async fn embed(&self) -> Result<Vec<Embedding>> {
        let chunks: Vec<(u32, &str)> = (1..).zip(self.texts.iter().map(String::as_str)).collect();
        let lead = self.texts.first().map_or("", String::as_str);
        let headings = headings::of_chunks(self.texts.iter().map(String::as_str));
        let title = self.document.labels.title.as_str();
        let passages = Passages { title, lead, chunks: &chunks, headings: &headings };
        Ok(BuiltinEmbedder::default().embed_passages(passages).await?)
    }

    /// Converts its chunks to entries of the vector store.
    pub(super) fn into_entries(self, embeddings: Vec<Embedding>) -> Vec<IndexEntry> {
        let id = self.document.id;
        let entry = |(ordinal, ((text, headings), embedding)): (u32, ((String, String), Embedding))| {
            let page = ordinal + 1;
            IndexEntry {
                id: ChunkId::of(id, ordinal),
                ordinal,
                text,
                span: Span {
                    start: Position { page, offset: 0 },
                    end: Position { page: page + 1, offset: 0 },
                },
                pages: vec![PageStart { page, at: 0 }],
                headings,
                embedding,
            }
        };
        let headings = headings::before_chunks(self.texts.iter().map(String::as_str));
        (0..).zip(self.texts.into_iter().zip(headings).zip(embeddings)).map(entry).collect()
    }
}

/// The attribute with a number from 0 to 9, the same for every tenth document.
pub(super) const GROUP: &str = "group";
/// One in this many documents is in a collection.
const SHARES: [u32; 3] = [1, 10, 100];

/// The collection with one in `share` documents; see [`SHARES`].
pub(super) fn collection(share: u32) -> Result<CollectionId> {
    Ok(format!("00000000-0000-7000-8001-{share:012x}").parse()?)
}

fn labels(n: u32, title: String) -> Result<DocumentLabels> {
    let shares = SHARES.into_iter().filter(|share| n.is_multiple_of(*share));
    let group = (AttributeKey::parse(GROUP)?, AttributeValue::number(f64::from(n % 10))?);
    Ok(DocumentLabels {
        collections: shares.map(collection).collect::<Result<_>>()?,
        owner: None,
        file_name: title.clone(),
        title,
        pages: 1,
        language: Some("en".to_owned()),
        created_at: DateTime::UNIX_EPOCH,
        attributes: Attributes::new([group].into())?,
    })
}

/// A vector of unit length; `None` for 0 dimensions.
pub(super) fn dense_vector(random: &mut Random, dimensions: usize) -> Option<Vec<f32>> {
    let numbers: Vec<f32> = (0..dimensions).map(|_| fraction(random) as f32 - 0.5).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    (dimensions > 0).then(|| numbers.iter().map(|number| number / length).collect())
}

/// Reads a memory figure of this process in bytes.
pub(super) fn memory(name: &str) -> Result<u64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("reading memory works on Linux only")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("unknown memory figure")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}
