//! Joins words that are hyphenated at line ends.

use super::line::Line;
use std::collections::HashSet;

/// Maximum number of stored compounds per document; long books have fewer.
const MAX_COMPOUNDS: usize = 20_000;

/// Joins a page's lines, using the hyphenated compounds of earlier pages.
#[derive(Debug, Default)]
pub(super) struct Hyphens {
    /// Words seen with a hyphen inside a line, in lower case.
    compounds: HashSet<String>,
}

/// A word broken at a line end.
struct Break<'l> {
    /// The part before the hyphen, in lower case.
    head: String,
    /// The next line up to the first space.
    token: &'l str,
    /// The letters at the start of the token.
    tail: &'l str,
    soft: bool,
}

impl Hyphens {
    /// Joins lines with `\n` at the end of each and an empty line before each paragraph. A broken word is joined on the
    /// first of its lines. Returns the text, and where each line begins in it, before the empty line.
    pub(super) fn join(&mut self, mut lines: Vec<Line>) -> (String, Vec<usize>) {
        self.record_compounds(&lines);
        let broken = (1..lines.len()).any(|i| find_break(&lines[i - 1], &lines[i]).is_some());
        let words = if broken { words_of(&lines) } else { HashSet::new() };
        let mut out = String::with_capacity(lines.iter().map(|line| line.text.len() + 1).sum());
        let mut starts = Vec::with_capacity(lines.len());
        for i in 0..lines.len() {
            starts.push(out.len());
            if lines[i].text.is_empty() {
                continue;
            }
            if lines[i].begins_paragraph && !out.is_empty() {
                out.push('\n');
            }
            let found = lines.get(i + 1).and_then(|next| find_break(&lines[i], next));
            let joined = found.map(|found| {
                let keeps_hyphen = !found.soft && self.keeps_hyphen(&found, &words);
                (keeps_hyphen, found.token.len())
            });
            match joined {
                Some((keeps_hyphen, token)) => {
                    let stem = lines[i].text.trim_end_matches(is_hyphen);
                    push_visible(&mut out, stem);
                    if keeps_hyphen {
                        out.push('-');
                    }
                    let rest = lines[i + 1].text.split_off(token);
                    push_visible(&mut out, &lines[i + 1].text);
                    lines[i + 1].text = rest.trim_start().to_owned();
                }
                None => push_visible(&mut out, &lines[i].text),
            }
            out.push('\n');
        }
        (out, starts)
    }

    fn record_compounds(&mut self, lines: &[Line]) {
        for line in lines.iter().filter(|line| line.text.contains(is_hyphen)) {
            for word in line.text.split_whitespace() {
                let word = word.trim_matches(|c: char| !c.is_alphabetic() && !is_hyphen(c));
                let inner = word.trim_matches(is_hyphen);
                // A word at a line end may be broken, so only hyphens within words count.
                if inner == word && word.contains('-') && self.compounds.len() < MAX_COMPOUNDS {
                    self.compounds.insert(word.to_lowercase());
                }
            }
        }
    }

    /// Whether a hyphen at a line end belongs to the word, judged first by the words of the page, then by
    /// compounds of earlier pages. The default is no.
    fn keeps_hyphen(&self, found: &Break<'_>, words: &HashSet<String>) -> bool {
        let Break { head, tail, .. } = found;
        let compound = format!("{head}-{tail}");
        if words.contains(&compound) {
            return true;
        }
        if words.contains(&format!("{head}{tail}")) {
            return false;
        }
        let both_are_words =
            || head.len() > 3 && tail.len() > 3 && words.contains(head) && words.contains(*tail);
        self.compounds.contains(&compound) || head.contains('-') || head == "self" || both_are_words()
    }
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{ad}')
}

/// Appends text without soft hyphens.
fn push_visible(out: &mut String, text: &str) {
    out.extend(text.split('\u{ad}'));
}

