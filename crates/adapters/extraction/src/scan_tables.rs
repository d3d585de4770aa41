//! Finds the tables of recognised pages, with the rules for those of PDFs.

use super::pdf::tables::{self, Strip, Table, Word, is_value};
use docent_domain::recognition::{Orientation, PageBox, RecognizedLine, RecognizedPage, RecognizedWord};

/// Height of the tallest word of a line, as a fraction of the font size: most lines have capitals or figures, and
/// letters or commas that reach below the baseline.
const TALLEST_WORD: f64 = 0.85;
/// Maximum distance of the baselines of a row, as a fraction of the font size.
const BASELINE_GAP: f64 = 0.4;
/// Maximum number of characters of a line in a column that was read separately.
const MAX_FIGURE: usize = 20;
/// Lines drawn between columns are read as this.
const BAR: &str = "|";

/// Writes the tables of a page as lines of Markdown tables, if its text is upright. Bars and dashes become words, so that
/// passages are found on the page as in running text. `size` is that of the image in pixels.
pub(super) fn with_tables(mut page: RecognizedPage, size: (u32, u32)) -> RecognizedPage {
    if page.orientation() != Orientation::Upright {
        return page;
    }
    join_columns(&mut page.lines, size);
    let strips: Vec<(usize, Strip<'_>)> =
        (0..).zip(&page.lines).filter_map(|(index, line)| Some((index, strip(line, size)?))).collect();
    let (indices, strips): (Vec<usize>, Vec<Strip<'_>>) = strips.into_iter().unzip();
    let tables = tables::find(&strips, &[]);
    if tables.is_empty() {
        return page;
    }
    // The table that begins at a line, and the lines that are part of tables.
    let mut replaced: Vec<Option<Vec<RecognizedLine>>> = vec![None; page.lines.len()];
    let mut is_part = vec![false; page.lines.len()];
    for table in &tables {
        if let Some(first) = table.rows.first() {
            replaced[indices[*first]] = Some(lines_of(table, &indices, &page.lines));
        }
        table.rows.iter().for_each(|row| is_part[indices[*row]] = true);
    }
    let mut lines = Vec::with_capacity(page.lines.len());
    let mut follows_table = false;
    for ((line, table), is_part) in page.lines.into_iter().zip(replaced).zip(is_part) {
        if is_part {
            lines.extend(table.into_iter().flatten());
        } else {
            let begins_paragraph = line.begins_paragraph || follows_table;
            lines.push(RecognizedLine { begins_paragraph, ..line });
        }
        follows_table = is_part;
    }
    page.lines = lines;
    page
}

/// Joins columns of figures, which tesseract may read as blocks of their own, with the lines to their left.
fn join_columns(lines: &mut Vec<RecognizedLine>, size: (u32, u32)) {
    let left = lines_to_the_left(lines, size);
    for (line, left) in left.iter().enumerate() {
        if let Some(left) = left {
            let words = std::mem::take(&mut lines[line].words);
            lines[*left].words.extend(words);
        }
    }
    let mut left = left.into_iter();
    lines.retain(|_| left.next().flatten().is_none());
}

/// For each line of a column of figures the line that begins its row.
fn lines_to_the_left(lines: &[RecognizedLine], size: (u32, u32)) -> Vec<Option<usize>> {
    let strips: Vec<Option<Strip<'_>>> = lines.iter().map(|line| strip(line, size)).collect();
    let mut left: Vec<Option<usize>> = vec![None; lines.len()];
    let mut begin = 0;
    for column in lines.chunk_by(|_, next| !next.begins_paragraph) {
        let range = begin..begin + column.len();
        begin = range.end;
        if !is_of_figures(column) {
            continue;
        }
        let before = &strips[..range.start];
        let found: Option<Vec<usize>> =
            range.clone().map(|line| nearest_left(strips[line].as_ref()?, before)).collect();
        for (line, found) in range.zip(found.into_iter().flatten()) {
            left[line] = Some(left[found].unwrap_or(found));
        }
    }
    left
}

/// Whether lines are short and most of them are figures.
fn is_of_figures(lines: &[RecognizedLine]) -> bool {
    let texts: Vec<String> = lines.iter().map(RecognizedLine::text).collect();
    let figures = texts.iter().filter(|text| is_value(text)).count();
    texts.len() > 1
        && texts.iter().all(|text| text.chars().count() <= MAX_FIGURE)
        && 2 * figures > texts.len()
}

/// The nearest of the lines to the left of a line on its baseline.
fn nearest_left(line: &Strip<'_>, others: &[Option<Strip<'_>>]) -> Option<usize> {
    let start = line.words.first()?.start;
    let end = |other: &Strip<'_>| other.words.last().map_or(f64::INFINITY, |word| word.end);
    let is_left = |other: &Strip<'_>| {
        let limit = BASELINE_GAP * line.size.max(other.size);
        (other.baseline - line.baseline).abs() < limit && end(other) < start
    };
    let others = others.iter().enumerate().filter_map(|(index, other)| Some((index, other.as_ref()?)));
    let nearest =
        others.filter(|(_, other)| is_left(other)).max_by(|(_, a), (_, b)| end(a).total_cmp(&end(b)));
    nearest.map(|(index, _)| index)
}

