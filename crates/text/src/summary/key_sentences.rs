//! Selection of the sentences that tell most about a document.
//!
//! A sentence is central if its words occur in many other sentences (SumBasic, Nenkova and Vanderwende 2005), early sentences
//! tell more than late ones (Edmundson 1969), and a sentence that repeats a selected one is left out (maximal marginal
//! relevance, Carbonell and Goldstein 1998). Fragments, tables, references and legal boilerplate are no candidates.

use super::lines::{CleanPage, clean};
use super::vocabulary::{
    BOILERPLATE, CONDITIONAL, CONTINUATIONS, DEFINING, DOCUMENT_WORDS, STOP_WORDS, THIS, WEAK, phrases,
};
use crate::sentences::{self, Sentence};
use crate::table;
use docent_domain::extraction::ExtractedPage;
use docent_domain::summary::POINTS_MAX;
use std::collections::{HashMap, HashSet};
use unicode_segmentation::UnicodeSegmentation;

/// Text beyond this is not read; the beginning of a document tells most.
const TEXT_BYTES: usize = 3_000_000;
/// Length of a sentence in words, and its maximum in characters.
const WORDS: std::ops::RangeInclusive<usize> = 8..=45;
const CHARS_MAX: usize = 320;
/// Minimum number of words of a line without a full stop, in documents that have few sentences.
const FRAGMENT_WORDS: usize = 5;
/// With fewer sentences, fragments are candidates too.
const SENTENCES_MIN: usize = 6;
/// Sentences that share more of their words repeat each other.
const SIMILARITY_MAX: f32 = 0.5;
/// Pages on which the description is looked for: at least this many, and this fraction.
const DESCRIPTION_PAGES: usize = 4;
const DESCRIPTION_SHARE: usize = 5;
/// Maximum number of sentences of the beginning of a document with at least so many pages.
const EARLY_MAX: usize = 4;
const LONG_PAGES: usize = 20;

/// A sentence and its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySentence {
    /// The sentence on one line.
    pub text: String,
    /// Page number, starting at 1.
    pub page: u32,
}

/// The sentences of a summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySentences {
    /// The sentence that says what the document is or what it is about.
    pub description: Option<KeySentence>,
    /// Other important sentences in reading order.
    pub points: Vec<KeySentence>,
    /// The years that the text mentions most, in order.
    pub years: Vec<u16>,
}

/// Selects sentences of a document with this title.
pub fn select(title: &str, pages: &[ExtractedPage]) -> KeySentences {
    let mut bytes = 0;
    let read = pages.iter().take_while(|page| {
        bytes += page.text.len();
        bytes <= TEXT_BYTES || page.number == 1
    });
    let read: Vec<ExtractedPage> = read.cloned().collect();
    let cleaned = without_references(clean(&read));
    let mut candidates = candidates(&cleaned, is_sentence);
    if candidates.len() < SENTENCES_MIN {
        candidates = self::candidates(&cleaned, |sentence| is_sentence(sentence) || is_fragment(sentence));
    }
    let years = years(cleaned.iter().map(|page| page.text.as_str()));
    let weights = Weights::of(title, &candidates);
    let position = Position::of(&cleaned);
    let tells = |it: &Candidate| weights.centrality(it) * form_factor(&it.text);
    let words = title_words(title);
    let describes = |it: &Candidate| description_factor(&words, &it.text);
    let mean =
        candidates.iter().map(|it| weights.centrality(it)).sum::<f32>() / candidates.len().max(1) as f32;
    let may_describe = |it: &&Candidate| {
        position.may_describe(it)
            && describes(it) >= DESCRIBES
            && !is_weak(&it.text)
            && weights.centrality(it) >= CENTRAL_SHARE * mean
    };
    let first =
        best(candidates.iter().filter(may_describe), |it| tells(it) * describes(it) * position.early(it));
    let mut chosen: Vec<&Candidate> = first.into_iter().collect();
    let scores: Vec<f32> = candidates.iter().map(|it| tells(it) * position.factor(it)).collect();
    while chosen.len() < POINTS_MAX + usize::from(first.is_some()) {
        let early = chosen.iter().filter(|it| position.is_early(it)).count();
        let fits = |it: &Candidate| (early < EARLY_MAX || !position.is_early(it)) && is_new(it, &chosen);
        let next = best(candidates.iter().zip(&scores).filter(|(it, _)| fits(it)), |(it, score)| {
            let same_page = chosen.iter().filter(|other| other.page == it.page).count();
            **score * 0.75_f32.powi(i32::try_from(same_page).unwrap_or(i32::MAX))
        });
        let Some((next, _)) = next else { break };
        chosen.push(next);
    }
    let key = |it: &Candidate| KeySentence { text: it.text.clone(), page: it.page };
    let mut points: Vec<&Candidate> = chosen[usize::from(first.is_some())..].to_vec();
    points.sort_by_key(|it| it.ordinal);
    let description = first.map(key).or_else(|| cleaned.first().and_then(cover));
    KeySentences { description, points: points.into_iter().map(key).collect(), years }
}