fn find_break<'l>(line: &Line, next: &'l Line) -> Option<Break<'l>> {
    let soft = line.text.ends_with('\u{ad}');
    if !line.text.ends_with(is_hyphen) || next.begins_paragraph {
        return None;
    }
    let stem = line.text.trim_end_matches(is_hyphen);
    let head = stem.rsplit(|c: char| !c.is_alphabetic() && !is_hyphen(c)).next()?;
    let token = next.text.split_whitespace().next()?;
    let end = token.find(|c: char| !c.is_alphabetic() && !is_hyphen(c)).unwrap_or(token.len());
    let lower_case = token.starts_with(char::is_lowercase);
    let broken = head.ends_with(char::is_alphabetic) && lower_case;
    broken.then(|| Break { head: head.to_lowercase(), token, tail: &token[..end], soft })
}

/// Returns the words of a page in lower case, without parts of words that a line end may break.
fn words_of(lines: &[Line]) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut broken = false;
    for line in lines {
        let mut tokens = line.text.split_whitespace();
        if broken {
            tokens.next();
        }
        broken = line.text.ends_with(is_hyphen);
        if broken {
            tokens.next_back();
        }
        let parts = tokens.flat_map(|token| token.split(|c: char| !c.is_alphabetic() && !is_hyphen(c)));
        words.extend(parts.filter(|part| !part.is_empty()).map(str::to_lowercase));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(text: &str) -> String {
        let line = |text: &str| Line { text: text.into(), begins_paragraph: false, boxes: Vec::new() };
        Hyphens::default().join(text.lines().map(line).collect()).0
    }

    #[test]
    fn broken_word_is_joined_on_its_first_line() {
        assert_eq!(join("The ware-\nhouse, then.\nEnd"), "The warehouse,\nthen.\nEnd\n");
        assert_eq!(join("The ware\u{2010}\nhouse\nEnd"), "The warehouse\nEnd\n");
    }

    #[test]
    fn soft_hyphen_is_removed() {
        assert_eq!(join("the ex\u{ad}am\u{ad}\nple x"), "the example\nx\n");
    }

    #[test]
    fn known_compound_keeps_its_hyphen() {
        assert_eq!(join("Our long-term plan\nis long-\nterm too"), "Our long-term plan\nis long-term\ntoo\n");
        assert_eq!(join("state-of-the-\nart pumps"), "state-of-the-art\npumps\n");
        assert_eq!(join("self-\nmade"), "self-made\n");
    }

    #[test]
    fn compound_of_an_earlier_page_keeps_its_hyphen() {
        let line = |text: &str| Line { text: text.into(), begins_paragraph: false, boxes: Vec::new() };
        let mut hyphens = Hyphens::default();
        hyphens.join(vec![line("a long-term plan")]);
        let (text, starts) = hyphens.join(vec![line("the long-"), line("term plan")]);
        assert_eq!((text.as_str(), starts), ("the long-term\nplan\n", vec![0, 14]));
    }

    #[test]
    fn hyphen_between_two_words_of_the_page_is_kept() {
        assert_eq!(
            join("The cash flow of water.\nThe water-\nflow is low."),
            "The cash flow of water.\nThe water-flow\nis low.\n"
        );
        assert_eq!(
            join("notebook is a note\nbook. A note-\nbook."),
            "notebook is a note\nbook. A notebook.\n"
        );
    }

    #[test]
    fn other_line_ends_are_unchanged() {
        assert_eq!(join("2019-\n2020"), "2019-\n2020\n");
        assert_eq!(join("Mid-\nAtlantic"), "Mid-\nAtlantic\n");
        assert_eq!(join("Total -\nall"), "Total -\nall\n");
    }

    #[test]
    fn empty_line_precedes_a_paragraph() {
        let line =
            |text: &str, begins_paragraph| Line { text: text.into(), begins_paragraph, boxes: Vec::new() };
        let lines = vec![line("One-", false), line("two", true), line("three", false)];
        assert_eq!(Hyphens::default().join(lines).0, "One-\n\ntwo\nthree\n");
    }
}
