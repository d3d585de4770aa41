//! Synthetic text, the same in every run.
//!
//! Word frequencies follow Zipf's law, and the most frequent words are English function words, which carry no meaning in
//! queries. Vocabulary size and number of function words are chosen so that a query term occurs in about 11 % of all chunks;
//! for real questions about annual reports it is 12 %. A chunk has about 512 tokens.

use crate::random::Random;

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

/// A number from 0 to 1.
pub(super) fn fraction(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1_u64 << 53) as f64
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
pub(super) fn chunk(random: &mut Random) -> String {
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

pub(super) fn content_words(random: &mut Random, words: usize) -> String {
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
