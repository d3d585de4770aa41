//! What is read out of PDFs, feature by feature.

use super::{
    document::{DocumentLimits, Sink, Stopped, read},
    limits::PageLimits,
    samples::{Sample, line, numbers, show, string},
};
use docent_domain::extraction::Metadata;
use docent_domain::{
    document::FailureCode,
    extraction::{ExtractedPage, Extraction, OutlineEntry, PageQuality},
};
use lopdf::{Dictionary, Object, dictionary};
use std::io;

impl Sink for Extraction {
    fn page(&mut self, page: ExtractedPage) -> io::Result<()> {
        self.pages.push(page);
        Ok(())
    }

    fn complete(&mut self, pages: u32) -> io::Result<()> {
        assert_eq!(self.pages.len(), pages as usize);
        Ok(())
    }

    fn metadata(&mut self, metadata: Metadata) -> io::Result<()> {
        self.metadata = metadata;
        Ok(())
    }
}

fn generous() -> DocumentLimits {
    DocumentLimits { pages: 100, text_bytes: 1 << 20, page: PageLimits::default() }
}

fn extract_within(pdf: Vec<u8>, limits: &DocumentLimits) -> Result<Extraction, FailureCode> {
    let mut extraction = Extraction::default();
    match read(pdf, limits, &mut extraction) {
        Ok(()) => Ok(extraction),
        Err(Stopped::Document(failure)) => Err(failure.code),
        Err(Stopped::Sink(error)) => panic!("{error}"),
    }
}

fn extract(pdf: Vec<u8>) -> Result<Extraction, FailureCode> {
    extract_within(pdf, &generous())
}

fn first_page(sample: Sample) -> ExtractedPage {
    extract(sample.bytes()).unwrap().pages.remove(0)
}

/// The text of a page with this content.
fn text(content: &str) -> String {
    first_page(Sample::new().page(content)).text
}

/// A file with a classic cross-reference table.
fn by_hand(text: &str) -> String {
    let content = line(72, 700, text);
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>".to_owned(),
        format!("<< /Length {} >> stream\n{content}\nendstream", content.len()),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = "xref\n0 5\n0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let start = pdf.len();
    format!("{pdf}{table}trailer << /Size 5 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n")
}

mod text_device {
    use super::*;

    #[test]
    fn columns_come_one_after_the_other_as_they_were_written() {
        let left = line(50, 700, "left one") + &line(50, 685, "left two");
        let right = line(320, 700, "right one") + &line(320, 685, "right two");
        assert_eq!(text(&(left + &right)), "left one\nleft two\nright one\nright two\n");
    }

    #[test]
    fn cells_of_a_row_stand_on_one_line() {
        assert_eq!(
            text(&(line(50, 700, "Pumps") + &line(300, 700, "45") + &line(400, 700, "days"))),
            "Pumps 45 days\n"
        );
    }