/// Maximum number and length of the lines of a cover.
const COVER_LINES: usize = 3;
const COVER_CHARS: usize = 90;
/// Lines of covers of filings that are the same for every one.
const COVER_SKIPPED: [&str; 3] = ["united states", "securities and exchange commission", "washington, d"];

/// The first lines of the first page, if they are a title.
fn cover(page: &CleanPage) -> Option<KeySentence> {
    let lines = page.text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let is_title = |line: &String| {
        let letters = line.chars().filter(|c| c.is_alphabetic()).count();
        let all = line.chars().count();
        all <= COVER_CHARS && letters >= 3 && letters * 3 >= all * 2 && !line.ends_with(['.', ',', ';'])
    };
    let is_said = |line: &String| {
        let line = line.to_lowercase();
        !line.is_empty() && !COVER_SKIPPED.iter().any(|skipped| line.starts_with(skipped))
    };
    let lines: Vec<String> = lines.filter(is_said).take(COVER_LINES).take_while(is_title).collect();
    let text = lines.join(" · ");
    (text.split(' ').count() >= 2).then_some(KeySentence { text, page: page.number })
}

/// A sentence that can be selected.
struct Candidate {
    text: String,
    page: u32,
    /// Position among the pages and among the sentences of the document.
    page_index: usize,
    ordinal: usize,
    /// Its distinct content words.
    words: HashSet<String>,
}

fn candidates(pages: &[CleanPage], is_candidate: impl Fn(&str) -> bool) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let mut ordinal = 0;
    for (page_index, page) in pages.iter().enumerate() {
        for Sentence { text, row, .. } in sentences::split(&page.text) {
            ordinal += 1;
            let text = without_marker(&text).to_owned();
            if row.is_some() || !is_candidate(&text) || !known.insert(text.to_lowercase()) {
                continue;
            }
            let words = words(&text);
            candidates.push(Candidate { text, page: page.number, page_index, ordinal, words });
        }
    }
    candidates
}

/// The text of a list item without its marker.
fn without_marker(text: &str) -> &str {
    let is_marker = |c: char| {
        matches!(
            c,
            '•' | '▪'
                | '◦'
                | '●'
                | '■'
                | '‣'
                | '·'
                | '➢'
                | '✓'
                | '–'
                | '—'
                | '-'
                | '*'
                | '#'
                | ' '
        )
    };
    text.trim_start_matches(is_marker)
}

/// Whether this is a whole sentence of running text.
fn is_sentence(text: &str) -> bool {
    let end = text.trim_end_matches(['"', '”', '’', '“', ')', ']']);
    let words = text.split(' ').count();
    end.ends_with(['.', '!', '。'])
        && WORDS.contains(&words)
        && is_prose(text)
        && begins_well(text)
        && !is_boilerplate(text)
}

/// Whether this is a point of a slide.
fn is_fragment(text: &str) -> bool {
    let words = text.split(' ').filter(|word| word.chars().any(char::is_alphabetic)).count();
    (FRAGMENT_WORDS..=*WORDS.end()).contains(&words)
        && is_prose(text)
        && !text.ends_with([',', ';', ':', '.'])
        && text.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
        && !is_boilerplate(text)
}

/// Whether most characters are small letters, as in running text.
fn is_prose(text: &str) -> bool {
    let (mut all, mut small, mut capital, mut digits) = (0, 0, 0, 0);
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        all += 1;
        if c.is_uppercase() {
            capital += 1;
        } else if c.is_alphabetic() {
            small += 1;
        } else if c.is_numeric() {
            digits += 1;
        }
    }
    let single = text.split(' ').filter(|word| word.chars().count() == 1).count();
    all <= CHARS_MAX
        && (small + capital) * 10 >= all * 8
        && capital * 4 <= small.max(1)
        && digits * 8 <= all
        && single * 4 <= text.split(' ').count()
        && !text.contains(['|', '\u{fffd}', '=', '∑', '∈', '→'])
        && !table::is_row(text)
}

