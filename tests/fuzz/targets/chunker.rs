//! Cuts any text on any pages into chunks of any size. The first bytes choose the size, the overlap and the tokenizer;
//! `\x0c` ends a page, and a page that starts with `\x01` is unreliable.
#![no_main]

use docent_domain::chunk::{Chunk, ChunkSize, page_at};
use docent_domain::extraction::{ExtractedPage, PageQuality};
use docent_text::chunking::chunk_pages;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [size, overlap, counter, text @ ..] = data else { return };
    let tokens = usize::from(*size).max(1);
    let size = ChunkSize { tokens, overlap: usize::from(*overlap) % tokens.div_ceil(2) };
    let text = String::from_utf8_lossy(text);
    let page = |(text, number): (&str, u32)| {
        let unmapped_glyphs = u32::from(text.starts_with('\u{1}')) * 9;
        ExtractedPage {
            number,
            text: text.to_owned(),
            glyphs: 10,
            unmapped_glyphs,
            ..ExtractedPage::default()
        }
    };
    // Page numbers may have gaps.
    let pages: Vec<_> =
        text.split('\u{c}').zip((1..).step_by(1 + usize::from(counter >> 4))).map(page).collect();
    let count: fn(&str) -> usize = match counter & 3 {
        0 => str::len,
        1 => |text| text.chars().filter(|c| !c.is_whitespace()).count(),
        2 => |text| text.split_whitespace().count(),
        _ => |text| text.len().div_ceil(4),
    };
    let chunks = chunk_pages(&pages, size, count);
    for (chunk, ordinal) in chunks.iter().zip(0..) {
        check(chunk, ordinal, &pages);
        assert_eq!(chunk.tokens as usize, count(&chunk.text));
        // Token counts of characters add up, white space counts as zero and no character is cut, so the bound is exact.
        if counter & 3 == 1 {
            assert!(chunk.tokens as usize <= size.tokens + size.overlap, "{} tokens", chunk.tokens);
        }
    }
    for pair in chunks.windows(2) {
        assert!(pair[0].span.start <= pair[1].span.start, "no chunk begins before the one before it");
        assert!(pair[0].span.end < pair[1].span.end, "each chunk says something new");
    }
    covers(&chunks, &pages);
});

/// Checks the properties of a single chunk.
fn check(chunk: &Chunk, ordinal: u32, pages: &[ExtractedPage]) {
    assert_eq!(chunk.ordinal, ordinal);
    assert!(!chunk.text.is_empty() && chunk.text == chunk.text.trim(), "{:?}", chunk.text);
    let (start, end) = (chunk.span.start, chunk.span.end);
    assert!(start < end);
    assert_eq!(chunk.pages.first().map(|page| (page.page, page.at)), Some((start.page, 0)));
    assert_eq!(chunk.pages.last().map(|page| page.page), Some(end.page));
    assert!(chunk.pages.windows(2).all(|pair| pair[0].page < pair[1].page && pair[0].at <= pair[1].at));
    // The chunk is the text of its pages from its start to its end, and slicing proves the offsets.
    let held = pages
        .iter()
        .filter(|page| (start.page..=end.page).contains(&page.number) && page.quality() == PageQuality::Text);
    let mut expected = Vec::new();
    for page in held {
        let from = if page.number == start.page { start.offset as usize } else { 0 };
        let to = if page.number == end.page { end.offset as usize } else { page.text.len() };
        expected.push(&page.text[from..to]);
    }
    assert_eq!(chunk.text, expected.join("\n"));
    for (at, _) in chunk.text.char_indices() {
        let page = page_at(&chunk.pages, at);
        assert!((start.page..=end.page).contains(&page));
    }
}

/// Every character of trusted pages but white space is in a chunk.
fn covers(chunks: &[Chunk], pages: &[ExtractedPage]) {
    let mut chunks = chunks.iter().peekable();
    for page in pages.iter().filter(|page| page.quality() == PageQuality::Text) {
        for (at, _) in page.text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let place = (page.number, at as u32);
            while chunks.next_if(|chunk| (chunk.span.end.page, chunk.span.end.offset) <= place).is_some() {}
            let holder = chunks.peek().expect("a chunk that is not over yet");
            assert!((holder.span.start.page, holder.span.start.offset) <= place, "{place:?} is in no chunk");
        }
    }
}