/// The words of a line as a row of the page; none without words.
fn strip(line: &RecognizedLine, (width, height): (u32, u32)) -> Option<Strip<'_>> {
    let scaled = |at: u16, size: u32| f64::from(at) / f64::from(PageBox::UNITS) * f64::from(size);
    let words: Vec<&RecognizedWord> = line.words.iter().filter(|word| word.text != BAR).collect();
    let mut bottoms: Vec<u16> = words.iter().map(|word| word.bounds.bottom).collect();
    bottoms.sort_unstable();
    let tallest = words.iter().map(|word| word.bounds.bottom.saturating_sub(word.bounds.top)).max()?;
    let baseline = scaled(*bottoms.get(bottoms.len() / 2)?, height);
    let words = words.into_iter().map(|word| Word {
        text: &word.text,
        start: scaled(word.bounds.left, width),
        end: scaled(word.bounds.right, width),
    });
    // Not 0, because distances are measured in font sizes.
    let size = scaled(tallest.max(1), height) / TALLEST_WORD;
    Some(Strip { words: words.collect(), baseline, size, direction: 0 })
}

/// The lines of a table. Its words keep their places; bars and dashes are where the word before them is.
fn lines_of(table: &Table, indices: &[usize], page: &[RecognizedLine]) -> Vec<RecognizedLine> {
    let mut lines = Vec::new();
    let mut last = RecognizedWord { text: String::new(), bounds: PageBox::default(), confidence: 0 };
    for (text, rows) in table.lines() {
        let sources: Vec<&RecognizedWord> =
            rows.iter().flat_map(|row| &page[indices[*row]].words).filter(|word| word.text != BAR).collect();
        let mut unused = sources.clone();
        let mut words = Vec::new();
        if let Some(first) = sources.first() {
            last = (*first).clone();
        }
        for token in text.split_whitespace() {
            let plain = token.replace("\\|", BAR);
            let is_source = |word: &&RecognizedWord| word.text == plain;
            // A currency sign is joined with its amount, and a header may be repeated.
            let found = unused
                .iter()
                .position(is_source)
                .or_else(|| unused.iter().position(|word| plain.contains(&word.text)))
                .map(|at| unused.remove(at))
                .or_else(|| sources.iter().copied().find(is_source));
            if let Some(word) = found {
                last = word.clone();
            }
            words.push(RecognizedWord { text: token.to_owned(), ..last.clone() });
        }
        lines.push(RecognizedLine { words, begins_paragraph: lines.is_empty() });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (u32, u32) = (2000, 1000);

    /// A line of words, each with the place where it begins. Letters are 20 pixels wide and 34 high.
    fn line(top: u32, words: &[(&str, u32)]) -> RecognizedLine {
        let word = |(text, left): &(&str, u32)| {
            let right = left + 20 * u32::try_from(text.len()).unwrap();
            let bounds = PageBox::on_image([*left, top, right, top + 34], SIZE);
            RecognizedWord { text: (*text).to_owned(), bounds, confidence: 90 }
        };
        RecognizedLine { words: words.iter().map(word).collect(), begins_paragraph: false }
    }

    fn prices() -> Vec<RecognizedLine> {
        vec![
            line(0, &[("Prices", 0), ("are", 140), ("in", 220), ("euros.", 280)]),
            line(100, &[("Pump", 0), ("2025", 800), ("2026", 1200)]),
            line(160, &[("Model", 0), ("K3", 120), ("|", 700), ("1,240", 800), ("1,300", 1200)]),
            line(220, &[("Model", 0), ("K7", 120), ("|", 700), ("2,980", 800), ("3,100", 1200)]),
            line(280, &[("Total", 0), ("4,220", 800), ("4,400", 1200)]),
            line(400, &[("Orders", 0), ("get", 140), ("a", 220), ("discount.", 260)]),
        ]
    }

    #[test]
    fn aligned_figures_become_a_table() {
        let page = with_tables(RecognizedPage { lines: prices() }, SIZE);
        let expected = "Prices are in euros.\n\n| Pump | 2025 | 2026 |\n|---|---|---|\n| Model K3 | 1,240 | 1,300 |\n\
                        | Model K7 | 2,980 | 3,100 |\n| Total | 4,220 | 4,400 |\n\nOrders get a discount.\n";
        assert_eq!(page.text(), expected);
        assert_eq!(page.confidence(), 90);
        let row = &page.lines[3].words;
        let texts: Vec<&str> = row.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts, ["|", "Model", "K3", "|", "1,240", "|", "1,300", "|"]);
        let of = |line: usize, word: usize| prices()[line].words[word].bounds;
        let places = [(2, 0), (2, 0), (2, 1), (2, 1), (2, 3), (2, 3), (2, 4), (2, 4)].map(|(l, w)| of(l, w));
        assert_eq!(row.iter().map(|word| word.bounds).collect::<Vec<_>>(), places);
    }

    #[test]
    fn column_that_was_read_separately_is_joined_with_its_rows() {
        let mut lines = prices();
        let figures = (1..5).map(|row| lines[row].words.pop().unwrap()).collect::<Vec<_>>();
        let column = |figures: &[RecognizedWord]| {
            let line =
                |word: &RecognizedWord| RecognizedLine { words: vec![word.clone()], begins_paragraph: false };
            let mut all: Vec<RecognizedLine> =
                lines.iter().cloned().chain(figures.iter().map(line)).collect();
            all[5].begins_paragraph = true;
            all[6].begins_paragraph = true;
            with_tables(RecognizedPage { lines: all }, SIZE).text()
        };
        let whole = with_tables(RecognizedPage { lines: prices() }, SIZE).text();
        assert_eq!(column(&figures), whole);
        let mut misread = figures.clone();
        misread[2].text = "A,100".to_owned();
        assert_eq!(column(&misread), whole.replace("3,100", "A,100"));
        let elsewhere =
            [line(700, &[("7", 800)]), line(760, &[("8", 800)])].map(|line| line.words[0].clone());
        let text = column(&elsewhere);
        assert!(text.ends_with("discount.\n\n7\n8\n"), "{text}");
    }

    #[test]
    fn running_text_and_turned_tables_are_unchanged() {
        let text = vec![prices()[0].clone(), prices()[5].clone(), RecognizedLine::default()];
        let turned: Vec<RecognizedLine> = prices()
            .into_iter()
            .map(|mut line| {
                for word in &mut line.words {
                    let PageBox { left, top, right, bottom } = word.bounds;
                    word.bounds = PageBox { left: top, top: left, right: bottom, bottom: right };
                }
                line
            })
            .collect();
        for lines in [text, turned, vec![line(0, &[("|", 0)])], Vec::new()] {
            let page = RecognizedPage { lines };
            assert_eq!(with_tables(page.clone(), SIZE), page);
        }
    }
}
