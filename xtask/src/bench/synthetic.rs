//! Generated documents: the same ones in every run.
//!
//! The frequency of a word is the inverse of its rank, as in natural language, and the most frequent ones are
//! English function words, which no question is about. Vocabulary and their number are chosen so that a term of a
//! question is in some 11 % of all chunks; with real questions over annual reports it is 12 %. A chunk has about
//! 512 tokens.

use anyhow::{Context, Result};
use docent_adapters::builtin::embedder::BuiltinEmbedder;
use docent_domain::{
    chunk::{PageStart, Position, Span},
    headings,
    id::{ChunkId, DocumentId},
    retrieval::{Embedding, IndexEntry, IndexedDocument, Passages},
    text::Title,
};
use docent_ports::embedder::Embedder;
use std::path::Path;

/// The words of a chunk.
const WORDS_PER_CHUNK: usize = 350;
const VOCABULARY: f64 = 50_000.0;
const WORDS_PER_LINE: usize = 14;
/// In so many chunks a section begins.
const CHUNKS_PER_HEADING: u64 = 2;
/// The words of the first ranks.
const FUNCTION_WORDS: [&str; 30] = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on",
    "not", "he", "this", "are", "or", "his", "from", "at", "which", "but", "have", "an", "had", "they",
];

/// A document before it is embedded.
pub(super) struct Document {
    pub(super) document: IndexedDocument,
    texts: Vec<String>,
}

impl Document {
    /// The `n`th one, of `chunks` chunks.
    pub(super) fn new(n: u32, chunks: u32, chance: &mut Chance) -> Result<Self> {
        let id: DocumentId = format!("00000000-0000-7000-8000-{n:012x}").parse()?;
        let title = format!("{} {n}.pdf", content_words(chance, 3));
        let document = IndexedDocument { id, title: Title::parse(&title)?, filename: title };
        Ok(Self { document, texts: (0..chunks).map(|_| chunk(chance)).collect() })
    }

    /// What the built-in embedder makes of its chunks, as at an ingestion.
    pub(super) async fn embed(&self) -> Result<Vec<Embedding>> {
        let chunks: Vec<(u32, &str)> = (1..).zip(self.texts.iter().map(String::as_str)).collect();
        let lead = self.texts.first().map_or("", String::as_str);
        let headings = headings::of_chunks(self.texts.iter().map(String::as_str));
        let title = self.document.title.as_str();
        let passages = Passages { title, lead, chunks: &chunks, headings: &headings };
        Ok(BuiltinEmbedder.embed_passages(passages).await?)
    }

    /// Its chunks for the vector store.
    pub(super) fn into_entries(self, embeddings: Vec<Embedding>) -> Vec<IndexEntry> {
        let id = self.document.id;
        let entry = |(ordinal, (text, embedding)): (u32, (String, Embedding))| {
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
                embedding,
            }
        };
        (0..).zip(self.texts.into_iter().zip(embeddings)).map(entry).collect()
    }
}

/// Numbers that are the same in every run (splitmix64).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A vector of unit length; none of no dimensions.
    pub(super) fn vector(&mut self, dimensions: usize) -> Option<Vec<f32>> {
        let numbers: Vec<f32> = (0..dimensions).map(|_| self.share() as f32 - 0.5).collect();
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        (dimensions > 0).then(|| numbers.iter().map(|number| number / length).collect())
    }

    /// The rank of a word in running text: its logarithm is even, so the frequency is the inverse of the rank.
    fn rank(&mut self) -> usize {
        VOCABULARY.powf(self.share()) as usize - 1
    }
}

/// A question of so many words, function words among them, as frequent as in the documents.
pub(super) fn question(chance: &mut Chance, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        push_word(chance.rank(), &mut text);
    }
    text
}

/// Lines of running text; in some chunks a heading before them.
fn chunk(chance: &mut Chance) -> String {
    let mut text = String::new();
    if chance.below(CHUNKS_PER_HEADING) == 0 {
        text.push_str(&capitalised(&content_words(chance, 3)));
        text.push('\n');
    }
    for n in 1..=WORDS_PER_CHUNK {
        push_word(chance.rank(), &mut text);
        if n % WORDS_PER_LINE == 0 {
            text.push('\n');
        }
    }
    text
}

fn content_words(chance: &mut Chance, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        let rank = std::iter::repeat_with(|| chance.rank()).find(|rank| *rank >= FUNCTION_WORDS.len());
        push_word(rank.unwrap_or_default(), &mut text);
    }
    text.trim_end().to_owned()
}

fn capitalised(words: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    };
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A function word or a pronounceable one, and a space.
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
        // No stemmer takes this for an ending.
        text.push('x');
    }
    text.push(' ');
}

/// A figure of this process in bytes, as Linux tells it.
pub(super) fn memory(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("memory is measured on Linux only")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such figure")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}

/// The bytes of all files in a folder.
pub(super) fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}
