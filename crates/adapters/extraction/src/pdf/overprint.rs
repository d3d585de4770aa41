//! Detects text that is drawn twice at nearly the same position to look bold or shadowed.

use hayro_interpret::kurbo::Point;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many glyphs back a repetition may start.
const MAX_DISTANCE: usize = 256;
/// Equal glyphs closer than this fraction of their size are repetitions.
const TOLERANCE: f64 = 0.1;

#[derive(Clone, Copy, Debug)]
struct DrawnGlyph {
    text: u64,
    at: Point,
}

/// Detects repeated glyphs among the last ones drawn.
#[derive(Debug, Default)]
pub(super) struct OverprintFilter {
    ring: Vec<DrawnGlyph>,
    /// Position of the next glyph in a full ring.
    next: usize,
    /// Distance from the newest glyph to the one expected to be repeated next.
    expected: Option<usize>,
    pen: Point,
}

impl OverprintFilter {
    /// Whether a glyph repeats a recently drawn one; otherwise it is recorded.
    pub(super) fn is_repeated(&mut self, text: &str, start: Point, end: Point, size: f64) -> bool {
        let glyph = DrawnGlyph { text: key(text), at: start };
        let tolerance = TOLERANCE * size;
        let follows = (start - self.pen).hypot() < 0.5 * size;
        self.pen = end;
        let found = match self.expected {
            Some(back) if self.matches(back, glyph, tolerance) => Some(back),
            _ if self.matches(0, glyph, tolerance) => Some(0),
            // Repetitions start with a jump of the pen; comparing all glyphs each time would be slow.
            _ if follows => None,
            _ => (1..self.ring.len()).find(|&back| self.matches(back, glyph, tolerance)),
        };
        self.expected = found.and_then(|back| back.checked_sub(1));
        if found.is_none() {
            self.record(glyph);
        }
        found.is_some()
    }

    fn matches(&self, back: usize, glyph: DrawnGlyph, tolerance: f64) -> bool {
        let length = self.ring.len();
        if back >= length {
            return false;
        }
        let newest = self.next + length - 1;
        let seen = self.ring[(newest - back) % length];
        let d = seen.at - glyph.at;
        seen.text == glyph.text && d.x.abs() < tolerance && d.y.abs() < tolerance
    }

    fn record(&mut self, glyph: DrawnGlyph) {
        if self.ring.len() < MAX_DISTANCE {
            self.ring.push(glyph);
        } else {
            self.ring[self.next] = glyph;
            self.next = (self.next + 1) % MAX_DISTANCE;
        }
    }
}

/// Maps a text to a number: short texts, as of nearly all glyphs, uniquely, longer ones by hash.
fn key(text: &str) -> u64 {
    let bytes = text.as_bytes();
    if bytes.len() < 8 {
        return bytes.iter().fold(1, |key, byte| key << 8 | u64::from(*byte));
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(filter: &mut OverprintFilter, text: &str, x: f64, y: f64) -> String {
        let glyphs = text.char_indices().map(|(i, c)| (x + i as f64 * 5.0, c.to_string()));
        let new =
            glyphs.filter(|(x, c)| !filter.is_repeated(c, Point::new(*x, y), Point::new(x + 5.0, y), 10.0));
        new.map(|(_, c)| c).collect()
    }

    #[test]
    fn line_drawn_again_with_a_small_offset_is_repeated() {
        let mut filter = OverprintFilter::default();
        assert_eq!(draw(&mut filter, "Annual report", 0.0, 0.0), "Annual report");
        assert_eq!(draw(&mut filter, "Annual report", 0.4, 0.2), "");
        assert_eq!(draw(&mut filter, "Annual report", 0.4, 12.0), "Annual report");
    }

    #[test]
    fn single_glyphs_drawn_again_are_repeated() {
        let mut filter = OverprintFilter::default();
        let both: String = "pump"
            .char_indices()
            .map(|(i, c)| {
                let c = c.to_string();
                draw(&mut filter, &c, i as f64 * 5.0, 0.0) + &draw(&mut filter, &c, i as f64 * 5.0 + 0.3, 0.0)
            })
            .collect();
        assert_eq!(both, "pump");
    }

    #[test]
    fn long_page_keeps_equal_letters() {
        let mut filter = OverprintFilter::default();
        for line in 0..100 {
            assert_eq!(draw(&mut filter, "aaaaaaaaaa", 0.0, f64::from(line) * 12.0), "aaaaaaaaaa");
        }
        assert_eq!(filter.ring.len(), MAX_DISTANCE);
        assert_eq!(draw(&mut filter, "aaaaaaaaaa", 0.0, 99.0 * 12.0), "");
    }
}
