//! Reads plain text, in ranges of lines.

use std::borrow::Cow;

use crate::reader::{Pages, Stopped};

/// Size of a range in bytes from which on it ends at the next empty line.
const SOFT_BYTES: usize = 3000;
/// Maximum size of a range in bytes, unless a line is longer.
const MAX_BYTES: usize = 6000;

/// Passes the text on in ranges of lines, which end at empty lines if possible.
pub(super) fn read(text: &str, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let text = &*without_terminal_codes(text);
    let mut range = Range { first: 1, last: 0, text: String::new() };
    for (number, line) in (1_u64..).zip(text.lines()) {
        let is_full = range.text.len() + line.len() > MAX_BYTES;
        if is_full || range.text.len() > SOFT_BYTES && line.trim().is_empty() {
            range.pass(pages)?;
            range = Range { first: number, last: 0, text: String::new() };
        }
        range.last = number;
        range.text.push_str(line);
        range.text.push('\n');
    }
    range.pass(pages)
}

/// The text as a terminal shows it: without the codes that set colours and titles, and without characters that a backspace
/// removes, by which manual pages print bold.
fn without_terminal_codes(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\u{8}']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{8}' if !shown.ends_with('\n') => drop(shown.pop()),
            '\u{1b}' => match chars.next() {
                // Parameters end with a letter.
                Some('[') => drop(chars.find(|c| ('@'..='~').contains(c) || *c == '\n')),
                // A title ends with a bell or with another escape.
                Some(']') => {
                    let end = chars.find(|c| matches!(c, '\u{7}' | '\u{1b}' | '\n'));
                    if end == Some('\u{1b}') {
                        chars.next();
                    }
                }
                // A character set has a name.
                Some('(' | ')' | '#') => drop(chars.next()),
                _ => {}
            },
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

struct Range {
    first: u64,
    last: u64,
    text: String,
}

impl Range {
    fn pass(&self, pages: &mut Pages<'_>) -> Result<(), Stopped> {
        let Self { first, last, text } = self;
        let label = if first == last { format!("Line {first}") } else { format!("Lines {first}–{last}") };
        pages.push_section(Some(&label), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    #[test]
    fn codes_of_terminals_are_left_out() {
        for (text, shown) in [
            ("\u{1b}[31mERROR\u{1b}[0m pump \u{1b}[1;32mfailed\u{1b}[K", "ERROR pump failed"),
            ("\u{1b}]0;title\u{7}a\u{1b}]0;title\u{1b}\\b\u{1b}(Bc", "abc"),
            ("N\u{8}NA\u{8}A _\u{8}l_\u{8}s\n\u{8}x", "NA ls\nx"),
            ("a\u{1b}", "a"),
            ("a\u{1b}[3", "a"),
        ] {
            let pages = collect(LIMITS, |pages| read(text, pages)).unwrap();
            assert_eq!(pages[0].1, shown, "{text:?}");
        }
    }

    #[test]
    fn lines_are_passed_on_in_ranges() {
        let paragraph = "A line of text.\n".repeat(150) + "\n";
        let pages = collect(LIMITS, |pages| read(&paragraph.repeat(3), pages)).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Lines 1–301", "Lines 302–453"]);
        let long = collect(LIMITS, |pages| read(&format!("a\n{}\nb", "x".repeat(7000)), pages)).unwrap();
        let labels: Vec<&str> = long.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Line 1", "Line 2", "Line 3"]);
        assert!(collect(LIMITS, |pages| read("", pages)).unwrap().is_empty());
    }
}