/// Whether a sentence can be understood on its own: it begins with a capital letter, and does not continue the one before.
fn begins_well(text: &str) -> bool {
    let text = text.trim_start_matches(['"', '“', '„', '‘', '(']);
    let first = text.split(' ').next().unwrap_or_default();
    let word: String = first.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
    text.starts_with(char::is_uppercase) && !CONTINUATIONS.contains(&format!(" {word} "))
}

fn is_boilerplate(text: &str) -> bool {
    let text = text.to_lowercase();
    phrases(BOILERPLATE).any(|phrase| text.contains(phrase))
}

/// Number of words at the beginning of a sentence in which these are looked for.
const OPENING_WORDS: usize = 12;
/// Minimum centrality of a description, relative to the mean: others are about the publisher.
const CENTRAL_SHARE: f32 = 0.6;
/// Minimum factor of a description.
const DESCRIBES: f32 = 1.5;

/// How much a sentence looks like the description of the document with this title.
fn description_factor(title: &HashSet<String>, text: &str) -> f32 {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(' ').take(OPENING_WORDS).collect();
    let opening = words.join(" ");
    let is_in = |list: &str, word: &str| list.contains(&format!(" {word} "));
    if phrases(CONDITIONAL).any(|beginning| text.starts_with(beginning)) {
        return 0.0;
    }
    let names_itself = words.windows(2).take(5).any(|pair| match pair {
        [this, noun] => {
            is_in(THIS, this) && is_in(DOCUMENT_WORDS, noun.trim_matches(|c: char| !c.is_alphanumeric()))
        }
        _ => false,
    });
    let defines = phrases(DEFINING).any(|phrase| opening.contains(phrase));
    let plain = |word: &&str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let names_subject = words.iter().take(5).map(plain).any(|word| title.contains(&word));
    let factor = match (names_itself, defines) {
        (true, true) => 2.6,
        (true, false) => 1.6,
        (false, true) => 2.0,
        (false, false) => 0.8,
    };
    if names_subject { factor * 1.5 } else { factor }
}

/// The words and numbers of a title in lower case. File names have them separated by other characters.
fn title_words(title: &str) -> HashSet<String> {
    let is_common =
        |word: &str| word.chars().all(|c| c.is_ascii_digit()) || matches!(word, "pdf" | "the" | "of" | "and");
    let words = title.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() >= 2 && !is_common(word)).collect()
}

/// Whether a sentence has a weak phrase.
fn is_weak(text: &str) -> bool {
    let text = text.to_lowercase();
    phrases(WEAK).any(|phrase| text.contains(phrase))
}

/// How much less a sentence tells because of its form.
fn form_factor(text: &str) -> f32 {
    let words = text.split(' ').count();
    let text = text.to_lowercase();
    let weak = phrases(WEAK).filter(|phrase| text.contains(phrase)).count().min(2);
    0.7_f32.powi(i32::try_from(weak).unwrap_or(0)) * if words > 35 { 0.85 } else { 1.0 }
}

/// The distinct content words of a text.
pub fn words(text: &str) -> HashSet<String> {
    content_words(text).collect()
}

/// The stems of the content words of a text, in a form that needs no dictionary: the first letters.
fn content_words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.unicode_words().map(str::to_lowercase);
    let is_content = |word: &String| {
        word.chars().count() >= 4
            && word.chars().all(char::is_alphabetic)
            && !STOP_WORDS.contains(&format!(" {word} "))
    };
    words.filter(is_content).map(|word| word.chars().take(7).collect())
}

/// How much the words of the document weigh.
struct Weights {
    words: HashMap<String, f32>,
}

impl Weights {
    fn of(title: &str, candidates: &[Candidate]) -> Self {
        let mut counts: HashMap<String, f32> = HashMap::new();
        for word in candidates.iter().flat_map(|candidate| &candidate.words) {
            *counts.entry(word.clone()).or_default() += 1.0;
        }
        let all = candidates.len().max(1) as f32;
        let weight =
            |count: f32| if count < 2.0 { 0.1 } else { (1.0 + count).ln() * (1.0 + all / count).ln() };
        let mut words: HashMap<String, f32> =
            counts.into_iter().map(|(word, count)| (word, weight(count))).collect();
        for word in content_words(&title.replace(['_', '-', '.'], " ")) {
            words.entry(word).and_modify(|weight| *weight *= 1.5);
        }
        Self { words }
    }

