//! Tests of PDFs by real producers, listed in `tests/fixtures/pdf/README.md`.

use super::*;
use std::fs;
use std::path::Path;

fn fixture(name: &str) -> Result<Extraction, FailureCode> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/pdf");
    extract(fs::read(folder.join(name)).unwrap())
}

fn page_of(name: &str) -> ExtractedPage {
    let mut pages = fixture(name).unwrap().pages;
    assert_eq!(pages.len(), 1);
    pages.remove(0)
}

#[test]
fn handbook_pages_contain_their_facts() {
    let handbook = fixture("handbook.pdf").unwrap();
    let facts = [
        "The company was founded in 1987 by Ingrid Dahl and has 212 employees.",
        "The return period for pumps is 45 days.",
        "The warranty is extended to seven years for pumps that are registered within 30 days.",
        "The Model K3 needs an oil change every 800 hours of operation.",
        "Accidents are reported to the safety officer, Marit Olsen, on extension 5511 on the same day.",
        "The daily allowance abroad is 62 euros.",
    ];
    assert_eq!(handbook.pages.len(), facts.len());
    for (fact, number) in facts.iter().zip(1..) {
        let found: Vec<u32> =
            handbook.pages.iter().filter(|page| page.text.contains(fact)).map(|page| page.number).collect();
        assert_eq!(found, [number], "{fact}");
    }
    assert_eq!(handbook.metadata.title.as_deref(), Some("Northwind Pumps Handbook"));
    let outline: Vec<_> =
        handbook.metadata.outline.iter().map(|entry| (entry.title.as_str(), entry.page)).collect();
    assert_eq!(outline[1], ("Returns", Some(2)));
    assert_eq!(outline.len(), 6);
}

#[test]
fn handbook_paragraphs_are_separated() {
    let text = &fixture("handbook.pdf").unwrap().pages[1].text;
    assert!(text.contains("on the day of delivery.\n\nSpare parts"), "{text}");
    assert!(text.contains("is paid by Northwind when\nthe fault is ours"), "{text}");
}

#[test]
fn columns_are_read_in_order_with_joined_words() {
    let text = page_of("columns.pdf").text;
    assert!(text.starts_with("The left column opens this page.\n"), "{text}");
    assert!(text.ends_with("The right column closes this page.\n"), "{text}");
    assert!(!text.contains("-\n"), "{text}");
    for word in ["handbook", "otherwise.", "warranty", "First-aid"] {
        assert!(text.split_whitespace().any(|found| found == word), "{word}: {text}");
    }
}

#[test]
fn table_rows_are_lines() {
    let text = page_of("table.pdf").text;
    let rows = "\n| Model K3 | 800 hours | 1,240 EUR |\n| Model K7 | 2,000 hours | 2,980 EUR |\n";
    assert!(text.contains("\n| Pump | Service interval | Price |\n|---|---|---|\n"), "{text}");
    assert!(text.contains(rows), "{text}");
    assert!(text.contains("\nOrders above ten pumps get a discount of 6 percent.\n"), "{text}");
}

#[test]
fn ligatures_become_letters() {
    let text = page_of("letter.pdf").text;
    for words in
        ["the office confirms the first delivery of five efficient pumps", "The final offer is affixed"]
    {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn right_to_left_page_is_in_logical_order() {
    let hebrew = page_of("hebrew.pdf").text;
    let lines = [
        "תקופת ההחזרה של משאבות היא 45 ימים.",
        "האחריות (חמש שנים) אינה מכסה נזקי כפור.",
        "הדגם Model K3 זקוק להחלפת שמן.",
    ];
    assert_eq!(hebrew.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), lines);
    let arabic = page_of("arabic.pdf").text;
    let lines = ["مدة إرجاع المضخات هي 45 يوما.", "يجب تبديل الزيت كل 800 ساعة."];
    assert_eq!(arabic.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), lines);
}

#[test]
fn chinese_and_japanese_text_is_read() {
    let extraction = fixture("japanese.pdf").unwrap();
    let text = &extraction.pages[0].text;
    assert!(text.starts_with("ポンプの返品期間は四十五日です。\n保証期間は購入日から五年です。\n"), "{text}");
    assert!(text.contains("水泵的退货期限是四十五天。"), "{text}");
    assert_eq!(extraction.metadata.title.as_deref(), Some("ポンプ手引書"));
}

#[test]
fn scan_has_no_text_and_locked_file_needs_a_password() {
    assert_eq!(page_of("scan.pdf").quality(), PageQuality::Empty);
    assert_eq!(fixture("locked.pdf"), Err(FailureCode::PasswordRequired));
}