    #[test]
    fn a_gap_is_a_word_end_and_kerning_is_not() {
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
    fn text_outside_the_page_is_not_read() {
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
    fn right_to_left_text_in_visual_order_is_turned_round() {
        // "CBA FED" on the page, from left to right.
        assert_eq!(text(&show("F2", 72, 700, "CBA FED")), "דהו אבג\n");
    }

    #[test]
    fn right_to_left_text_drawn_in_reading_order_is_kept() {
        let glyphs: String = "ABCDE"
            .char_indices()
            .map(|(i, c)| show("F2", 400 - 6 * i as i32, 700, &c.to_string()))
            .collect();
        assert_eq!(text(&glyphs), "אבגדה\n");
    }

    #[test]
    fn numbers_in_right_to_left_lines_keep_their_order() {
        let content = "BT /F1 12 Tf 72 700 Td (45 ) Tj /F2 12 Tf (CBA) Tj ET";
        assert_eq!(text(content), "אבג 45\n");
    }

    #[test]
    fn widths_of_the_file_count_when_the_font_is_substituted() {
        // F2 is not embedded: each of its glyphs is 6 points wide here, whatever the substitute's are.
        let glyphs: String = "ABCABC"
            .char_indices()
            .map(|(i, c)| show("F2", 72 + 6 * i as i32, 700, &c.to_string()))
            .collect();
        assert_eq!(text(&glyphs), "גבאגבא\n");
        assert_eq!(text(&(show("F2", 72, 700, "AB") + &show("F2", 87, 700, "C"))), "ג בא\n");
    }

    #[test]
    fn lines_of_a_turned_page_are_lines() {
        let turned =
            "BT /F1 12 Tf 0 1 -1 0 100 100 Tm (first line) Tj 0 1 -1 0 115 100 Tm (second line) Tj ET";
        assert_eq!(text(turned), "first line\nsecond line\n");
    }

    #[test]
    fn paragraphs_are_set_apart_by_an_empty_line() {
        let heights = [700, 686, 672, 644, 630, 616];
        let lines: String = heights.iter().map(|y| line(72, *y, &format!("line at {y}"))).collect();
        assert_eq!(
            text(&lines),
            "line at 700\nline at 686\nline at 672\n\nline at 644\nline at 630\nline at 616\n"
        );
    }

    #[test]
    fn rows_of_a_spacious_table_stay_together() {
        let heights = [700, 686, 672, 658, 620, 596, 572, 548];
        let lines: String = heights.iter().map(|y| line(72, *y, &format!("{y}"))).collect();
        assert_eq!(text(&lines), "700\n686\n672\n658\n\n620\n596\n572\n548\n");
    }

    #[test]
    fn words_broken_at_a_line_end_are_joined() {
        let content =
            line(72, 700, "in the ware-") + &line(72, 686, "house of Mid-") + &line(72, 672, "Atlantic");
        assert_eq!(text(&content), "in the warehouse\nof Mid-\nAtlantic\n");
    }
}

mod marked_content {
    use super::*;

    #[test]
    fn actual_text_replaces_what_is_drawn() {
        let content = "BT /F1 12 Tf 72 700 Td (see ) Tj /Span << /ActualText (the manual) >> BDC (t.m) Tj (.) Tj EMC ( now) Tj ET";
        assert_eq!(text(content), "see the manual now\n");
    }

    #[test]
    fn actual_text_makes_unknown_glyphs_known() {
        let content =
            "BT /F3 12 Tf 72 700 Td /Span << /ActualText <FEFF05D005D1> >> BDC <00010002> Tj EMC ET";
        let page = first_page(Sample::new().page(content));
        assert_eq!((page.text.as_str(), page.quality()), ("אב\n", PageQuality::Text));
    }

    #[test]
    fn an_empty_actual_text_hides_what_is_drawn() {
        let content = "BT /F1 12 Tf 72 700 Td (a) Tj /Span << /ActualText () >> BDC (xxx) Tj EMC (b) Tj ET";
        assert_eq!(text(content), "ab\n");
    }

    #[test]
    fn a_soft_hyphen_as_actual_text_joins_the_word() {
        let content = "BT /F1 12 Tf 72 700 Td (Ware) Tj /Span << /ActualText <FEFF00AD> >> BDC (-) Tj EMC 0 -14 Td (house) Tj ET";
        assert_eq!(text(content), "Warehouse\n");
    }

    #[test]
    fn sequences_left_open_or_closed_twice_do_no_harm() {
        assert_eq!(
            text(&format!(
                "EMC EMC /P BMC {} /Span << /ActualText (b) >> BDC {}",
                line(72, 700, "a"),
                line(72, 686, "x")
            )),
            "a\nb\n"
        );
    }

    #[test]
    fn layers_that_are_switched_off_are_not_read() {
        let mut sample = Sample::new();
        let layer = |sample: &mut Sample| {
            sample.document.add_object(dictionary! { "Type" => "OCG", "Name" => string("L") })
        };
        let (on, off) = (layer(&mut sample), layer(&mut sample));
        let content = format!(
            "/OC /On BDC {} EMC /OC /Off BDC {} /Span << /ActualText (secret) >> BDC {} EMC EMC {}",
            line(72, 700, "shown"),
            line(72, 680, "hidden"),
            line(72, 660, "hidden"),
            line(72, 640, "also shown"),
        );
        let resources = dictionary! { "Properties" => dictionary! { "On" => on, "Off" => off } };
        let layers = vec![Object::from(on), off.into()];
        let catalog = dictionary! { "OCProperties" => dictionary! {
            "OCGs" => layers, "D" => dictionary! { "OFF" => vec![Object::from(off)] },
        } };
        let extraction = extract(sample.page_with(&content, resources).bytes_with(catalog)).unwrap();
        assert_eq!(extraction.pages[0].text, "shown\n\nalso shown\n".replace("\n\n", "\n"));
    }

    #[test]
    fn pages_of_unknown_characters_are_unreliable() {
        let page = first_page(Sample::new().page("BT /F3 12 Tf 72 700 Td <000100020003> Tj ET"));
        assert_eq!((page.glyphs, page.unmapped_glyphs, page.quality()), (3, 3, PageQuality::Unreliable));
        let page = first_page(Sample::new().page(&show("F2", 72, 700, "ppp")));
        assert_eq!(page.quality(), PageQuality::Unreliable);
        let known = line(72, 700, "twenty known characters") + &show("F2", 72, 680, "p");
        assert_eq!(first_page(Sample::new().page(&known)).quality(), PageQuality::Text);
    }
}

mod hostile {
    use super::*;

    fn small_pages() -> DocumentLimits {
        let page = PageLimits {
            content_bytes: 10_000,
            text_bytes: 2_000,
            page_operations: 5_000,
            document_operations: 12_000,
        };
        DocumentLimits { pages: 5, text_bytes: 100_000, page }
    }

    #[test]
    fn a_content_stream_is_inflated_no_further_than_the_limit() {
        let mut content = line(72, 700, "before").into_bytes();
        content.resize(1 << 20, b' ');
        content.extend(line(72, 600, "after").into_bytes());
        let pdf = Sample::new().deflated_page(content).page(&line(72, 700, "next page")).bytes();
        let pages = extract_within(pdf, &small_pages()).unwrap().pages;
        assert_eq!((pages[0].text.as_str(), pages[0].truncated), ("before\n", true));
        assert_eq!((pages[1].text.as_str(), pages[1].truncated), ("next page\n", false));
    }

    #[test]
    fn streams_deflated_twice_are_not_inflated() {
        let mut sample = Sample::new();
        let twice = Object::Array(vec!["FlateDecode".into(), "FlateDecode".into()]);
        let mut inner = lopdf::Stream::new(Dictionary::new(), line(72, 700, "x").into_bytes().repeat(10));
        inner.compress().unwrap();
        let mut outer = lopdf::Stream::new(Dictionary::new(), inner.content.clone().repeat(20));
        outer.compress().unwrap();
        outer.dict.set("Filter", twice);
        let content = sample.document.add_object(outer);
        let mut sample = sample.page("");
        let Object::Reference(page) = sample.page_id(1) else { panic!("no page") };
        sample.document.get_dictionary_mut(page).unwrap().set("Contents", content);
        let pages = extract_within(sample.bytes(), &small_pages()).unwrap().pages;
        assert_eq!((pages[0].text.as_str(), pages[0].truncated), ("", true));
    }

    #[test]
    fn a_form_that_inflates_beyond_the_limit_is_not_drawn() {
        let mut sample = Sample::new();
        let inner = sample.form(vec![b' '; 1 << 20], Dictionary::new());
        let resources = sample.form(b"/X0 Do".to_vec(), inner);
        let content = line(72, 700, "before") + "/X0 Do " + &line(72, 680, "after");
        let page = extract_within(sample.page_with(&content, resources).bytes(), &small_pages())
            .unwrap()
            .pages
            .remove(0);
        assert_eq!((page.text.as_str(), page.truncated), ("before\nafter\n", true));
    }

    #[test]
    fn forms_that_multiply_end_at_the_budget() {
        let mut sample = Sample::new();
        let mut resources = sample.form(line(72, 600, "leaf").into_bytes(), Dictionary::new());
        for _ in 0..30 {
            resources = sample.form(b"/X0 Do /X0 Do".to_vec(), resources);
        }
        let pdf = sample
            .page_with(&(line(72, 700, "before") + "/X0 Do"), resources)
            .page(&line(72, 700, "next page"))
            .bytes();
        let pages = extract_within(pdf, &small_pages()).unwrap().pages;
        assert!(pages[0].text.starts_with("before\n") && pages[0].truncated);
        assert_eq!((pages[1].text.as_str(), pages[1].truncated), ("next page\n", false));
    }

    #[test]
    fn a_form_that_draws_itself_ends() {
        let mut sample = Sample::new();
        let resources = sample.form(b"/X0 Do".to_vec(), Dictionary::new());
        let form = resources.get(b"XObject").and_then(|x| x.as_dict()?.get(b"X0")?.as_reference()).unwrap();
        let stream = sample.document.get_object_mut(form).and_then(Object::as_stream_mut).unwrap();
        stream.dict.set("Resources", dictionary! { "XObject" => dictionary! { "X0" => form } });
        assert_eq!(
            first_page(sample.page_with(&("/X0 Do ".to_owned() + &line(72, 700, "after")), resources)).text,
            "after\n"
        );
    }

    #[test]
    fn a_spent_document_budget_leaves_the_pages_that_follow_empty() {
        let flood = "0 0 m 9 9 l S ".repeat(6_000 / 14 * 14);
        let sample = (0..5).fold(Sample::new(), |sample, _| sample.deflated_page(flood.clone().into_bytes()));
        let limits = PageLimits { content_bytes: 1 << 20, ..small_pages().page };
        let pages =
            extract_within(sample.bytes(), &DocumentLimits { page: limits, ..small_pages() }).unwrap().pages;
        assert_eq!(pages.len(), 5);
        assert!(pages.iter().all(|page| page.truncated));
    }

    #[test]
    fn replacement_text_does_not_multiply() {
        let content =
            format!("/Span << /ActualText ({}) >> BDC {} EMC ", "x".repeat(900), line(72, 700, "a"));
        let moved = |i: i32| content.replace("700 Tm", &format!("{} Tm", 700 - 20 * i));
        let page = extract_within(
            Sample::new().page(&(0..8).map(moved).collect::<String>()).bytes(),
            &small_pages(),
        )
        .unwrap()
        .pages
        .remove(0);
        assert!(page.truncated && page.text.len() < 2_000);
    }

    #[test]
    fn deep_nesting_ends() {
        let content = "[".repeat(500_000) + &line(72, 700, "text");
        assert!(extract(Sample::new().page(&content).bytes()).is_ok());
        let quotes = "<<".repeat(200_000);
        assert!(extract(Sample::new().page(&format!("/P {quotes} BDC")).bytes()).is_ok());
    }

    #[test]
    fn a_loop_of_cross_reference_tables_ends() {
        let pdf = by_hand("text");
        let start = pdf.find("xref").unwrap();
        let looped = pdf.replace("/Root", &format!("/Prev {start} /Root")).into_bytes();
        assert_eq!(extract(looped).unwrap().pages[0].text, "text\n");
    }

    #[test]
    fn documents_over_the_limits_are_too_large() {
        let limits = small_pages();
        assert_eq!(extract_within(Sample::of_texts(&["x"; 6]), &limits), Err(FailureCode::TooLarge));
        let limits = DocumentLimits { text_bytes: 20, ..limits };
        assert_eq!(
            extract_within(Sample::of_texts(&["some text", "and more of it"]), &limits),
            Err(FailureCode::TooLarge)
        );
    }
}

mod files {
    use super::*;

    #[test]
    fn an_encrypted_file_opens_when_its_password_is_empty() {
        let sample = || Sample::new().page(&line(72, 700, "sealed"));
        assert_eq!(extract(sample().encrypted("secret")), Err(FailureCode::PasswordRequired));
        assert_eq!(extract(sample().encrypted("")).unwrap().pages[0].text, "sealed\n");
    }

    #[test]
    fn what_is_no_pdf_is_told_from_what_is_damaged() {
        assert_eq!(extract(Vec::new()), Err(FailureCode::NotAPdf));
        assert_eq!(extract(b"<html><body>Not found</body></html>".to_vec()), Err(FailureCode::NotAPdf));
        assert_eq!(extract(b"%PDF-1.7\nnothing more".to_vec()), Err(FailureCode::Unreadable));
        assert_eq!(extract(Sample::new().bytes()), Err(FailureCode::Unreadable));
    }

    #[test]
    fn a_file_without_its_end_is_still_read() {
        let pdf = by_hand("kept");
        let pdf = pdf.as_bytes()[..pdf.find("xref").unwrap()].to_vec();
        assert_eq!(extract(pdf).unwrap().pages[0].text, "kept\n");
    }

    #[test]
    fn any_cut_and_any_flipped_byte_ends_well() {
        let pdf = Sample::of_texts(&["one", "two"]);
        for end in (0..pdf.len()).step_by(37) {
            let _ = extract(pdf[..end].to_vec());
        }
        for at in (0..pdf.len()).step_by(11) {
            let mut damaged = pdf.clone();
            damaged[at] ^= 0x55;
            let _ = extract(damaged);
        }
    }

    #[test]
    fn a_scan_has_pages_without_text() {
        let mut sample = Sample::new();
        let image = dictionary! {
            "Type" => "XObject", "Subtype" => "Image", "Width" => 8, "Height" => 8, "BitsPerComponent" => 8,
            "ColorSpace" => "DeviceGray",
        };
        let image = sample.deflated(image, vec![128; 64]);
        let resources = dictionary! { "XObject" => dictionary! { "Im" => image } };
        let page = first_page(sample.page_with("500 0 0 800 0 0 cm /Im Do", resources));
        assert_eq!((page.quality(), page.glyphs, page.truncated), (PageQuality::Empty, 0, false));
    }

    #[test]
    fn text_of_annotations_is_read_after_the_page() {
        let mut sample = Sample::new();
        let form = sample.form(line(10, 10, "approved").into_bytes(), Dictionary::new());
        let form = form.get(b"XObject").and_then(|x| x.as_dict()?.get(b"X0")).unwrap().clone();
        let stamp = sample.document.add_object(dictionary! {
            "Type" => "Annot", "Subtype" => "Stamp", "Rect" => numbers([0, 0, 595, 842]), "AP" => dictionary! { "N" => form },
        });
        let mut sample = sample.page(&line(72, 700, "page"));
        let Object::Reference(page) = sample.page_id(1) else { panic!("no page") };
        sample.document.get_dictionary_mut(page).unwrap().set("Annots", vec![Object::from(stamp)]);
        assert_eq!(first_page(sample).text.replace("\n\n", "\n"), "page\napproved\n");
    }

    #[test]
    fn title_author_and_bookmarks_are_read() {
        let mut sample = Sample::new().page("").page("").page("");
        let info = sample
            .document
            .add_object(dictionary! { "Title" => string("Handbook"), "Author" => string(" ") });
        sample.document.trailer.set("Info", info);
        let ids: Vec<_> = (0..4).map(|_| sample.document.new_object_id()).collect();
        let to = |page: usize| Object::Array(vec![sample.page_id(page), "Fit".into()]);
        let action = dictionary! { "S" => "GoTo", "D" => string("named") };
        let items = [
            dictionary! { "Title" => string("One"), "Dest" => to(1), "Next" => ids[1], "First" => ids[2] },
            dictionary! { "Title" => string("Two"), "A" => action, "Next" => ids[3] },
            dictionary! { "Title" => Object::string_literal(b"\xfe\xff\x00S\x00u\x00b".to_vec()), "Dest" => to(2) },
            dictionary! { "Title" => string("Lost"), "Next" => ids[0] },
        ];
        let names = dictionary! { "Dests" => dictionary! { "Names" => vec![string("named"), to(3)] } };
        for (id, item) in ids.iter().zip(items) {
            sample.document.objects.insert(*id, item.into());
        }
        let catalog = dictionary! { "Outlines" => dictionary! { "First" => ids[0] }, "Names" => names };
        let metadata = extract(sample.bytes_with(catalog)).unwrap().metadata;
        let entry = |level, title: &str, page| OutlineEntry { level, title: title.into(), page };
        assert_eq!((metadata.title.as_deref(), metadata.author), (Some("Handbook"), None));
        let expected = [
            entry(0, "One", Some(1)),
            entry(1, "Sub", Some(2)),
            entry(0, "Two", Some(3)),
            entry(0, "Lost", None),
        ];
        assert_eq!(metadata.outline, expected);
    }
}
