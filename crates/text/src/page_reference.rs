//! Pages that a question names: “page 14”, “slide three”, “the last page”, “Seite 2”.

/// A page that a question names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPage {
    /// A page by its number, counted from 1.
    Number(u32),
    /// The last page.
    Last,
}

/// A question with the pages that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageReference {
    /// The pages in the order of the question, without repetitions. Empty if it names none.
    pub pages: Vec<NamedPage>,
    /// The question without the words that name them.
    pub rest: String,
}

const PAGES: [&str; 8] = ["page", "pages", "slide", "slides", "seite", "seiten", "folie", "folien"];
/// Words between a page's word and its number, and between two numbers.
const BETWEEN: [&str; 5] = ["no", "number", "nr", "and", "und"];
/// Words of a range.
const TO: [&str; 3] = ["to", "through", "bis"];
/// Pages with a name of their own, with those whose name is two words.
const COVERS: [&str; 4] = ["titelseite", "deckblatt", "coverpage", "titlepage"];
const COVER_WORDS: [&str; 3] = ["cover", "title", "front"];
const CARDINALS: [&str; 20] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const ORDINALS: [&str; 10] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const GERMAN_ORDINALS: [&str; 10] =
    ["erst", "zweit", "dritt", "viert", "fünft", "sechst", "siebt", "acht", "neunt", "zehnt"];
/// Longest range of pages; a longer one is not a reference to some pages.
const RANGE_MAX: u32 = 10;

impl PageReference {
    /// Finds the pages that a question names.
    pub fn of(question: &str) -> Self {
        let words = words(question);
        let word = |at: usize| words.get(at).map_or("", |(_, word)| word.as_str());
        let mut pages = Vec::new();
        let mut rest = String::new();
        let mut copied = 0;
        let mut at = 0;
        while at < words.len() {
            let found = numbered(&word, at).or_else(|| before_page(&word, at));
            let Some((named, used)) = found else {
                at += 1;
                continue;
            };
            rest.push_str(&question[copied..words[at].0.start]);
            copied = words[at + used - 1].0.end;
            at += used;
            for page in named {
                if !pages.contains(&page) {
                    pages.push(page);
                }
            }
        }
        rest.push_str(&question[copied..]);
        Self { pages, rest }
    }
}

/// The words in small letters, with their places.
fn words(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, c.is_alphanumeric()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push((from..at, text[from..at].to_lowercase()));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The pages at `at` in the form “page 3”, “pages 3 and 4” or “pages 3 to 5”, and the number of words.
fn numbered<'a>(word: &impl Fn(usize) -> &'a str, at: usize) -> Option<(Vec<NamedPage>, usize)> {
    if !PAGES.contains(&word(at)) {
        return None;
    }
    let first_at = at + 1 + usize::from(BETWEEN[..3].contains(&word(at + 1)));
    let first = cardinal(word(first_at))?;
    let mut pages = vec![NamedPage::Number(first)];
    let mut end = first_at + 1;
    let (joint, next) = (word(end), cardinal(word(end + 1)));
    // “pages 3–5” has no word between the numbers.
    let range_end = match next {
        Some(last) if TO.contains(&joint) => Some((last, 2)),
        _ => cardinal(joint).filter(|_| word(at).ends_with(['s', 'n'])).map(|last| (last, 1)),
    };
    match (range_end, next) {
        (Some((last, used)), _) if last > first && last - first < RANGE_MAX => {
            pages.extend((first + 1..=last).map(NamedPage::Number));
            end += used;
        }
        (_, Some(second)) if matches!(joint, "and" | "und") && word(at).ends_with(['s', 'n']) => {
            pages.push(NamedPage::Number(second));
            end += 2;
        }
        _ => {}
    }
    Some((pages, end - at))
}

/// The page at `at` in the form “first page” or “cover page”, and the number of words.
fn before_page<'a>(word: &impl Fn(usize) -> &'a str, at: usize) -> Option<(Vec<NamedPage>, usize)> {
    if COVERS.contains(&word(at)) {
        return Some((vec![NamedPage::Number(1)], 1));
    }
    let is_page = matches!(word(at + 1), "page" | "slide" | "seite" | "folie");
    let page = if is_page { ordinal(word(at)) } else { None }?;
    Some((vec![page], 2))
}

fn ordinal(word: &str) -> Option<NamedPage> {
    let place = |list: &[&str], word: &str| list.iter().position(|other| *other == word);
    let german = ["er", "en", "em", "es", "e"].iter().find_map(|end| word.strip_suffix(end));
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)?.parse().ok());
    let number = match () {
        () if COVER_WORDS.contains(&word) => Some(1),
        () if word == "last" || german == Some("letzt") => return Some(NamedPage::Last),
        () => place(&ORDINALS, word)
            .or_else(|| place(&GERMAN_ORDINALS, german?))
            .and_then(|at| u32::try_from(at + 1).ok())
            .or(digits),
    };
    number.filter(|number| *number > 0).map(NamedPage::Number)
}

fn cardinal(word: &str) -> Option<u32> {
    let written = || CARDINALS.iter().position(|other| *other == word).map(|at| at as u32 + 1);
    word.parse().ok().or_else(written).filter(|number| (1..100_000).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(question: &str) -> Vec<u32> {
        let number = |page: &NamedPage| match page {
            NamedPage::Number(number) => *number,
            NamedPage::Last => 0,
        };
        PageReference::of(question).pages.iter().map(number).collect()
    }

    #[test]
    fn pages_are_named_by_number_word_and_place() {
        for (question, expected) in [
            ("What is on page 14?", vec![14]),
            ("What date is at the beginning of page(1)?", vec![1]),
            ("Who signs on page fourteen?", vec![14]),
            ("What does slide 4 show in 2014?", vec![4]),
            ("Summarise pages 3 and 5.", vec![3, 5]),
            ("Summarise pages 3 to 5.", vec![3, 4, 5]),
            ("Summarise pages 3–5.", vec![3, 4, 5]),
            ("Who is named on the first page and on the last page?", vec![1, 0]),
            ("Which court is on the cover page?", vec![1]),
            ("What is on the 12th page?", vec![12]),
            ("Was steht auf Seite 2 und auf der dritten Seite?", vec![2, 3]),
            ("Was zeigt die letzte Folie?", vec![0]),
            ("What is on page 2 and on page 2?", vec![2]),
        ] {
            assert_eq!(pages(question), expected, "{question}");
        }
    }

    #[test]
    fn other_numbers_and_pages_name_none() {
        for question in [
            "How many pages has it?",
            "What are page likes?",
            "The report of 14 pages",
            "What is on page 0?",
            "Which items are on the first shelf?",
            "Wie viele Seiten hat das Handbuch?",
            "",
        ] {
            assert!(pages(question).is_empty(), "{question}");
        }
        assert_eq!(pages("pages 1 to 900"), [1]);
    }

    #[test]
    fn rest_is_the_question_without_the_pages() {
        let rest = |question| PageReference::of(question).rest;
        assert_eq!(rest("Who signs on page 14, and when?"), "Who signs on , and when?");
        assert_eq!(rest("Who signs the ünter form?"), "Who signs the ünter form?");
    }
}
