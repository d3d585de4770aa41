//! Tests of columns, drawn tables and form fields.

use super::*;

/// Operators that show pairs of texts side by side, row by row.
fn rows(pairs: &[(&str, &str)]) -> String {
    let row = |(index, (left, right)): (i32, &(&str, &str))| {
        let y = 780 - 14 * index;
        format!("BT /F1 11 Tf 1 0 0 1 50 {y} Tm ({left}) Tj 1 0 0 1 320 {y} Tm ({right}) Tj ET\n")
    };
    (0..).zip(pairs).map(row).collect()
}

#[test]
fn columns_written_row_by_row_are_read_one_after_the_other() {
    let pairs = [
        ("The valve is opened by hand and", "the oil is renewed each spring by"),
        ("closed by a spring, which is made", "a person of the workshop who was"),
        ("of steel. It is checked once every", "trained for it. Used oil is kept in"),
        ("year by the person on duty in the", "closed barrels and given back to"),
        ("workshop. A record is kept of it.", "the supplier."),
    ];
    let found = text(&(line(50, 810, "Care of the valve") + &rows(&pairs)));
    let left: Vec<&str> = pairs.iter().map(|pair| pair.0).collect();
    let right: Vec<&str> = pairs.iter().map(|pair| pair.1).collect();
    let lines: Vec<&str> = found.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, [&["Care of the valve"][..], &left, &right].concat());
}

#[test]
fn rows_of_short_entries_stay_rows() {
    let pairs = [
        ("Pump", "moves water"),
        ("Valve", "opens and closes the pipe"),
        ("Seal", "keeps water in"),
        ("Rod", "moves"),
        ("Nut", "holds"),
    ];
    let found = text(&rows(&pairs));
    for (left, right) in pairs {
        assert!(found.contains(&format!("{left} {right}")), "{found}");
    }
}

#[test]
fn grid_drawn_as_one_path_gives_a_table() {
    let drawn = "50 620 400 160 re 50 740 m 450 740 l 50 700 m 450 700 l 250 620 m 250 780 l S\n";
    let cells = [
        (55, 765, "Part"),
        (255, 765, "Use"),
        (55, 725, "Ring"),
        (255, 725, "keeps dry"),
        (55, 685, "Lid"),
        (255, 685, "closes"),
    ];
    let shown: String = cells.iter().map(|(x, y, text)| line(*x, *y, text)).collect();
    let found = text(&format!("{drawn}{shown}"));
    assert!(found.contains("| Part | Use |\n|---|---|\n| Ring | keeps dry |\n| Lid | closes |"), "{found}");
}

#[test]
fn drawing_of_one_path_gives_no_table() {
    let drawn = "50 620 m 450 780 l 450 620 m 50 780 l 50 700 m 250 780 l 450 700 l S\n";
    let shown =
        line(55, 765, "Part") + &line(255, 765, "Use") + &line(55, 685, "Ring") + &line(255, 685, "dry");
    assert!(!text(&format!("{drawn}{shown}")).contains('|'));
}

/// The text of a page with a label, and a field beside it.
fn form(field: Dictionary, appearance: Option<&str>, needs_appearances: bool) -> String {
    let mut sample = Sample::new().page(&(line(50, 704, "Surname") + &line(50, 600, "End")));
    let mut field = field;
    field.set("Type", "Annot");
    field.set("Subtype", "Widget");
    if !field.has(b"Rect") {
        field.set("Rect", numbers([150, 700, 350, 716]));
    }
    if let Some(text) = appearance {
        let helvetica = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" };
        let dict = dictionary! {
            "Type" => "XObject", "Subtype" => "Form", "BBox" => numbers([0, 0, 200, 16]),
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => helvetica } },
        };
        let stream = lopdf::Stream::new(dict, format!("BT /F1 10 Tf 2 4 Td ({text}) Tj ET").into_bytes());
        let stream = sample.document.add_object(stream);
        field.set("AP", dictionary! { "N" => stream });
    }
    let field = sample.document.add_object(field);
    let page = sample.page_id(1).as_reference().unwrap();
    let page = sample.document.get_object_mut(page).unwrap().as_dict_mut().unwrap();
    page.set("Annots", vec![field.into()]);
    let form = dictionary! { "Fields" => vec![field.into()], "NeedAppearances" => needs_appearances };
    extract(sample.bytes_with(dictionary! { "AcroForm" => form })).unwrap().pages.remove(0).text
}

