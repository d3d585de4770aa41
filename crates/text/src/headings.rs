//! Detection of headings in plain text.

/// Length of a heading in characters; longer lines are running text.
const CHARACTERS: std::ops::Range<usize> = 4..80;
/// Maximum number of digits in a heading; table rows and dates have more.
const DIGITS: usize = 2;
/// Number of preceding headings that apply to a chunk.
const CARRIED: usize = 2;

/// Returns the lines of a text that look like headings: short, most words capitalized, no figures and no sentence
/// punctuation at the end.
pub fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| is_heading(line))
}

fn is_heading(line: &str) -> bool {
    // Cheap upper bound: a character has at most four bytes.
    line.len() < 4 * CHARACTERS.end
        && CHARACTERS.contains(&line.chars().count())
        && !line.ends_with(['.', ',', ';'])
        && !line.contains(['$', '€', '£', '¥'])
        && line.chars().filter(char::is_ascii_digit).count() <= DIGITS
        && capitals_prevail(line)
}

/// Whether at least three of five words begin with a capital.
fn capitals_prevail(line: &str) -> bool {
    let (mut words, mut capitals) = (0, 0);
    for word in line.split_whitespace() {
        words += 1;
        capitals += usize::from(word.starts_with(char::is_uppercase));
    }
    capitals * 5 >= words * 3
}

/// Returns, for each chunk of a document, its headings and the last ones before it, one per line.
pub fn of_chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    each_chunk(chunks, |before, own| [before, own].concat().join("\n"))
}

/// Returns, for each chunk of a document, the last headings before it, one per line.
pub fn before_chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    each_chunk(chunks, |before, _| before.join("\n"))
}

/// Calls `lines` with the last headings before each chunk and its own ones.
fn each_chunk<'a>(
    chunks: impl IntoIterator<Item = &'a str>,
    lines: impl Fn(&[&str], &[&str]) -> String,
) -> Vec<String> {
    let mut last: Vec<&str> = Vec::new();
    let mut of_chunk = |chunk: &'a str| {
        let own: Vec<&str> = headings(chunk).collect();
        let lines = lines(&last, &own);
        last.extend(own);
        last.drain(..last.len().saturating_sub(CARRIED));
        lines
    };
    chunks.into_iter().map(&mut of_chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_distinguished_from_running_text_and_table_rows() {
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
    fn chunk_has_its_headings_and_the_last_two_before_it() {
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
        assert_eq!(before_chunks(chunks), ["", "Pumps\nSeals", "Pumps\nSeals", "Seals\nValves"]);
        assert_eq!(of_chunks([]), Vec::<String>::new());
    }
}
