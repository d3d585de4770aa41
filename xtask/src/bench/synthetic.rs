//! Synthetic documents, the same in every run.
//!
//! Word frequencies follow Zipf's law, and the most frequent words are English function words, which carry no meaning in
//! queries. Vocabulary size and number of function words are chosen so that a query term occurs in about 11 % of all chunks;
//! for real questions about annual reports it is 12 %. A chunk has about 512 tokens.

use crate::random::Random;
use anyhow::{Context, Result};
use chrono::DateTime;
use docent_adapters::builtin::embedder::BuiltinEmbedder;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::headings;
use docent_domain::id::{ChunkId, CollectionId, DocumentId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::{Embedding, IndexEntry, IndexedVersion, Passages};
use docent_ports::embedder::Embedder;
use std::path::Path;

/// Words per chunk.
const WORDS_PER_CHUNK: usize = 350;
const VOCABULARY: f64 = 50_000.0;
const WORDS_PER_LINE: usize = 14;
/// Chunks per section heading.
const CHUNKS_PER_HEADING: u64 = 2;
/// The most frequent words, by rank.
const FUNCTION_WORDS: [&str; 30] = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on",
    "not", "he", "this", "are", "or", "his", "from", "at", "which", "but", "have", "an", "had", "they",
];

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
        let passages = Passages { title, lead, chunks: &chunks, headings: &headings, context: &[] };
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
                context: String::new(),
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

/// A number from 0 to 1.
fn fraction(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A vector of unit length; `None` for 0 dimensions.
pub(super) fn dense_vector(random: &mut Random, dimensions: usize) -> Option<Vec<f32>> {
    let numbers: Vec<f32> = (0..dimensions).map(|_| fraction(random) as f32 - 0.5).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    (dimensions > 0).then(|| numbers.iter().map(|number| number / length).collect())
}

/// The rank of a random word; its logarithm is uniform, so that frequencies are inverse to ranks.
fn word_rank(random: &mut Random) -> usize {
    VOCABULARY.powf(fraction(random)) as usize - 1
}

/// Generates a question with the word frequencies of the documents.
pub(super) fn question(random: &mut Random, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        push_word(word_rank(random), &mut text);
    }
    text
}

/// Generates lines of text, in some chunks after a heading.
fn chunk(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(CHUNKS_PER_HEADING) == 0 {
        text.push_str(&capitalize(&content_words(random, 3)));
        text.push('\n');
    }
    for n in 1..=WORDS_PER_CHUNK {
        push_word(word_rank(random), &mut text);
        if n % WORDS_PER_LINE == 0 {
            text.push('\n');
        }
    }
    text
}

fn content_words(random: &mut Random, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        let rank = std::iter::repeat_with(|| word_rank(random)).find(|rank| *rank >= FUNCTION_WORDS.len());
        push_word(rank.unwrap_or_default(), &mut text);
    }
    text.trim_end().to_owned()
}

fn capitalize(words: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Appends the word of a rank and a space.
fn push_word(rank: usize, text: &mut String) {
    const CONSONANTS: [char; 12] = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 't', 'v'];
    const VOWELS: [char; 4] = ['a', 'e', 'i', 'o'];
    if let Some(word) = FUNCTION_WORDS.get(rank) {
        text.push_str(word);
    } else {
        let mut rank = rank;
        while rank > 0 {
            text.push(CONSONANTS[rank % 12]);
            text.push(VOWELS[rank / 12 % 4]);
            rank /= 48;
        }
        // Keeps stemmers from changing the word.
        text.push('x');
    }
    text.push(' ');
}

/// Reads a memory figure of this process in bytes.
pub(super) fn memory(name: &str) -> Result<u64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("reading memory works on Linux only")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("unknown memory figure")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}

/// Total size in bytes of the files in a directory.
pub(super) fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}
