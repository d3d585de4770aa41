//! The headings that passages stand under, as far as plain text tells.

/// Longer lines are running text.
const CHARACTERS: std::ops::Range<usize> = 4..80;
/// More digits than a section's number has: a row of a table, a date.
const DIGITS: usize = 2;
/// Headings before a chunk that still hold for it.
const CARRIED: usize = 2;

/// The lines of a text that look like headings: short, without the end of a sentence or figures, most of their words
/// with a capital.
pub fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| is_heading(line))
}

fn is_heading(line: &str) -> bool {
    // The bytes are a cheap bound: no character has more than four.
    line.len() < 4 * CHARACTERS.end
        && CHARACTERS.contains(&line.chars().count())
        && !line.ends_with(['.', ',', ';'])
        && !line.contains(['$', '€', '£', '¥'])
        && line.chars().filter(char::is_ascii_digit).count() <= DIGITS
        && capitals_prevail(line)
}

/// Whether at least three words in five begin with a capital.
fn capitals_prevail(line: &str) -> bool {
    let (mut words, mut capitals) = (0, 0);
    for word in line.split_whitespace() {
        words += 1;
        capitals += usize::from(word.starts_with(char::is_uppercase));
    }
    capitals * 5 >= words * 3
}

/// For each chunk of a document, one after the other, its headings and the last ones before it, a line each.
pub fn of_chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut last: Vec<&str> = Vec::new();
    let mut of_chunk = |chunk: &'a str| {
        last.extend(headings(chunk));
        let lines = last.join("\n");
        last.drain(..last.len().saturating_sub(CARRIED));
        lines
    };
    chunks.into_iter().map(&mut of_chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_from_running_text_and_rows() {
        for line in [
            "Consolidated Balance Sheet",
            "NOTE 7: Financial Instruments",
            "Über den Betrieb",
            "Cash and Cash Equivalents",
        ] {
            assert!(is_heading(line), "{line}");
        }
        for line in [
            "The pump is serviced every year.",
            "Total assets 36,500 38,000",
            "Cash $ 4",
            "As of December 31, 2018",
            "all of these words are small",
            "Co.",
            "",
        ] {
            assert!(!is_heading(line), "{line}");
        }
        assert!(!is_heading(&"Word ".repeat(40)));
    }

    #[test]
    fn a_chunk_has_its_headings_and_the_last_two_before_it() {
        let chunks = [
            "Machines\nthey move.\nPumps\nwater.\nSeals\nthey leak.",
            "more of that.",
            "Valves\nthey close.",
            "and open.",
        ];
        assert_eq!(
            of_chunks(chunks),
            ["Machines\nPumps\nSeals", "Pumps\nSeals", "Pumps\nSeals\nValves", "Seals\nValves"]
        );
        assert_eq!(of_chunks([]), Vec::<String>::new());
    }
}
