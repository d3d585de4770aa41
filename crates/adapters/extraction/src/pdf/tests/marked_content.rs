//! Tests of replacement text, layers and unknown characters.

use super::*;

#[test]
fn actual_text_replaces_glyphs() {
    let content = "BT /F1 12 Tf 72 700 Td (see ) Tj /Span << /ActualText (the manual) >> BDC (t.m) Tj (.) Tj EMC ( now) Tj ET";
    assert_eq!(text(content), "see the manual now\n");
}

#[test]
fn actual_text_makes_unknown_glyphs_known() {
    let content = "BT /F3 12 Tf 72 700 Td /Span << /ActualText <FEFF05D005D1> >> BDC <00010002> Tj EMC ET";
    let page = first_page(Sample::new().page(content));
    assert_eq!((page.text.as_str(), page.quality()), ("אב\n", PageQuality::Text));
}

#[test]
fn empty_actual_text_hides_glyphs() {
    let content = "BT /F1 12 Tf 72 700 Td (a) Tj /Span << /ActualText () >> BDC (xxx) Tj EMC (b) Tj ET";
    assert_eq!(text(content), "ab\n");
}

#[test]
fn soft_hyphen_as_actual_text_joins_the_word() {
    let content = "BT /F1 12 Tf 72 700 Td (Ware) Tj /Span << /ActualText <FEFF00AD> >> BDC (-) Tj EMC 0 -14 Td (house) Tj ET";
    assert_eq!(text(content), "Warehouse\n");
}

#[test]
fn unbalanced_sequences_are_harmless() {
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
fn hidden_layers_are_not_read() {
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
    let known = line(72, 700, "twenty known characters") + "BT /F3 12 Tf 1 0 0 1 72 680 Tm <0001> Tj ET";
    assert_eq!(first_page(Sample::new().page(&known)).quality(), PageQuality::Text);
}
