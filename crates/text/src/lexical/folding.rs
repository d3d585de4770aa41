//! Letters without their marks.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// A word in Latin, Greek or Cyrillic letters without accents, and with the plain forms of letters that are written otherwise where a
/// keyboard lacks them; `None` if it has none. Cyrillic keeps the letters that only look as if they had an accent.
pub(super) fn folded(word: &str) -> Option<String> {
    if word.is_ascii() {
        return None;
    }
    let mut plain = String::with_capacity(word.len());
    for c in word.nfc() {
        match c {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            'ø' => plain.push('o'),
            'đ' | 'ð' => plain.push('d'),
            'ł' => plain.push('l'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            'й' | 'ї' | 'ў' => plain.push(c),
            _ if is_combining_mark(c) && plain.ends_with(|before: char| before.is_ascii()) => {}
            '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{4ff}' | '\u{1e00}'..='\u{1fff}' => {
                decompose_canonical(c, |part| {
                    if !is_combining_mark(part) {
                        plain.push(part);
                    }
                });
            }
            _ => plain.push(c),
        }
    }
    (plain != word).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_latin_greek_and_cyrillic_letters_are_removed() {
        for (word, expected) in [
            ("résumé", "resume"),
            ("i\u{307}stanbul", "istanbul"),
            ("ısparta", "isparta"),
            ("łódź", "lodz"),
            ("smørrebrød", "smorrebrod"),
            ("straße", "strasse"),
            ("εφημερίδα", "εφημεριδα"),
        ] {
            assert_eq!(folded(word).as_deref(), Some(expected), "{word}");
        }
        for word in ["resume", "чай", "水", "الكتاب", "हिन्दी"] {
            assert_eq!(folded(word), None, "{word}");
        }
    }
}
