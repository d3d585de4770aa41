//! Words of a page with their places.

use crate::recognition::{PageBox, RecognizedPage};

/// Maximum number of words of a page; the rest is left out.
pub const WORDS_MAX: usize = 20_000;

/// A word, or a line whose words are not known one by one, with its place on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageWord {
    /// The text.
    pub text: String,
    /// Where it is.
    pub bounds: PageBox,
}

/// The words of a page, by line.
pub type PageLines = Vec<Vec<PageWord>>;

/// The words of a page whose text was recognised.
pub fn of_recognized(page: RecognizedPage) -> PageLines {
    let words = page.lines.into_iter().map(|line| {
        line.words.into_iter().map(|word| PageWord { text: word.text, bounds: word.bounds }).collect()
    });
    words.collect()
}
