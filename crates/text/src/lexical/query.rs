//! Extracts the content words of a query.

use super::tokens;
use docent_domain::file_type::FileType;

/// Returns the query's words without instructions, in runs of adjacent words. Fiscal years become calendar
/// years.
pub(super) fn content_words(query: &str) -> Vec<Vec<String>> {
    clauses(&without_extensions(query))
        .map(tokens::words)
        .filter(|words| !is_instruction(words))
        .flat_map(|words| without_phrases(&words))
        .map(with_plain_years)
        .filter(|run| !run.is_empty())
        .collect()
}

/// The name of a file without its extension, such as “report” of “report.pdf”; another word as it is.
pub(super) fn without_extension(word: &str) -> &str {
    let name =
        word.rsplit_once('.').filter(|(name, _)| !name.is_empty() && FileType::of_name(word).is_some());
    name.map_or(word, |(name, _)| name)
}

/// A query with the names of files without their extensions: no passage has these.
fn without_extensions(query: &str) -> String {
    let without = |part: &str| {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        [without_extension(word), &part[word.len()..]].concat()
    };
    query.split_inclusive(char::is_whitespace).map(without).collect()
}

/// Openings of clauses that only specify how to answer or which role to take.
const INSTRUCTIONS: [&str; 36] = [
    "act as",
    "answer as",
    "answer in",
    "answer the following question as",
    "answer the question as",
    "answer with",
    "approach the question",
    "assume that you",
    "assume you",
    "be brief",
    "be concise",
    "explain why",
    "express the answer",
    "express your",
    "for example",
    "format the answer",
    "format the date as",
    "format your",
    "give me an integer",
    "give your answer",
    "imagine that you",
    "imagine you",
    "pretend",
    "represent these",
    "respond in",
    "round to",
    "round the",
    "round your",
    "save your",
    "the answer needs",
    "the answer should",
    "write down",
    "write in",
    "write the answer",
    "write your",
    "you are a",
];

/// Phrases that only introduce a question. Longer ones come first if they begin with another.
const PHRASES: [&str; 84] = [
    "give a response to the question",
    "give a response",
    "give an answer",
    "give me",
    "answer the following question",
    "answer the question",
    "respond to the question",
    "by relying on",
    "relying on",
    "rely on",
    "primarily based on",
    "based on",
    "by primarily using",
    "by using",
    "primarily using",
    "using only the",
    "using only",
    "using the",
    "according to the documents",
    "according to the document",
    "according to",
    "information that is shown",
    "information that is provided",
    "information shown",
    "information provided",
    "information given",
    "the information in",
    "details that are shown",
    "the details shown",
    "details shown",
    "details provided",
    "the details in",
    "data shown",
    "data provided",
    "as shown in",
    "shown in",
    "as stated in",
    "said about",
    "say about",
    "says about",
    "stated in",
    "as mentioned in",
    "mentioned in",
    "provided in",
    "in the documents",
    "in the document",
    "in my documents",
    "the documents say",
    "the document say",
    "is said about",
    "say about",
    "base your judgments on",
    "to the best of your abilities",
    "tell me",
    "show me",
    "let me know",
    "state that",
    "explain why",
    "i want to know",
    "i would like to know",
    "want to know",
    "like to know",
    "look up",
    "find out",
    "search for",
    "is there any information",
    "any information",
    "how much",
    "how many",
    "how often",
    "how long",
    "thank you",
    "thanks",
    "help me",
    "we need to",
    "taking into account",
    "in agreement with",
    "wie hoch",
    "wie viel",
    "wie viele",
    "wie lange",
    "wie oft",
    "laut",
    "gibt es",
];

/// Words without content in a question.
const FILLER_WORDS: [&str; 27] = [
    "answer",
    "answers",
    "beschreibe",
    "bitte",
    "briefly",
    "calculate",
    "clearly",
    "considering",
    "describe",
    "erkläre",
    "explain",
    "following",
    "gib",
    "give",
    "kindly",
    "nenne",
    "nennen",
    "outlined",
    "please",
    "primarily",
    "question",
    "questions",
    "respond",
    "response",
    "tell",
    "utilizing",
    "zeige",
];

fn clauses(query: &str) -> impl Iterator<Item = &str> {
    // A full stop or comma ends a clause only before white space: it also stands within numbers and names.
    let ends = |text: &str| {
        text.char_indices().find_map(|(at, c)| {
            let after = text[at + c.len_utf8()..].chars().next();
            let before_space = after.is_none_or(char::is_whitespace);
            let end = match c {
                '.' | ',' | ':' => before_space,
                _ => matches!(
                    c,
                    ';' | '?' | '!' | '(' | ')' | '"' | '“' | '”' | '\n' | '。' | '、' | '？' | '！'
                ),
            };
            end.then_some((at, at + c.len_utf8()))
        })
    };
    let mut rest = Some(query);
    std::iter::from_fn(move || {
        let text = rest?;
        let (clause, after) =
            ends(text).map_or((text, None), |(end, next)| (&text[..end], Some(&text[next..])));
        rest = after;
        Some(clause)
    })
}

