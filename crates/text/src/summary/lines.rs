//! Lines of a document that are not its content.

use docent_domain::extraction::{ExtractedPage, PageQuality};
use std::collections::HashMap;

/// A line on at least this fraction of the pages is a header or a footer.
const RECURRING_SHARE: usize = 4;
/// The same for a small document.
const RECURRING_MIN: usize = 3;
/// Lines at the beginning and the end of a page that can be a header or a footer.
const MARGIN_LINES: usize = 4;

/// The text of a page without headers, footers and lines of a table of contents.
pub(super) struct CleanPage {
    pub(super) number: u32,
    pub(super) text: String,
}

/// Removes headers, footers and lines of a table of contents from pages with reliable text.
pub(super) fn clean(pages: &[ExtractedPage]) -> Vec<CleanPage> {
    let pages: Vec<&ExtractedPage> =
        pages.iter().filter(|page| page.quality() == PageQuality::Text).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in &pages {
        let lines: Vec<&str> = page.text.lines().filter(|line| !line.trim().is_empty()).collect();
        let mut keys: Vec<String> = margins(&lines).map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let min = (pages.len() / RECURRING_SHARE).max(RECURRING_MIN);
    let is_content = |line: &str| {
        let is_recurring = counts.get(&key(line)).is_some_and(|count| *count >= min);
        !is_recurring && !is_contents_entry(line)
    };
    let clean = |page: &&ExtractedPage| {
        let lines = page.text.lines().filter(|line| line.trim().is_empty() || is_content(line));
        CleanPage { number: page.number, text: lines.collect::<Vec<_>>().join("\n") }
    };
    pages.iter().map(clean).collect()
}

fn margins<'a>(lines: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let first = lines.iter().take(MARGIN_LINES);
    let last = lines.iter().skip(MARGIN_LINES.max(lines.len().saturating_sub(MARGIN_LINES)));
    first.chain(last).copied().collect::<Vec<_>>().into_iter()
}

/// The line without numbers, which differ between pages.
fn key(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit() && !c.is_whitespace()).collect::<String>().to_lowercase()
}

/// Whether a line is an entry of a table of contents: a title, dots, and a page number.
fn is_contents_entry(line: &str) -> bool {
    let line = line.trim();
    line.contains("....") || line.contains(". . .") || line.contains("…….")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str) -> ExtractedPage {
        ExtractedPage { number, text: text.to_owned(), ..ExtractedPage::default() }
    }

    #[test]
    fn headers_footers_and_contents_are_removed() {
        let of = |n: u32, body: &str| {
            let other = ["a", "b", "c", "d", "e"][n as usize];
            page(n, &format!("Pump manual\n\n{body}\nmore {other}\nand {other}\nthen {other}\nPage {n} of 4"))
        };
        let pages = [
            of(1, "Safety ........ 2"),
            of(2, "Wear gloves."),
            of(3, "Pump manual"),
            page(4, "12 %"),
            page(5, ""),
        ];
        let texts: Vec<(u32, String)> =
            clean(&pages).into_iter().map(|page| (page.number, page.text)).collect();
        assert_eq!(texts[1], (2, "\nWear gloves.\nmore c\nand c\nthen c".to_owned()));
        assert!(!texts[0].1.contains("Safety") && !texts[0].1.contains("Page"), "{}", texts[0].1);
        assert_eq!(texts.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
