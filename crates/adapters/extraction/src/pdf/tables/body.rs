//! The rows of a table below its header.

use super::Row;
use super::columns::Columns;
use super::value::is_value;

/// Indentation, in multiples of the font size, from which a label is below another one in rank.
const INDENT: f64 = 0.4;

/// A row being assembled.
struct Assembled {
    cells: Vec<String>,
    /// Indexes of the rows of the page that it consists of.
    from: Vec<usize>,
    has_entries: bool,
    label_start: f64,
}

/// Returns the cells of each row of the table, and the rows that they were made from: a label that continues in the next
/// row is joined.
pub(super) fn rows(rows: &[(usize, &Row)], columns: &Columns) -> Vec<(Vec<String>, Vec<usize>)> {
    let mut assembled: Vec<Assembled> = Vec::new();
    for (index, row) in rows {
        let mut cells = vec![String::new(); columns.count()];
        for (number, cell) in row.cells.iter().enumerate() {
            let text = &mut cells[columns.of_cell(cell, number == 0)];
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&cell.text);
        }
        let entries = cells.iter().skip(usize::from(columns.has_labels()));
        let has_entries = entries.clone().any(|cell| !cell.is_empty());
        let next = Assembled { cells, from: vec![*index], has_entries, label_start: row.start() };
        match assembled.last_mut() {
            Some(last) if columns.has_labels() && continues(last, &next, row) => last.append(next),
            _ => assembled.push(next),
        }
    }
    assembled.into_iter().map(|row| (row.cells, row.from)).collect()
}

impl Assembled {
    fn append(&mut self, next: Self) {
        for (cell, more) in self.cells.iter_mut().zip(next.cells) {
            if !cell.is_empty() && !more.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&more);
        }
        self.from.extend(next.from);
        self.has_entries |= next.has_entries;
    }
}

/// Whether the entries of a row without a label continue words above them.
fn continues_entries(above: &Assembled, below: &Assembled) -> bool {
    let mut cells = above.cells.iter().zip(&below.cells).filter(|(_, more)| !more.is_empty());
    let continues = |above: &str, more: &str| {
        let goes_on = begins_lowercase(more) || more.starts_with('(');
        !is_value(more) && !above.is_empty() && (goes_on || !is_value(above))
    };
    below.has_entries && cells.all(|(above, more)| continues(above, more))
}

/// Whether a text begins with a word in lower case that is not an enumeration such as "a)".
fn begins_lowercase(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    word.starts_with(char::is_lowercase) && (word.chars().count() > 1 || text[word.len()..].starts_with(' '))
}

/// Whether the label of a row continues the label of the row above.
fn continues(above: &Assembled, below: &Assembled, row: &Row) -> bool {
    let (label, more) = (above.cells[0].trim_end(), below.cells[0].as_str());
    if more.is_empty() && continues_entries(above, below) {
        return true;
    }
    if label.is_empty() || more.is_empty() || (above.has_entries && below.has_entries) {
        return false;
    }
    if begins_lowercase(more) || more.starts_with(['(', '&', '/']) && !above.has_entries {
        return !label.ends_with(':') || more.starts_with('(');
    }
    // A label that ends in the midst of a phrase goes on in an indented row.
    let is_open = label.ends_with([',', '-', '–', '—'])
        || label.ends_with(" of")
        || label.ends_with(" and")
        || label.ends_with(" to")
        || label.ends_with(" for");
    is_open && !above.has_entries && below.label_start > above.label_start - INDENT * row.size
}