fn is_instruction(words: &[String]) -> bool {
    let polite =
        words.iter().take_while(|word| matches!(word.as_str(), "please" | "kindly" | "and" | "then"));
    let words = words.get(polite.count()..).unwrap_or_default();
    INSTRUCTIONS.iter().any(|opening| starts_with(words, opening)) || is_unit(words) || is_reservation(words)
}

/// Words of which a clause consists that only names the unit of the answer, such as “(in USD millions)”.
const UNIT_WORDS: [&str; 19] = [
    "billion",
    "billions",
    "dollar",
    "dollars",
    "eur",
    "euro",
    "euros",
    "in",
    "million",
    "millions",
    "of",
    "percent",
    "percents",
    "thousand",
    "thousands",
    "units",
    "us",
    "usd",
    "s",
];

fn is_unit(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "in")
        && words.iter().all(|word| UNIT_WORDS.contains(&word.as_str()))
}

/// Words for what does not apply.
const APPLICABLE: [&str; 6] = ["applicable", "appropriate", "available", "meaningful", "relevant", "useful"];

/// Whether a clause only says what to do if the question does not apply, such as "if this is not a useful figure".
fn is_reservation(words: &[String]) -> bool {
    let has = |sought: &str| words.iter().any(|word| word == sought);
    starts_with(words, "if") && has("not") && APPLICABLE.iter().any(|word| has(word))
}

fn starts_with(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|expected| words.next().is_some_and(|word| word == expected))
}

fn without_phrases(words: &[String]) -> Vec<Vec<String>> {
    let mut runs = vec![Vec::new()];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let phrase = PHRASES.iter().find(|phrase| starts_with(&words[at..], phrase));
        if let Some(phrase) = phrase {
            at += phrase.split(' ').count();
            runs.push(Vec::new());
        } else if FILLER_WORDS.contains(&word.as_str()) {
            at += 1;
            runs.push(Vec::new());
        } else {
            at += 1;
            if let Some(run) = runs.last_mut() {
                run.push(word.clone());
            }
        }
    }
    runs
}

/// `fy18`, `fy 2018`, `fiscal 2018` and `fiscal year 2018` as `2018`.
fn with_plain_years(words: Vec<String>) -> Vec<String> {
    let mut plain = Vec::with_capacity(words.len());
    let mut rest = words.as_slice();
    while let [first, after @ ..] = rest {
        // “Year end 2017” and “2017 year end” name the same time.
        let is_end = |words: &[String]| matches!(words, [year, end, ..] if year == "year" && end == "end");
        if is_end(rest) && after.get(1).is_some_and(|word| is_dated(word)) || is_dated(first) && is_end(after)
        {
            let skipped = usize::from(!is_end(rest));
            plain.extend(
                rest[..skipped]
                    .iter()
                    .map(|word| word.strip_prefix("fy").and_then(year).unwrap_or_else(|| word.clone())),
            );
            rest = &rest[skipped + 2..];
            continue;
        }
        let (year, used) = match after {
            _ if first.strip_prefix("fy").and_then(year).is_some() => {
                (first.strip_prefix("fy").and_then(year), 1)
            }
            [second, ..] if matches!(first.as_str(), "fy" | "fiscal") && year(second).is_some() => {
                (year(second), 2)
            }
            [second, third, ..] if is_fiscal(first) && second == "year" && year(third).is_some() => {
                (year(third), 3)
            }
            _ => (None, 1),
        };
        plain.push(year.unwrap_or_else(|| first.clone()));
        rest = &rest[used..];
    }
    plain
}

/// Whether a word is a year, also with “FY” before it.
fn is_dated(word: &str) -> bool {
    word.len() >= 4 && year(word.strip_prefix("fy").unwrap_or(word)).is_some()
}

fn is_fiscal(word: &str) -> bool {
    matches!(word, "fiscal" | "financial")
}

/// A year written with two or four digits, with four.
fn year(text: &str) -> Option<String> {
    let digits = text.chars().all(|c| c.is_ascii_digit());
    match text.len() {
        4 if digits && (text.starts_with("19") || text.starts_with("20")) => Some(text.to_owned()),
        // Two digits are of this century up to 69, as POSIX has it.
        2 if digits => Some(format!("{}{text}", if text < "69" { "20" } else { "19" })),
        _ => None,
    }
}