fn text_field(value: &str) -> Dictionary {
    dictionary! { "FT" => "Tx", "V" => string(value), "T" => string("surname") }
}

#[test]
fn values_of_fields_without_appearance_are_beside_their_labels() {
    let found = form(text_field("Marga Quill"), None, true);
    assert!(found.starts_with("Surname Marga Quill\n"), "{found}");
    let options = vec![Object::Array(vec![string("PT"), string("Portugal")])];
    let choice = dictionary! { "FT" => "Ch", "V" => string("PT"), "Opt" => options };
    assert!(form(choice, None, false).contains("Surname Portugal\n"));
    let secret = dictionary! { "FT" => "Tx", "Ff" => 1 << 13, "V" => string("secret") };
    assert!(!form(secret, None, true).contains("secret"));
    let hidden = dictionary! { "FT" => "Tx", "F" => 2, "V" => string("hidden") };
    assert!(!form(hidden, None, true).contains("hidden"));
}

#[test]
fn states_of_buttons_and_notes_are_read() {
    let button = |state: &str, flags: i64| {
        dictionary! { "FT" => "Btn", "AS" => Object::Name(state.into()), "Ff" => flags }
    };
    assert!(form(button("Yes", 0), Some("4"), false).starts_with("Surname ☒\n"));
    assert!(form(button("Off", 1 << 15), None, false).starts_with("Surname ☐\n"));
    assert!(form(button("Yes", 1 << 16), None, false).starts_with("Surname\n"));
    let mut before = button("Yes", 0);
    before.set("Rect", numbers([30, 700, 42, 712]));
    assert!(form(before, None, false).starts_with("☒ Surname\n"));
    let note = |subtype: &str| {
        let mut sample = Sample::new().page(&line(50, 704, "Body"));
        let note = dictionary! {
            "Type" => "Annot", "Subtype" => subtype, "Contents" => string("Check this"),
            "Rect" => numbers([50, 600, 350, 616]),
        };
        let note = sample.document.add_object(note);
        let page = sample.page_id(1).as_reference().unwrap();
        sample.document.get_object_mut(page).unwrap().as_dict_mut().unwrap().set("Annots", vec![note.into()]);
        extract(sample.bytes_with(dictionary! {})).unwrap().pages.remove(0).text
    };
    assert!(note("FreeText").contains("\nCheck this"));
    assert!(note("Highlight").ends_with("\nComment: Check this"));
    assert!(!note("Popup").contains("Check this"));
}

#[test]
fn stale_appearance_is_replaced_and_current_one_kept_once() {
    let stale = form(text_field("Marga Quill"), Some("Old name"), true);
    assert!(stale.contains("Marga Quill") && !stale.contains("Old name"), "{stale}");
    let current = form(text_field("Marga Quill"), Some("Marga Quill"), true);
    assert_eq!(current.matches("Marga Quill").count(), 1, "{current}");
    let mut formatted = text_field("1234");
    formatted.set("AA", Dictionary::new());
    let shown = form(formatted, Some("1,234.00"), false);
    assert!(shown.contains("1,234.00") && !shown.contains("1234\n"), "{shown}");
}

#[test]
fn glyphs_that_map_to_nothing_are_left_out() {
    let map = "begincmap 1 begincodespacerange <00> <FF> endcodespacerange 4 beginbfchar \
               <21> <> <22> <> <23> <> <24> <05d005d105d2> endbfchar endcmap";
    let mut sample = Sample::new();
    let map = sample.document.add_object(lopdf::Stream::new(Dictionary::new(), map.into()));
    let font = dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Shaped", "ToUnicode" => map,
        "FirstChar" => 33, "LastChar" => 36, "Widths" => vec![Object::from(300); 4],
    };
    let mut sample = sample.page(&(line(50, 740, "Ref") + "BT /F4 12 Tf 50 700 Td (!\"#$) Tj ET\n"));
    let page = sample.page_id(1).as_reference().unwrap();
    let page = sample.document.get_object(page).unwrap().as_dict().unwrap();
    let fonts =
        page.get(b"Resources").unwrap().as_dict().unwrap().get(b"Font").unwrap().as_reference().unwrap();
    sample.document.get_object_mut(fonts).unwrap().as_dict_mut().unwrap().set("F4", font);
    let page = first_page(sample);
    assert_eq!((page.text.as_str(), page.unmapped_glyphs), ("Ref\nאבג\n", 0));
}

