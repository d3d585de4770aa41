//! Tests of lines and words.

use super::*;

#[test]
fn columns_keep_content_order() {
    let left = line(50, 700, "left one") + &line(50, 685, "left two");
    let right = line(320, 700, "right one") + &line(320, 685, "right two");
    assert_eq!(text(&(left + &right)), "left one\nleft two\nright one\nright two\n");
}

#[test]
fn row_cells_are_on_one_line() {
    assert_eq!(
        text(&(line(50, 700, "Pumps") + &line(300, 700, "45") + &line(400, 700, "days"))),
        "Pumps 45 days\n"
    );
}

#[test]
fn gap_separates_words_and_kerning_does_not() {
    assert_eq!(text("BT /F1 12 Tf 72 700 Td [(re) -40 (turn) -300 (pump)] TJ ET"), "return pump\n");
}

#[test]
fn text_drawn_twice_to_look_bold_is_read_once() {
    let bold = "BT /F1 12 Tf 72 700 Td (Returns) Tj 0.4 0 Td (Returns) Tj ET ".to_owned();
    assert_eq!(text(&(bold + &line(72, 680, "Returns"))), "Returns\nReturns\n");
}

#[test]
fn filled_and_stroked_text_is_read_once() {
    assert_eq!(text("BT 2 Tr /F1 12 Tf 72 700 Td (Returns) Tj ET"), "Returns\n");
}

#[test]
fn text_outside_the_page_is_ignored() {
    let page = first_page(
        Sample::new().page(&(line(72, 700, "seen") + &line(-400, 700, "not") + &line(72, 9000, "not"))),
    );
    assert_eq!((page.text.as_str(), page.glyphs), ("seen\n", 4));
}

#[test]
fn invisible_text_of_scans_is_read() {
    assert_eq!(text(&format!("3 Tr {}", line(72, 700, "recognised"))), "recognised\n");
}

#[test]
fn ligatures_become_letters() {
    assert_eq!(text("BT /F1 12 Tf 72 700 Td (o) Tj /F2 12 Tf (f) Tj /F1 12 Tf (ce) Tj ET"), "office\n");
}

#[test]
fn right_to_left_text_in_visual_order_is_reversed() {
    // "CBA FED" on the page, from left to right.
    assert_eq!(text(&show("F2", 72, 700, "CBA FED")), "דהו אבג\n");
}

#[test]
fn right_to_left_text_in_logical_order_is_unchanged() {
    let glyphs: String =
        "ABCDE".char_indices().map(|(i, c)| show("F2", 400 - 6 * i as i32, 700, &c.to_string())).collect();
    assert_eq!(text(&glyphs), "אבגדה\n");
}

#[test]
fn numbers_in_logical_order_are_unchanged() {
    let content = [("F2", 400, "A"), ("F2", 394, "B"), ("F1", 368, "45"), ("F2", 356, "C"), ("F1", 352, ".")];
    let glyphs: String = content.iter().map(|(font, x, text)| show(font, *x, 700, text)).collect();
    assert_eq!(text(&glyphs), "אב 45 ג.\n");
}

#[test]
fn numbers_in_right_to_left_lines_keep_their_order() {
    let content = "BT /F1 12 Tf 72 700 Td (45 ) Tj /F2 12 Tf (CBA) Tj ET";
    assert_eq!(text(content), "אבג 45\n");
}

#[test]
fn widths_of_the_file_apply_to_substituted_fonts() {
    // F2 is not embedded: its glyphs are 6 points wide, whatever the widths of the substitute.
    let glyphs: String =
        "ABCABC".char_indices().map(|(i, c)| show("F2", 72 + 6 * i as i32, 700, &c.to_string())).collect();
    assert_eq!(text(&glyphs), "גבאגבא\n");
    assert_eq!(text(&(show("F2", 72, 700, "AB") + &show("F2", 87, 700, "C"))), "ג בא\n");
}

#[test]
fn rotated_page_has_lines() {
    let turned = "BT /F1 12 Tf 0 1 -1 0 100 100 Tm (first line) Tj 0 1 -1 0 115 100 Tm (second line) Tj ET";
    assert_eq!(text(turned), "first line\nsecond line\n");
}

#[test]
fn paragraphs_are_separated_by_an_empty_line() {
    let heights = [700, 686, 672, 644, 630, 616];
    let lines: String = heights.iter().map(|y| line(72, *y, &format!("line at {y}"))).collect();
    assert_eq!(
        text(&lines),
        "line at 700\nline at 686\nline at 672\n\nline at 644\nline at 630\nline at 616\n"
    );
}

#[test]
fn spacious_table_is_not_split_into_paragraphs() {
    let heights = [700, 686, 672, 658, 620, 598, 576, 554];
    let lines: String = heights.iter().map(|y| line(72, *y, &format!("{y}"))).collect();
    assert_eq!(text(&lines), "700\n686\n672\n658\n\n620\n598\n576\n554\n");
}

#[test]
fn words_broken_at_a_line_end_are_joined() {
    let content =
        line(72, 700, "in the ware-") + &line(72, 686, "house of Mid-") + &line(72, 672, "Atlantic");
    assert_eq!(text(&content), "in the warehouse\nof Mid-\nAtlantic\n");
}
