//! Text recognised on images of pages.

use crate::error::ValidationError;
use std::fmt;

/// Pages whose mean confidence is lower, in percent, keep their unreliable or missing text.
const MIN_CONFIDENCE: u8 = 40;
/// Words with this confidence in percent are more often right than not.
const MIN_WORD_CONFIDENCE: u8 = 60;
/// Maximum number of languages.
const MAX_LANGUAGES: usize = 8;

/// A rectangle on a page as shown, in ten-thousandths of its width and height from its top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageBox {
    /// Left edge.
    pub left: u16,
    /// Top edge.
    pub top: u16,
    /// Right edge.
    pub right: u16,
    /// Bottom edge.
    pub bottom: u16,
}

impl PageBox {
    /// The number of units that a page is wide and high.
    pub const UNITS: u16 = 10_000;

    /// Converts a rectangle on an image of this size, in pixels. Parts outside the image are cut off.
    pub fn on_image(rectangle: [u32; 4], (width, height): (u32, u32)) -> Self {
        let scale = |at: u32, size: u32| {
            let size = u64::from(size.max(1));
            let at = u64::from(at).min(size) * u64::from(Self::UNITS);
            u16::try_from((at + size / 2) / size).unwrap_or(Self::UNITS)
        };
        let [left, top, right, bottom] = rectangle;
        Self {
            left: scale(left, width),
            top: scale(top, height),
            right: scale(right.max(left), width),
            bottom: scale(bottom.max(top), height),
        }
    }

    /// The smallest rectangle that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Converts a rectangle on an image of a part of a page to one on the page.
    #[must_use]
    pub fn on_page(self, part: Self) -> Self {
        let at = |at: u16, start: u16, end: u16| {
            let size = u32::from(end.saturating_sub(start));
            let moved = (u32::from(at) * size + u32::from(Self::UNITS) / 2) / u32::from(Self::UNITS);
            start.saturating_add(u16::try_from(moved).unwrap_or(Self::UNITS))
        };
        Self {
            left: at(self.left, part.left, part.right),
            top: at(self.top, part.top, part.bottom),
            right: at(self.right, part.left, part.right),
            bottom: at(self.bottom, part.top, part.bottom),
        }
    }

    /// The centre, in the same units.
    fn centre(self) -> (i32, i32) {
        let middle = |a: u16, b: u16| i32::midpoint(i32::from(a), i32::from(b));
        (middle(self.left, self.right), middle(self.top, self.bottom))
    }
}

/// A recognised word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognizedWord {
    /// Text without white space.
    pub text: String,
    /// Where it is on the page.
    pub bounds: PageBox,
    /// How sure the recognizer is, in percent.
    pub confidence: u8,
}

/// A recognised line of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecognizedLine {
    /// Words in reading order.
    pub words: Vec<RecognizedWord>,
    /// Whether the line begins a paragraph or a block.
    pub begins_paragraph: bool,
}

impl RecognizedLine {
    /// Whether the centre of its first word is within a rectangle.
    pub fn is_in(&self, place: PageBox) -> bool {
        self.words.first().is_some_and(|word| {
            let (x, y) = word.bounds.centre();
            let is_within = |at, from: u16, to: u16| (i32::from(from)..=i32::from(to)).contains(&at);
            is_within(x, place.left, place.right) && is_within(y, place.top, place.bottom)
        })
    }

    /// The line's words, separated by spaces.
    pub fn text(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        words.join(" ")
    }
}

/// How a page's text is turned against the page, clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Not turned.
    Upright,
    /// Turned by 90 degrees.
    Right,
    /// Turned by 180 degrees.
    UpsideDown,
    /// Turned by 270 degrees.
    Left,
}

impl Orientation {
    /// The angle in degrees, clockwise.
    pub const fn degrees(self) -> u16 {
        match self {
            Self::Upright => 0,
            Self::Right => 90,
            Self::UpsideDown => 180,
            Self::Left => 270,
        }
    }
}

/// The text recognised on one page, in reading order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecognizedPage {
    /// Lines in reading order.
    pub lines: Vec<RecognizedLine>,
}