    /// The mean weight of the words, with fewer points for few words.
    fn centrality(&self, candidate: &Candidate) -> f32 {
        let sum: f32 = candidate.words.iter().filter_map(|word| self.words.get(word)).sum();
        sum / (candidate.words.len() as f32 + 3.0)
    }
}

/// How much earlier sentences are preferred.
struct Position {
    pages: usize,
}

impl Position {
    fn of(pages: &[CleanPage]) -> Self {
        Self { pages: pages.len().max(1) }
    }

    fn factor(&self, candidate: &Candidate) -> f32 {
        let at = candidate.page_index as f32 / self.pages as f32;
        1.0 + 0.9 * (-6.0 * at).exp()
    }

    /// The same for the description.
    fn early(&self, candidate: &Candidate) -> f32 {
        1.0 + 3.0 / (2.0 + candidate.page_index as f32)
    }

    /// Whether a sentence is on the first pages of a long document.
    fn is_early(&self, candidate: &Candidate) -> bool {
        self.pages >= LONG_PAGES && candidate.page_index * 7 < self.pages
    }

    fn may_describe(&self, candidate: &Candidate) -> bool {
        candidate.page_index
            < (self.pages / DESCRIPTION_SHARE).clamp(DESCRIPTION_PAGES, 4 * DESCRIPTION_PAGES)
    }
}

/// Whether a sentence does not repeat one of the chosen ones.
fn is_new(candidate: &Candidate, chosen: &[&Candidate]) -> bool {
    chosen.iter().all(|other| {
        let shared = candidate.words.intersection(&other.words).count() as f32;
        let smaller = candidate.words.len().min(other.words.len()).max(1) as f32;
        candidate.ordinal != other.ordinal && shared / smaller <= SIMILARITY_MAX
    })
}

/// The item with the highest score; the first of equal ones.
fn best<T>(items: impl Iterator<Item = T>, score: impl Fn(&T) -> f32) -> Option<T> {
    let mut best: Option<(T, f32)> = None;
    for item in items {
        let score = score(&item);
        if best.as_ref().is_none_or(|(_, highest)| score > *highest) {
            best = Some((item, score));
        }
    }
    best.map(|(item, _)| item)
}

/// Titles of lists of references.
const REFERENCES: [&str; 8] = [
    "references",
    "bibliography",
    "works cited",
    "literature cited",
    "literatur",
    "literaturverzeichnis",
    "quellen",
    "quellenverzeichnis",
];

/// The pages up to a list of references in their second half.
fn without_references(mut pages: Vec<CleanPage>) -> Vec<CleanPage> {
    let half = pages.len() / 3;
    let is_title = |line: &str| {
        let title = line.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        REFERENCES.contains(&title.as_str())
    };
    let found = pages.iter().enumerate().skip(half).find_map(|(index, page)| {
        let line = page.text.lines().find(|line| is_title(line))?;
        Some((index, line.as_ptr() as usize - page.text.as_ptr() as usize))
    });
    if let Some((index, at)) = found {
        pages.truncate(index + 1);
        if let Some(last) = pages.last_mut() {
            last.text.truncate(at);
        }
    }
    pages
}

/// Maximum number of years, the fraction of all years that each is, and how often it is mentioned at least.
const YEARS_MAX: usize = 3;
const YEAR_SHARE: usize = 6;
const YEAR_MIN: usize = 3;

