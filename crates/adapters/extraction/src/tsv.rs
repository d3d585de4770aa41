//! Parses the table of words that tesseract writes.

use super::scan_tables::with_tables;
use docent_domain::recognition::{PageBox, RecognizedLine, RecognizedPage, RecognizedWord};

/// The number of columns: level, page, block, paragraph, line, word, left, top, width, height, confidence, text.
const COLUMNS: usize = 12;
/// Level of the row that has the size of the image.
const PAGE: u32 = 1;
/// Level of a row that has a word.
const WORD: u32 = 5;
/// Maximum length of a word in characters; longer ones are cut. Lines and frames are not words.
const MAX_WORD: usize = 200;

/// Parses the output for one page and finds its tables; `None` if it is invalid.
pub(super) fn parse(tsv: &str) -> Option<RecognizedPage> {
    let mut rows = tsv.lines();
    rows.next().filter(|head| head.starts_with("level\t"))?;
    let mut size = None;
    let mut page = RecognizedPage::default();
    // Block, paragraph and line of the last word.
    let mut last = None;
    for row in rows {
        let columns: Vec<&str> = row.splitn(COLUMNS, '\t').collect();
        let [level, _, block, paragraph, line, _, left, top, width, height, confidence, text] =
            columns.try_into().ok()?;
        let number = |text: &str| text.parse::<u32>().ok();
        let (left, top, width, height) = (number(left)?, number(top)?, number(width)?, number(height)?);
        match number(level)? {
            PAGE => size = Some((width, height)),
            WORD => {
                let text: String =
                    text.split_whitespace().collect::<String>().chars().take(MAX_WORD).collect();
                let confidence = confidence.parse::<f64>().ok().filter(|percent| percent.is_finite())?;
                // Regions without text have no confidence.
                if text.is_empty() || confidence < 0.0 {
                    continue;
                }
                let edges = [left, top, left.saturating_add(width), top.saturating_add(height)];
                let bounds = PageBox::on_image(edges, size?);
                let confidence = confidence.min(100.0).round() as u8;
                let (block, paragraph, line) = (number(block)?, number(paragraph)?, number(line)?);
                if last != Some((block, paragraph, line)) {
                    let begins_paragraph =
                        last.is_none_or(|(last_block, last, _)| (last_block, last) != (block, paragraph));
                    page.lines.push(RecognizedLine { words: Vec::new(), begins_paragraph });
                    last = Some((block, paragraph, line));
                }
                page.lines.last_mut()?.words.push(RecognizedWord { text, bounds, confidence });
            }
            _ => {}
        }
    }
    size.map(|size| with_tables(page, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext";

    fn table(rows: &[&str]) -> String {
        let rows = rows.iter().map(|row| row.replace(' ', "\t"));
        [HEAD.to_owned()].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn words_are_grouped_into_lines_and_paragraphs() {
        let page = parse(&table(&[
            "1 1 0 0 0 0 0 0 200 400 -1 ",
            "2 1 1 0 0 0 0 0 200 400 -1 ",
            "5 1 1 1 1 1 20 40 60 20 96.406052 Dear",
            "5 1 1 1 1 2 100 40 60 20 91.5 customer,",
            "5 1 1 1 2 1 20 80 60 20 0 the",
            "5 1 1 2 1 1 20 120 60 20 101 office",
            "5 1 2 1 1 1 20 160 60 20 95  ",
            "5 1 2 1 1 2 20 160 60 20 -1 x",
        ]));
        let page = page.unwrap();
        let lines: Vec<_> = page.lines.iter().map(|line| (line.text(), line.begins_paragraph)).collect();
        let expected = [("Dear customer,", true), ("the", false), ("office", true)];
        assert_eq!(lines, expected.map(|(text, begins)| (text.to_owned(), begins)));
        let first = &page.lines[0].words[0];
        assert_eq!(first.bounds, PageBox { left: 1000, top: 1000, right: 4000, bottom: 1500 });
        assert_eq!((first.confidence, page.lines[2].words[0].confidence), (96, 100));
        assert_eq!(page.text(), "Dear customer,\nthe\n\noffice\n");
    }

    #[test]
    fn page_without_words_is_empty() {
        let page = parse(&table(&["1 1 0 0 0 0 0 0 200 400 -1 "])).unwrap();
        assert_eq!(page, RecognizedPage::default());
    }

    #[test]
    fn invalid_tables_are_rejected() {
        let size = "1 1 0 0 0 0 0 0 200 400 -1 ";
        for rows in [
            &[][..],
            &["5 1 1 1 1 1 20 40 60 20 96 early"],
            &[size, "5 1 1 1 1 1 20 40 60 20 96"],
            &[size, "5 1 1 1 1 1 -20 40 60 20 96 word"],
            &[size, "5 1 1 1 1 1 20 40 60 20 NaN word"],
            &[size, "5 1 x 1 1 1 20 40 60 20 96 word"],
            &[size, "garbage"],
        ] {
            assert_eq!(parse(&table(rows)), None, "{rows:?}");
        }
        assert_eq!(parse(""), None);
        assert_eq!(parse("<html>"), None);
    }

    #[test]
    fn long_words_are_cut() {
        let word = "5 1 1 1 1 1 20 40 60 20 96 ".to_owned() + &"é".repeat(MAX_WORD + 1);
        let page = parse(&table(&["1 1 0 0 0 0 0 0 200 400 -1 ", &word])).unwrap();
        assert_eq!(page.lines[0].words[0].text.chars().count(), MAX_WORD);
    }
}
