//! Converts the characters that fonts assign to glyphs to searchable text.

use super::bidi;
use hayro_interpret::hayro_cmap::BfString;
use unicode_normalization::UnicodeNormalization;

/// Stands for an empty string in a map from glyphs to text.
pub(super) const NOTHING: char = '\u{90}';

/// Appends a glyph's text and returns whether it is known.
///
/// Unknown glyphs become U+FFFD, or their code as a character if it is printable ASCII, which is usually right.
pub(super) fn push_glyph(out: &mut String, unicode: Option<BfString>, code: u32) -> bool {
    let before = out.len();
    match unicode {
        Some(BfString::Char(c)) => push(out, c),
        Some(BfString::String(text)) => text.chars().for_each(|c| push(out, c)),
        None => {
            let ascii = u8::try_from(code).ok().filter(|code| (b' '..=b'~').contains(code));
            out.push(ascii.map_or(char::REPLACEMENT_CHARACTER, char::from));
            return false;
        }
    }
    !out[before..].contains(char::REPLACEMENT_CHARACTER)
}

/// Appends a character in the form in which it is typed.
pub(super) fn push(out: &mut String, c: char) {
    match c {
        NOTHING => {}
        '\0'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{2028}' | '\u{2029}' => out.push(' '),
        // Direction and joining marks are meaningless in logical order.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {}
        // Bullets of the fonts Symbol and Wingdings.
        '\u{f0b7}' | '\u{f0a7}' => out.push('•'),
        // The meaning of private-use characters depends on the font.
        '\u{e000}'..='\u{f8ff}' => out.push(char::REPLACEMENT_CHARACTER),
        '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => out.extend(std::iter::once(c).nfkc()),
        c => out.push(c),
    }
}

/// Reverses a glyph of several right-to-left letters to visual order.
pub(super) fn to_visual(text: &mut String) {
    let mut chars = text.chars();
    if chars.next().is_some() && chars.next().is_some() && text.chars().any(bidi::is_rtl) {
        *text = text.chars().rev().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(s: &str) -> String {
        let mut out = String::new();
        s.chars().for_each(|c| push(&mut out, c));
        out
    }

    #[test]
    fn ligatures_and_presentation_forms_become_letters() {
        assert_eq!(text("o\u{fb03}ce"), "office");
        assert_eq!(text("\u{fb01}rst"), "first");
        assert_eq!(text("\u{fef8}"), "لأ");
        assert_eq!(text("a\u{a0}b\u{200b}c\u{7}"), "a bc ");
    }

    #[test]
    fn private_use_and_missing_characters_are_unknown() {
        let mut out = String::new();
        assert!(push_glyph(&mut out, Some(BfString::Char('\u{f0b7}')), 0));
        assert!(!push_glyph(&mut out, Some(BfString::Char('\u{e123}')), 0));
        assert!(!push_glyph(&mut out, None, 65));
        assert!(!push_glyph(&mut out, None, 3));
        assert_eq!(out, "•\u{fffd}A\u{fffd}");
    }

    #[test]
    fn glyph_of_two_hebrew_letters_is_reversed() {
        let mut glyph = "אב".to_owned();
        to_visual(&mut glyph);
        assert_eq!(glyph, "בא");
        let mut latin = "ffi".to_owned();
        to_visual(&mut latin);
        assert_eq!(latin, "ffi");
    }
}