fn years<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<u16> {
    let mut counts: HashMap<u16, usize> = HashMap::new();
    for text in texts {
        let numbers = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, ',' | '.' | '$')));
        for number in numbers.map(|number| number.trim_end_matches([',', '.'])).filter(|it| it.len() == 4) {
            if let Some(year) = number.parse().ok().filter(|year| (1900..2100).contains(year)) {
                *counts.entry(year).or_default() += 1;
            }
        }
    }
    let all: usize = counts.values().sum();
    let mut frequent: Vec<(u16, usize)> =
        counts.into_iter().filter(|(_, n)| *n >= YEAR_MIN && n * YEAR_SHARE >= all).collect();
    frequent.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.cmp(&a.0)));
    frequent.truncate(YEARS_MAX);
    let mut years: Vec<u16> = frequent.into_iter().map(|(year, _)| year).collect();
    years.sort_unstable();
    years
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(texts: &[&str]) -> Vec<ExtractedPage> {
        let page = |(text, number): (&&str, u32)| ExtractedPage {
            number,
            text: (*text).to_owned(),
            ..ExtractedPage::default()
        };
        texts.iter().zip(1..).map(page).collect()
    }

    const MANUAL: [&str; 4] = [
        "Pump P9\nManual\n\nThis manual describes the pump P9, which moves clean water in houses and gardens. Copyright \
         2019 by the maker of the pump, all rights reserved in every country.",
        "The pump moves four thousand litres of clean water in an hour. The motor of the pump needs service once a year in a \
         workshop.\n\n| Part | Price |\n|---|---|\n| The motor of the pump costs this much in any workshop. | 5 |",
        "In winter the pump must be emptied, because frost destroys the housing and the motor. It was green and it was blue on \
         that day as well. The motor of the pump needs service once a year in a workshop!",
        "References\nThe motor of the pump is described by the author of the first work on pumps.",
    ];

    #[test]
    fn description_and_points_are_sentences_with_their_pages() {
        let found = select("P9_manual.pdf", &pages(&MANUAL));
        let description = found.description.unwrap();
        assert_eq!(
            (description.text.as_str(), description.page),
            ("This manual describes the pump P9, which moves clean water in houses and gardens.", 1)
        );
        let points: Vec<(&str, u32)> = found.points.iter().map(|it| (it.text.as_str(), it.page)).collect();
        assert_eq!(
            points,
            [
                ("The pump moves four thousand litres of clean water in an hour.", 2),
                ("The motor of the pump needs service once a year in a workshop.", 2),
                ("In winter the pump must be emptied, because frost destroys the housing and the motor.", 3),
            ]
        );
    }

    #[test]
    fn number_of_points_is_limited() {
        let topics =
            ["pumps", "valves", "motors", "cables", "seals", "filters", "hoses", "tanks", "screws", "covers"];
        let words =
            "painted bolted wooden polished plastic bronze steel copper rubber gravel marble timber cotton"
                .split(' ');
        let words: Vec<&str> = words.collect();
        let text: Vec<String> = topics
            .iter()
            .enumerate()
            .map(|(n, it)| format!("The {it} are {} with {}, it seems.", words[n], words[n + 1]))
            .collect();
        let found = select("parts", &pages(&[&text.join("\n\n")]));
        assert_eq!(found.points.len(), POINTS_MAX);
        assert!(found.points.iter().all(|point| point.page == 1));
    }

    #[test]
    fn points_of_slides_are_used_where_there_are_no_sentences() {
        let slides = [
            "Mobile market 2015\n• Android has a share of four fifths",
            "Q3\n• Revenue of games grew in all regions",
        ];
        let found = select("deck", &pages(&slides));
        let texts: Vec<&str> = found.points.iter().map(|point| point.text.as_str()).collect();
        assert_eq!(texts, ["Android has a share of four fifths", "Revenue of games grew in all regions"]);
        let description = found.description.unwrap();
        assert!(description.text.starts_with("Mobile market 2015"), "{description:?}");
    }

    #[test]
    fn forms_and_fragments_are_no_sentences() {
        assert!(is_sentence("The pump moves four thousand litres of clean water in an hour."));
        for text in [
            "Indicate by check mark whether the registrant is a shell company or not.",
            "NET SALES OF THE COMPANY AND ITS SUBSIDIARIES IN ALL REGIONS.",
            "Sales 2018 4,000 3,500 and 2017 3,200 2,900 in total for the year.",
            "However, this was different in the year before that one.",
            "of the pump and the motor, which needs service once a year.",
            "See https://example.org for more about the pump and its motor.",
            "Too short a sentence.",
        ] {
            assert!(!is_sentence(text), "{text}");
        }
    }

    #[test]
    fn frequent_years_are_found() {
        let text = "In 2018 and 2018, 2018. 2017 2017 2017; 1850 1850 1850 $2,016 and 2016 (2015)";
        assert_eq!(years([text].into_iter()), [2017, 2018]);
        assert_eq!(years(std::iter::empty()), [0_u16; 0]);
    }

    #[test]
    fn document_without_text_has_no_summary() {
        assert_eq!(select("x", &[]), KeySentences::default());
        assert_eq!(select("x", &pages(&["", "12"])), KeySentences::default());
    }

    #[test]
    fn long_documents_are_read_in_part() {
        let page = format!("The pump moves four thousand litres of clean water.\n{}", "x".repeat(TEXT_BYTES));
        let found = select("x", &pages(&[&page, "The motor of the pump needs service once a year."]));
        assert!(found.points.iter().all(|point| point.page == 1), "{found:?}");
    }
}
