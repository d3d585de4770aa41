//! Tables drawn with characters: each is half as wide as the font is high, and `_` below a header is a line.

use super::{Rule, Strip, Word, find};

const SIZE: f64 = 10.0;
const LINE: f64 = 12.0;
/// Width of a character.
const WIDTH: f64 = 5.0;

fn at(column: usize) -> f64 {
    column as f64 * WIDTH
}

/// Reads a picture: rows of words, and rows of `_` as horizontal lines.
fn picture(text: &str) -> (Vec<Strip<'_>>, Vec<Rule>) {
    let (mut strips, mut rules) = (Vec::new(), Vec::new());
    let mut baseline = 100.0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (mut words, mut start) = (Vec::new(), None);
        for (column, c) in line.chars().chain([' ']).enumerate() {
            match (start, c) {
                (None, ' ') => {}
                (None, _) => start = Some(column),
                (Some(from), ' ') => {
                    words.push((from, column));
                    start = None;
                }
                _ => {}
            }
        }
        if line.trim().chars().all(|c| c == '_' || c == ' ') {
            let across = baseline - LINE + 3.0;
            rules.extend(words.iter().map(|(start, end)| Rule {
                is_vertical: false,
                start: at(*start),
                end: at(*end),
                across,
                direction: 0,
            }));
            continue;
        }
        let bytes: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
        let word = |(from, to): (usize, usize)| Word {
            text: &line[bytes[from]..bytes[to]],
            start: at(from),
            end: at(to),
        };
        let words = words.into_iter().map(word).collect();
        strips.push(Strip { words, baseline, size: SIZE, direction: 0 });
        baseline += LINE;
    }
    (strips, rules)
}

/// The tables of a picture in Markdown, with an empty line between them.
fn tables(text: &str) -> String {
    let (strips, rules) = picture(text);
    markdown(&strips, &rules)
}