#[test]
fn words_of_spaced_letters_are_joined() {
    let spaced = "BT /F1 12 Tf 5 Tc 1 0 0 1 50 700 Tm (CHAPTER ONE) Tj ET\n\
                  BT /F1 12 Tf 4 Tc 1 0 0 1 50 650 Tm [(ANNUAL) -400 (REPORT)] TJ 0 Tc ( of 2026) Tj ET\n";
    let found = text(spaced);
    assert_eq!(
        found.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(),
        ["CHAPTER ONE", "ANNUAL REPORT of 2026"]
    );
    for (typed, expected) in [
        ("S U M M A R Y   O F   C O S T S", "SUMMARY OF COSTS"),
        ("Choose A B C D E here", "Choose A B C D E here"),
        ("the axes x y z of it", "the axes x y z of it"),
        ("a 1 b 2 c 3", "a 1 b 2 c 3"),
    ] {
        assert_eq!(text(&line(50, 700, typed)).trim(), expected);
    }
    let columns = "BT /F1 12 Tf 12 Tc 1 0 0 1 50 700 Tm (YNNY) Tj ET\n";
    assert_eq!(text(columns).trim(), "Y N N Y");
}

/// Operators that show texts in columns of this width, row by row.
fn in_columns(width: i32, rows: &[&[&str]]) -> String {
    let row = |(y, row): (i32, &&[&str])| {
        let cell =
            |(x, text): (i32, &&str)| format!("1 0 0 1 {} {} Tm ({text}) Tj\n", 40 + width * x, 780 - 12 * y);
        format!("BT /F1 9 Tf {} ET\n", (0..).zip(*row).map(cell).collect::<String>())
    };
    (0..).zip(rows).map(row).collect()
}

#[test]
fn several_short_columns_are_read_one_after_the_other() {
    let three: &[&[&str]] = &[
        &["Delivery", "Warranty", "Returns"],
        &["We deliver within two days to", "Pumps have a warranty of five", "Send a part back within thirty"],
        &["every place on the mainland", "years, which begins with the", "days in its box; we pay for"],
        &["and to most of the islands.", "day of the first operation.", "the way if it was our fault."],
    ];
    let four: &[&[&str]] = &[
        &["Oil is drained at", "Turn the shaft by", "The seal is a ring", "Keep the lid shut"],
        &["the lower valve", "hand before it is", "of rubber; it has", "while the shaft is"],
        &["while it is still", "started for the", "to be dry, clean", "turning, and wait"],
    ];
    for (width, rows) in [(175, three), (125, four)] {
        let found = text(&in_columns(width, rows));
        let lines: Vec<&str> = found.lines().filter(|line| !line.is_empty()).collect();
        let expected: Vec<&str> =
            (0..rows[0].len()).flat_map(|column| rows.iter().map(move |row| row[column])).collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn cells_of_two_lines_stay_in_their_rows() {
    let rows: &[&[&str]] = &[
        &["Return a part that", "You get the money", "Send us the number"],
        &["you did not use", "back in two weeks", "of the order with it"],
        &["Repair of a part", "We pay the way to", "Send us a picture"],
        &["with a warranty", "us and back again", "of the broken part"],
        &["Repair without a", "You get an offer", "Send us the part"],
        &["warranty of ours", "before we begin it", "in a closed box"],
    ];
    let found = text(&in_columns(130, rows));
    for row in rows {
        assert!(found.lines().any(|line| row.iter().all(|cell| line.contains(cell))), "{found}");
    }
}

#[test]
fn private_characters_are_read_by_the_names_of_their_glyphs() {
    let page = first_page(Sample::new().page(&show("F2", 50, 700, "p")));
    assert_eq!((page.text.trim(), page.unmapped_glyphs), ("p", 0));
}
