//! Tests of whole files.

use super::*;
use docent_domain::extraction::Picture;
use docent_domain::recognition::PageBox;

#[test]
fn encrypted_file_with_empty_password_opens() {
    let sample = || Sample::new().page(&line(72, 700, "sealed"));
    assert_eq!(extract(sample().encrypted("secret")), Err(FailureCode::PasswordRequired));
    assert_eq!(extract(sample().encrypted("")).unwrap().pages[0].text, "sealed\n");
}

#[test]
fn damaged_pdf_is_distinguished_from_other_files() {
    assert_eq!(extract(Vec::new()), Err(FailureCode::NotAPdf));
    assert_eq!(extract(b"<html><body>Not found</body></html>".to_vec()), Err(FailureCode::NotAPdf));
    assert_eq!(extract(b"%PDF-1.7\nnothing more".to_vec()), Err(FailureCode::Unreadable));
    assert_eq!(extract(Sample::new().bytes()), Err(FailureCode::Unreadable));
}

#[test]
fn file_without_its_end_is_read() {
    let pdf = by_hand("kept");
    let pdf = pdf.as_bytes()[..pdf.find("xref").unwrap()].to_vec();
    assert_eq!(extract(pdf).unwrap().pages[0].text, "kept\n");
}

#[test]
fn truncated_or_altered_file_does_not_panic() {
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

/// The first page of a file with this content, in which `/Im` is an image.
fn page_with_image(content: &str) -> ExtractedPage {
    let mut sample = Sample::new();
    let image = dictionary! {
        "Type" => "XObject", "Subtype" => "Image", "Width" => 8, "Height" => 8, "BitsPerComponent" => 8,
        "ColorSpace" => "DeviceGray",
    };
    let image = sample.deflated(image, vec![128; 64]);
    let resources = dictionary! { "XObject" => dictionary! { "Im" => image } };
    first_page(sample.page_with(content, resources))
}

#[test]
fn scan_has_pages_without_text() {
    let page = page_with_image("500 0 0 800 0 0 cm /Im Do");
    assert_eq!((page.quality(), page.glyphs, page.truncated), (PageQuality::Empty, 0, false));
}

#[test]
fn pictures_beside_text_have_their_places() {
    let text = line(72, 700, "Costs of each plan");
    let page =
        page_with_image(&(text.clone() + " q 297.5 0 0 421 0 0 cm /Im Do Q q 20 0 0 20 500 800 cm /Im Do Q"));
    let place = PageBox { left: 0, top: 5000, right: 5000, bottom: 10_000 };
    assert_eq!(page.pictures, [Picture { place, at: page.text.len() as u32 }], "not the logo");
    assert_eq!(page.scanned_pictures().len(), 1);
    let lines: String =
        (0..30).map(|n| line(72, 60 + n * 24, "A paragraph on a coloured ground with more words.")).collect();
    let page = page_with_image(&("q 595 0 0 842 0 0 cm /Im Do Q ".to_owned() + &lines));
    assert_eq!(page.pictures, [], "the picture is the ground of the text");
}

#[test]
fn annotation_text_follows_the_page() {
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
    let info =
        sample.document.add_object(dictionary! { "Title" => string("Handbook"), "Author" => string(" ") });
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
