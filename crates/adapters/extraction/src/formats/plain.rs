//! Reads plain text, in ranges of lines.

use crate::reader::{Pages, Stopped};

/// Size of a range in bytes from which on it ends at the next empty line.
const SOFT_BYTES: usize = 3000;
/// Maximum size of a range in bytes, unless a line is longer.
const MAX_BYTES: usize = 6000;

/// Passes the text on in ranges of lines, which end at empty lines if possible.
pub(super) fn read(text: &str, pages: &mut Pages<'_>) -> Result<(), Stopped> {
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