impl RecognizedPage {
    /// The text in the form of extracted pages: lines end with `\n`, an empty line precedes a paragraph, and words
    /// hyphenated at the end of a line are joined.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut lines = self.lines.iter().filter(|line| !line.words.is_empty()).peekable();
        // The first word of a line that was joined to the line before.
        let mut joined = 0;
        while let Some(line) = lines.next() {
            if line.begins_paragraph && !text.is_empty() {
                text.push('\n');
            }
            let words = &line.words[joined..];
            joined = 0;
            for (n, word) in words.iter().enumerate() {
                if n > 0 {
                    text.push(' ');
                }
                text.push_str(&word.text);
            }
            let next = lines.peek().filter(|next| !next.begins_paragraph).and_then(|next| next.words.first());
            if let (Some(last), Some(next)) = (words.last(), next)
                && is_broken(&last.text, &next.text)
            {
                text.pop();
                text.push_str(&next.text);
                joined = 1;
            }
            text.push('\n');
        }
        text
    }

    /// Converts places on an image of a part of a page to those on the page.
    pub fn move_to(&mut self, part: PageBox) {
        for word in self.lines.iter_mut().flat_map(|line| &mut line.words) {
            word.bounds = word.bounds.on_page(part);
        }
    }

    /// The mean confidence of the words in percent, weighted by their length; 0 without words.
    pub fn confidence(&self) -> u8 {
        let (mut sum, mut characters) = (0_u64, 0_u64);
        for word in self.words() {
            let length = word.text.chars().count() as u64;
            sum += length * u64::from(word.confidence);
            characters += length;
        }
        u8::try_from(sum.checked_div(characters).unwrap_or(0)).unwrap_or(100)
    }

    /// The number of characters of words that the recognizer is quite sure of.
    pub fn confident_characters(&self) -> usize {
        let words = self.words().filter(|word| word.confidence >= MIN_WORD_CONFIDENCE);
        words.map(|word| word.text.chars().count()).sum()
    }

    /// How the text is turned, judged by where the words of its lines follow each other.
    pub fn orientation(&self) -> Orientation {
        let (mut right, mut down) = (0_i64, 0_i64);
        for line in &self.lines {
            if let [first, .., last] = line.words.as_slice() {
                let ((x0, y0), (x1, y1)) = (first.bounds.centre(), last.bounds.centre());
                right += i64::from(x1 - x0);
                down += i64::from(y1 - y0);
            }
        }
        match (right.abs() >= down.abs(), right >= 0, down >= 0) {
            (true, true, _) => Orientation::Upright,
            (true, false, _) => Orientation::UpsideDown,
            (false, _, true) => Orientation::Right,
            (false, _, false) => Orientation::Left,
        }
    }

    fn words(&self) -> impl Iterator<Item = &RecognizedWord> {
        self.lines.iter().flat_map(|line| &line.words)
    }

    /// Whether the text can be used.
    pub fn is_reliable(&self) -> bool {
        self.confidence() >= MIN_CONFIDENCE
            && self.words().any(|word| word.text.contains(char::is_alphanumeric))
    }
}

/// Whether a word at the end of a line continues on the next line.
fn is_broken(last: &str, next: &str) -> bool {
    let stem = last.strip_suffix(['-', '\u{ad}']);
    stem.is_some_and(|stem| stem.ends_with(char::is_lowercase)) && next.starts_with(char::is_lowercase)
}

/// Why the text of a page could not be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecognitionFailure {
    /// The page could not be rendered.
    Rendering,
    /// Recognition exceeded its time limit.
    Timeout,
    /// Recognition exceeded its memory limit.
    Memory,
    /// The recognizer crashed.
    Crashed,
    /// The recognizer rejected the image, or its result is invalid or too large.
    Invalid,
    /// The document has more pages to recognise than the limit.
    Limit,
}

impl RecognitionFailure {
    /// All failures.
    pub const ALL: [Self; 6] =
        [Self::Rendering, Self::Timeout, Self::Memory, Self::Crashed, Self::Invalid, Self::Limit];

    /// The code as text, as in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rendering => "not_rendered",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Crashed => "crashed",
            Self::Invalid => "invalid",
            Self::Limit => "too_many_pages",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.as_str() == text)
    }
}

/// The result of recognising a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// Name, version and languages of the recognizer.
    pub recognizer: String,
    /// The recognised text, or the reason of its absence.
    pub result: Result<RecognizedPage, RecognitionFailure>,
}

impl Recognition {
    /// The recognised page, if its text can be used.
    pub fn reliable(&self) -> Option<&RecognizedPage> {
        self.result.as_ref().ok().filter(|page| page.is_reliable())
    }
}

/// The languages of a text: ISO 639-3 codes, as `eng` or `chi_sim`, in the order of their importance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages(Vec<String>);

impl Languages {
    /// Parses codes separated by `+`, such as `deu+eng`.
    ///
    /// # Errors
    /// If there is no code, there are more than eight, or one has other characters than ASCII letters, digits and `_`.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let wrong = |reason: String| Err(ValidationError::new("languages", reason));
        let codes: Vec<String> = text.split('+').map(|code| code.trim().to_owned()).collect();
        if codes.len() > MAX_LANGUAGES {
            return wrong(format!("must be at most {MAX_LANGUAGES}"));
        }
        let is_code = |code: &String| {
            (2..=32).contains(&code.len()) && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        match codes.iter().find(|code| !is_code(code)) {
            Some(code) => wrong(format!(
                "{code:?} is not a language (expected a code such as `eng`, or several as `deu+eng`)"
            )),
            None => Ok(Self(codes)),
        }
    }

    /// The codes.
    pub fn codes(&self) -> &[String] {
        &self.0
    }
}

impl Default for Languages {
    fn default() -> Self {
        Self(vec!["eng".to_owned()])
    }
}

