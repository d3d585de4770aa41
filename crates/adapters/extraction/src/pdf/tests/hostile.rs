//! Tests of files designed to consume resources.

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
fn content_stream_is_inflated_up_to_the_limit() {
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
fn oversized_form_is_not_drawn() {
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
fn exponential_forms_stop_at_the_budget() {
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
fn recursive_form_ends() {
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
fn pages_after_the_document_budget_are_empty() {
    let flood = "0 0 m 9 9 l S ".repeat(6_000 / 14 * 14);
    let sample = (0..5).fold(Sample::new(), |sample, _| sample.deflated_page(flood.clone().into_bytes()));
    let limits = PageLimits { content_bytes: 1 << 20, ..small_pages().page };
    let pages =
        extract_within(sample.bytes(), &DocumentLimits { page: limits, ..small_pages() }).unwrap().pages;
    assert_eq!(pages.len(), 5);
    assert!(pages.iter().all(|page| page.truncated));
}

#[test]
fn nested_replacement_text_is_not_multiplied() {
    let content = format!("/Span << /ActualText ({}) >> BDC {} EMC ", "x".repeat(900), line(72, 700, "a"));
    let moved = |i: i32| content.replace("700 Tm", &format!("{} Tm", 700 - 20 * i));
    let page =
        extract_within(Sample::new().page(&(0..8).map(moved).collect::<String>()).bytes(), &small_pages())
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
fn cross_reference_loop_ends() {
    let pdf = by_hand("text");
    let start = pdf.find("xref").unwrap();
    let looped = pdf.replace("/Root", &format!("/Prev {start} /Root")).into_bytes();
    assert_eq!(extract(looped).unwrap().pages[0].text, "text\n");
}

#[test]
fn document_over_a_limit_fails_with_its_code() {
    let limits = small_pages();
    assert_eq!(extract_within(Sample::of_texts(&["x"; 6]), &limits), Err(FailureCode::TooManyPages));
    let limits = DocumentLimits { text_bytes: 20, ..limits };
    assert_eq!(
        extract_within(Sample::of_texts(&["some text", "and more of it"]), &limits),
        Err(FailureCode::TooMuchText)
    );
}
