//! The main headings of a document.

use docent_domain::extraction::{OutlineEntry, PageLabels};
use docent_domain::summary::{HEADINGS_MAX, Heading};

/// With fewer entries at the top level, the level below is more informative.
const TOP_LEVEL_MIN: usize = 3;
/// Maximum length of a title in characters.
const TITLE_MAX: usize = 160;

/// The main headings of an outline. Files other than PDFs have headings as labels of their pages.
pub fn headings(outline: &[OutlineEntry], labels: &PageLabels) -> Vec<Heading> {
    let top = |level: u32| outline.iter().filter(move |entry| entry.level <= level);
    let entries: Vec<&OutlineEntry> = match top(0).count() {
        0..TOP_LEVEL_MIN => top(1).collect(),
        _ => top(0).collect(),
    };
    let mut headings: Vec<Heading> = Vec::new();
    let of_outline = entries.into_iter().map(|entry| (entry.title.as_str(), entry.page));
    let of_labels = labels.as_slice().iter().zip(1..).map(|(label, page)| (first_part(label), Some(page)));
    for (title, page) in of_outline.chain(of_labels.filter(|_| outline.is_empty())) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let title: String = title.chars().take(TITLE_MAX).collect();
        let is_known = headings.iter().any(|known| known.title == title);
        if is_title(&title) && !is_known {
            headings.push(Heading { title, page });
        }
    }
    headings.truncate(HEADINGS_MAX);
    headings
}

/// The first heading of a path of headings.
fn first_part(label: &str) -> &str {
    label.split(" › ").next().unwrap_or(label)
}

/// Whether this names a section. Slides and parts have numbers, ranges of sheets have addresses, and converters write names of
/// files and of their pages.
fn is_title(title: &str) -> bool {
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let numbered = ["Slide ", "Part ", "Page ", "Section ", "slide", "page"];
    let rest = |prefix: &&str| {
        title.strip_prefix(*prefix).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    letters >= 3 && !title.contains(['!', '\\']) && !numbered.iter().any(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(level: u32, title: &str, page: u32) -> OutlineEntry {
        OutlineEntry { level, title: title.to_owned(), page: Some(page) }
    }

    fn titles(outline: &[OutlineEntry], labels: &[&str]) -> Vec<(String, Option<u32>)> {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        headings(outline, &labels.into()).into_iter().map(|heading| (heading.title, heading.page)).collect()
    }

    fn heading(title: &str, page: u32) -> (String, Option<u32>) {
        (title.to_owned(), Some(page))
    }

    #[test]
    fn main_headings_are_those_of_the_highest_informative_level() {
        let outline =
            [entry(0, "Manual", 1), entry(1, "Safety", 2), entry(2, "Gloves", 2), entry(1, "Use", 3)];
        assert_eq!(titles(&outline, &[]), [heading("Manual", 1), heading("Safety", 2), heading("Use", 3)]);
        let outline =
            [entry(0, "A book", 1), entry(1, "x", 1), entry(0, "Safety", 2), entry(0, " The\nUse ", 3)];
        assert_eq!(
            titles(&outline, &[]),
            [heading("A book", 1), heading("Safety", 2), heading("The Use", 3)]
        );
    }

    #[test]
    fn labels_are_headings_unless_they_are_numbers() {
        let labels = ["Terms › Price", "Terms › Delivery", "Annex", "Slide 3", "Budget!A1:F40"];
        assert_eq!(titles(&[], &labels), [heading("Terms", 1), heading("Annex", 3)]);
        assert_eq!(titles(&[entry(0, "Page 1", 1), entry(0, "1", 1)], &labels), []);
    }

    #[test]
    fn number_of_headings_is_limited() {
        let outline: Vec<_> = (1..100).map(|n| entry(0, &format!("Chapter {}", "x".repeat(n)), 1)).collect();
        assert_eq!(titles(&outline, &[]).len(), HEADINGS_MAX);
    }
}
