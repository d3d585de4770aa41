//! The response for a page.

use docent_domain::recognition::{PageBox, RecognizedLine, RecognizedPage, RecognizedWord};
use serde::Deserialize;

/// Maximum number of words of a page.
const MAX_WORDS: usize = 20_000;
/// Maximum length of a word in characters; longer ones are cut.
const MAX_WORD: usize = 200;

#[derive(Deserialize)]
struct Page {
    width: u32,
    height: u32,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    /// Whether the line begins a paragraph.
    #[serde(default)]
    paragraph: bool,
    words: Vec<Word>,
}

#[derive(Deserialize)]
struct Word {
    text: String,
    /// Left, top, right and bottom edge in pixels.
    #[serde(rename = "box")]
    edges: [f64; 4],
    /// From 0 to 1.
    confidence: f64,
}

impl Word {
    /// The word without white space; `None` if nothing is left of it.
    fn recognized(self, size: (u32, u32)) -> Option<RecognizedWord> {
        let text: String = self.text.split_whitespace().collect::<String>().chars().take(MAX_WORD).collect();
        let confidence = (self.confidence.clamp(0.0, 1.0) * 100.0).round() as u8;
        // Out of range becomes the nearest edge.
        let bounds = PageBox::on_image(self.edges.map(|at| at.round() as u32), size);
        (!text.is_empty()).then_some(RecognizedWord { text, bounds, confidence })
    }
}

/// Parses a response; `None` if it is invalid.
pub(super) fn parse(body: &[u8]) -> Option<RecognizedPage> {
    let page: Page = serde_json::from_slice(body).ok()?;
    let size = (page.width, page.height);
    let words: usize = page.lines.iter().map(|line| line.words.len()).sum();
    if words > MAX_WORDS || page.width == 0 || page.height == 0 {
        return None;
    }
    let line = |line: Line| RecognizedLine {
        words: line.words.into_iter().filter_map(|word| word.recognized(size)).collect(),
        begins_paragraph: line.paragraph,
    };
    let mut lines: Vec<_> = page.lines.into_iter().map(line).filter(|line| !line.words.is_empty()).collect();
    if let Some(first) = lines.first_mut() {
        first.begins_paragraph = true;
    }
    Some(RecognizedPage { lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_parsed() {
        let body = br#"{"width":200,"height":100,"more":1,"lines":[
            {"words":[{"text":"Dear","box":[10,20,60.4,40],"confidence":0.966},{"text":" ","box":[0,0,0,0],"confidence":1}]},
            {"words":[]},
            {"paragraph":true,"words":[{"text":"x","box":[-5,0,900,1e99],"confidence":7}]}]}"#;
        let page = parse(body).unwrap();
        assert_eq!(page.text(), "Dear\n\nx\n");
        let word = &page.lines[0].words[0];
        assert_eq!(word.confidence, 97);
        assert_eq!(word.bounds, PageBox { left: 500, top: 2000, right: 3000, bottom: 4000 });
        let word = &page.lines[1].words[0];
        assert_eq!((word.confidence, word.bounds.left, word.bounds.bottom), (100, 0, PageBox::UNITS));
    }

    #[test]
    fn page_without_lines_is_empty() {
        assert_eq!(parse(br#"{"width":1,"height":1,"lines":[]}"#), Some(RecognizedPage::default()));
    }

    #[test]
    fn invalid_response_is_rejected() {
        let word = r#"{"words":[{"text":"a","box":[0,0,1,1],"confidence":1}]}"#;
        let many = format!(r#"{{"width":1,"height":1,"lines":[{}]}}"#, vec![word; MAX_WORDS + 1].join(","));
        for body in [
            "",
            "<html>",
            "[]",
            r#"{"lines":[]}"#,
            r#"{"width":0,"height":1,"lines":[]}"#,
            r#"{"width":1,"height":1,"lines":[{"words":[{"text":"a","box":[0,0,1],"confidence":1}]}]}"#,
            &many,
        ] {
            assert_eq!(parse(body.as_bytes()), None, "{:.60}", body);
        }
    }
}
