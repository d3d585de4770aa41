//! Extracts the content words of a query.

use super::tokens;
use docent_domain::file_type::FileType;

/// Returns the query's words in runs of adjacent words. Fiscal years become calendar years.
pub(super) fn content_words(query: &str) -> Vec<Vec<String>> {
    clauses(&without_extensions(query))
        .map(|clause| with_plain_years(tokens::words(clause)))
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

/// The sentences of a query that are questions, if it has other sentences too: those say how to answer, or why it is asked.
pub(super) fn asked(query: &str) -> Option<String> {
    let ends = |c: char| matches!(c, '.' | '!' | '?' | '？' | '。' | '\n');
    let is_end = |(at, text): (usize, &str)| {
        let after = query[at + text.len()..].chars().next();
        after.is_none_or(char::is_whitespace)
    };
    let mut start = 0;
    let (mut questions, mut others) = (Vec::new(), false);
    for (at, text) in query.match_indices(ends).filter(|found| is_end(*found)) {
        let sentence = &query[start..at];
        start = at + text.len();
        if matches!(text, "?" | "？") {
            questions.push(sentence);
        } else {
            others |= sentence.contains(char::is_alphanumeric);
        }
    }
    others |= query[start..].contains(char::is_alphanumeric);
    (others && !questions.is_empty()).then(|| questions.join("\n"))
}

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
