//! Finds the lines of a page that contain a text.

use super::line::Line;
use docent_text::table;
use hayro_interpret::kurbo::Rect;

/// Shorter lines may match a text by accident.
const MIN_LETTERS: usize = 12;

/// Returns the bounds of the lines that contain `text`, as extracted from the page. Only letters and digits are compared,
/// because joining lines changes spaces and hyphens.
pub(super) fn bounds_of(lines: &[Line], text: &str) -> Vec<Rect> {
    let needle = letters(text);
    if needle.is_empty() {
        return Vec::new();
    }
    let mut page = String::new();
    let ends: Vec<(usize, usize)> = lines
        .iter()
        .map(|line| {
            let start = page.len();
            page.push_str(&letters(&line.text));
            (start, page.len())
        })
        .collect();
    let rows: Vec<String> = text.lines().filter(|line| table::is_row(line)).map(letters).collect();
    let matches = |line: &Line, start: usize, end: usize| match page.find(&needle) {
        Some(at) => start < at + needle.len() && at < end,
        // A part of a table begins with a header that is not above it.
        None if table::is_row(&line.text) => rows.iter().any(|row| *row == page[start..end]),
        // The text as a whole was joined differently; long lines are matched individually.
        None => end - start >= MIN_LETTERS && needle.contains(&page[start..end]),
    };
    let matches =
        |(line, (start, end)): &(&Line, &(usize, usize))| start < end && matches(line, *start, *end);
    let marked = lines.iter().zip(&ends).filter(matches);
    marked.flat_map(|(line, _)| line.boxes.iter().copied()).collect()
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, y: f64) -> Line {
        let boxes = vec![Rect::new(0.0, y, 10.0, y + 1.0)];
        Line { text: text.to_owned(), begins_paragraph: false, boxes }
    }

    fn marked(text: &str) -> Vec<f64> {
        let lines =
            [line("A pump moves wa-", 0.0), line("ter. It leaks.", 1.0), line("The end of this page.", 2.0)];
        bounds_of(&lines, text).iter().map(|bounds| bounds.y0).collect()
    }

    #[test]
    fn lines_of_a_text_are_found() {
        assert_eq!(marked("It leaks. The end"), [1.0, 2.0]);
        assert_eq!(marked("A pump moves water."), [0.0, 1.0]);
        assert_eq!(marked("leaks"), [1.0]);
    }

    #[test]
    fn rows_of_a_part_of_a_table_are_found() {
        let lines =
            [line("| | 2024 |", 0.0), line("|---|---|", 1.0), line("| A | 1 |", 2.0), line("| B | 2 |", 3.0)];
        let found = bounds_of(&lines, "| | 2024 |\n|---|---|\n| B | 2 |");
        assert_eq!(found.iter().map(|bounds| bounds.y0).collect::<Vec<_>>(), [0.0, 3.0]);
    }

    #[test]
    fn long_lines_are_found_without_a_match_of_the_whole_text() {
        assert_eq!(marked("The end of this page. Something else."), [2.0]);
        assert_eq!(marked("something else"), [0.0; 0]);
        assert_eq!(marked(" - "), [0.0; 0]);
    }
}