fn markdown(strips: &[Strip<'_>], rules: &[Rule]) -> String {
    let tables = find(strips, rules).into_iter();
    let lines =
        |table: super::Table| table.lines.into_iter().map(|(line, _)| line + "\n").collect::<String>();
    tables.map(lines).collect::<Vec<_>>().join("\n")
}

#[test]
fn statement_has_units_periods_and_labels() {
    let found = tables(
        "
                     Statement of Income of the Company and its Subsidiaries
                                       Years ended December 31,
                                     ____________________________
        (in millions)                 2018       2017      2016
        Net sales               $    1,234   $  1,100   $   980
        Operating costs:
          Materials                   (500)      (450)     (400)
          Research and other
          development                   12          —         9
        Total                   $      746   $    650   $   589
        ",
    );
    assert_eq!(
        found,
        "\
| (in millions) | Years ended December 31, 2018 | Years ended December 31, 2017 | Years ended December 31, 2016 |
|---|---|---|---|
| Net sales | $1,234 | $1,100 | $980 |
| Operating costs: | | | |
| Materials | (500) | (450) | (400) |
| Research and other development | 12 | — | 9 |
| Total | $746 | $650 | $589 |
"
    );
}

#[test]
fn headers_span_the_columns_below_them() {
    let found = tables(
        "
                          Three months ended        Nine months ended
                            2022        2021          2022       2021
        Net sales            100          90           300        280
        Costs                 80          75           240        230
        ",
    );
    let header = found.lines().next().unwrap();
    assert_eq!(
        header,
        "| | Three months ended 2022 | Three months ended 2021 | Nine months ended 2022 | Nine months ended 2021 |"
    );
    let found = tables(
        "
                                      2022                             2021
                            _____   _____   _____         _____   _____   _____
        In thousands        Own     Other   Total         Own     Other   Total
        Members             100        90     190          80        75     155
        Guests               10         9      19           8         7      15
        ",
    );
    let header = "| In thousands | 2022 Own | 2022 Other | 2022 Total | 2021 Own | 2021 Other | 2021 Total |";
    assert_eq!(found.lines().next(), Some(header), "each column has a line of its own: {found}");
    let found = tables(
        "
                                           Percent
                            2022   2021     change
        Net sales            100     90       11 %
        Costs                 80     75        7 %
        ",
    );
    assert_eq!(found.lines().next(), Some("| | 2022 | 2021 | Percent change |"), "{found}");
    assert!(found.contains("| Costs | 80 | 75 | 7% |"), "{found}");
}

#[test]
fn headers_written_column_by_column_are_read_from_top_to_bottom() {
    let picture_of_body = "
        Net sales            100     90
        Costs                 80     75
        ";
    let (body, _) = picture(picture_of_body);
    let header =
        [("December", 27, 76.0), ("31, 2022", 27, 88.0), ("December", 38, 76.0), ("31, 2021", 38, 88.0)];
    let header = header.map(|(text, column, baseline)| {
        let word = Word { text, start: at(column), end: at(column + text.len()) };
        Strip { words: vec![word], baseline, size: SIZE, direction: 0 }
    });
    let strips: Vec<Strip<'_>> = header.into_iter().chain(body).collect();
    assert!(
        markdown(&strips, &[])
            .starts_with("| | December 31, 2022 | December 31, 2021 |\n|---|---|---|\n| Net")
    );
}

#[test]
fn running_text_around_a_table_is_not_in_it() {
    let found = tables(
        "
        The following table shows what the company sold in 2022 and in 2021, in units.
        Pumps                 12      14
        Valves                 5       9
        The numbers of 2022 include 3 pumps that were sold to a customer of the company.
        In 2021, the company sold 4 of them at a price of 1,000 each, which was too low.
        ",
    );
    assert_eq!(found, "| | | |\n|---|---|---|\n| Pumps | 12 | 14 |\n| Valves | 5 | 9 |\n");
    assert_eq!(tables("The price was 5 in 2020.\nIt was 6 in 2021 and 7 in 2022.\nIt is 8 in 2023 now."), "");
    assert_eq!(tables("1.    Open the valve\n2.    Close the valve\n3.    Wait for 5 minutes"), "");
}

#[test]
fn table_of_words_begins_with_its_header() {
    let found = tables(
        "
        Name                 Symbol      Exchange
        Common stock         ABC         Berlin
        Notes                ABC22       Paris
        ",
    );
    assert_eq!(
        found,
        "| Name | Symbol | Exchange |\n|---|---|---|\n| Common stock | ABC | Berlin |\n| Notes | ABC22 | Paris |\n"
    );
}

#[test]
fn second_table_has_its_own_header() {
    let found = tables(
        "
                             2022    2021
        Pumps                  12      14
        Valves                  5       9
        Prices are listed below
                             2020    2019
        Pumps                 200     180
        Valves                 30      28
        ",
    );
    assert_eq!(
        found,
        "| | 2022 | 2021 |\n|---|---|---|\n| Pumps | 12 | 14 |\n| Valves | 5 | 9 |\n\n\
         | | 2020 | 2019 |\n|---|---|---|\n| Pumps | 200 | 180 |\n| Valves | 30 | 28 |\n"
    );
}

#[test]
fn bars_in_cells_are_escaped() {
    let found = tables("a|b      1     2\nc        3     4");
    assert!(found.contains("| a\\|b | 1 | 2 |"), "{found}");
}

#[test]
fn drawn_cells_hold_their_wrapped_text() {
    let strip = |text: &'static str, column: usize, line: usize| {
        let mut start = column;
        let word = |word: &'static str| {
            let from = start;
            start += word.len() + 1;
            Word { text: word, start: at(from), end: at(from + word.len()) }
        };
        let words = text.split(' ').map(word).collect();
        Strip { words, baseline: 100.0 + LINE * line as f64, size: SIZE, direction: 0 }
    };
    // Written cell by cell.
    let strips = [
        strip("Error", 0, 0),
        strip("Solution", 20, 0),
        strip("The watch", 0, 1),
        strip("is loose.", 0, 2),
        strip("Fasten it", 20, 1),
        strip("again.", 20, 2),
        strip("No signal.", 0, 3),
        strip("Go outside.", 20, 3),
    ];
    let rule = |is_vertical, start, end, across| Rule { is_vertical, start, end, across, direction: 0 };
    let (right, bottom) = (at(40), 90.0 + 4.0 * LINE + 4.0);
    let mut rules: Vec<Rule> = [-5.0, at(19), right].map(|x| rule(true, 90.0, bottom, x)).to_vec();
    rules.extend([90.0, 103.0, 127.0, bottom].map(|y| rule(false, -5.0, right, y)));
    let expected = "| Error | Solution |\n|---|---|\n| The watch is loose. | Fasten it again. |\n| No signal. | Go outside. |\n";
    assert_eq!(markdown(&strips, &rules), expected);
    assert_eq!(markdown(&strips, &[]), "", "without lines it is running text");
}

#[test]
fn many_rows_and_lines_are_bounded() {
    let row = "Label          1     2     3\n";
    let text = row.repeat(3000);
    assert_eq!(tables(&text).lines().count(), 3002);
    let (strips, _) = picture(row);
    let rule = |n: usize| Rule {
        is_vertical: n.is_multiple_of(2),
        start: 0.0,
        end: 500.0,
        across: n as f64,
        direction: 0,
    };
    assert_eq!(markdown(&strips, &(0..4000).map(rule).collect::<Vec<_>>()), "");
}