impl fmt::Display for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("+"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, x: u16, y: u16, confidence: u8) -> RecognizedWord {
        let bounds = PageBox { left: x, top: y, right: x + 100, bottom: y + 50 };
        RecognizedWord { text: text.to_owned(), bounds, confidence }
    }

    fn line(text: &str, begins_paragraph: bool) -> RecognizedLine {
        let words = text.split_whitespace().zip(1..).map(|(text, n)| word(text, n * 200, 100, 90)).collect();
        RecognizedLine { words, begins_paragraph }
    }

    #[test]
    fn text_has_paragraphs_and_joined_words() {
        let lines = vec![
            line("The pump moves wa-", true),
            line("ter and oil. The oil-", false),
            line("Filter stays well-", false),
            line("known", true),
        ];
        let page = RecognizedPage { lines };
        assert_eq!(page.text(), "The pump moves water\nand oil. The oil-\nFilter stays well-\n\nknown\n");
        let one_word =
            RecognizedPage { lines: vec![line("wa-", true), line("ter", false), line("runs", false)] };
        assert_eq!(one_word.text(), "water\n\nruns\n");
        assert_eq!(RecognizedPage::default().text(), "");
    }

    #[test]
    fn confidence_is_weighted_by_length() {
        let words = vec![word("aaaa", 0, 0, 100), word("b", 200, 0, 50)];
        let page = RecognizedPage { lines: vec![RecognizedLine { words, begins_paragraph: true }] };
        assert_eq!(page.confidence(), 90);
        assert_eq!(RecognizedPage::default().confidence(), 0);
    }

    #[test]
    fn recognition_with_low_confidence_is_not_used() {
        let recognition = |text: &str, confidence| {
            let words = vec![word(text, 0, 0, confidence)];
            let lines = vec![RecognizedLine { words, begins_paragraph: true }];
            Recognition { recognizer: "a".into(), result: Ok(RecognizedPage { lines }) }
        };
        assert!(recognition("word", MIN_CONFIDENCE).reliable().is_some());
        assert!(recognition("word", MIN_CONFIDENCE - 1).reliable().is_none());
        assert!(recognition("—", 99).reliable().is_none());
        let failed = Recognition { recognizer: "a".into(), result: Err(RecognitionFailure::Timeout) };
        assert!(failed.reliable().is_none());
    }

    #[test]
    fn orientation_follows_the_words_of_lines() {
        let of = |points: [(u16, u16); 2]| {
            let words = points.iter().map(|(x, y)| word("a", *x, *y, 90)).collect();
            RecognizedPage { lines: vec![RecognizedLine { words, begins_paragraph: true }] }.orientation()
        };
        assert_eq!(of([(100, 100), (900, 110)]), Orientation::Upright);
        assert_eq!(of([(100, 100), (110, 900)]), Orientation::Right);
        assert_eq!(of([(900, 100), (100, 110)]), Orientation::UpsideDown);
        assert_eq!(of([(100, 900), (110, 100)]), Orientation::Left);
        assert_eq!(RecognizedPage::default().orientation(), Orientation::Upright);
        assert_eq!(Orientation::Left.degrees(), 270);
    }

    #[test]
    fn boxes_are_in_units_of_the_page() {
        let bounds = PageBox::on_image([0, 50, 100, 400], (200, 200));
        assert_eq!(bounds, PageBox { left: 0, top: 2500, right: 5000, bottom: 10_000 });
        let turned = PageBox::on_image([150, 10, 20, 5], (200, 0));
        assert_eq!((turned.left, turned.right, turned.bottom), (7500, 7500, PageBox::UNITS));
    }

    #[test]
    fn boxes_on_a_part_are_moved_to_the_page() {
        let part = PageBox { left: 5000, top: 2000, right: 10_000, bottom: 4000 };
        let middle = PageBox { left: 2500, top: 5000, right: 7500, bottom: 10_000 };
        assert_eq!(middle.on_page(part), PageBox { left: 6250, top: 3000, right: 8750, bottom: 4000 });
        let other = PageBox { left: 100, top: 3000, right: 200, bottom: 9000 };
        assert_eq!(part.union(other), PageBox { left: 100, top: 2000, right: 10_000, bottom: 9000 });
        let mut page = RecognizedPage { lines: vec![line("a", true)] };
        page.move_to(part);
        assert_eq!(
            page.lines[0].words[0].bounds,
            PageBox { left: 5100, top: 2020, right: 5150, bottom: 2030 }
        );
    }

    #[test]
    fn languages_are_codes_separated_by_plus() {
        assert_eq!(Languages::parse("deu + chi_sim").unwrap().codes(), ["deu", "chi_sim"]);
        assert_eq!(Languages::parse("deu+eng").unwrap().to_string(), "deu+eng");
        for wrong in ["", "e", "eng,deu", "eng+", "-l", "../eng", "a+b+c+d+e+f+g+h+i"] {
            assert!(Languages::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn failure_round_trips_through_text() {
        for failure in RecognitionFailure::ALL {
            assert_eq!(RecognitionFailure::parse(failure.as_str()), Some(failure));
        }
    }
}
