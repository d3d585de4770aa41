//! Converts right-to-left text from visual to logical order.

use unicode_bidi::{BidiClass, Level, ParagraphBidiInfo, bidi_class};

/// Whether a character is right-to-left.
pub(super) fn is_rtl(c: char) -> bool {
    // No character before Hebrew is, so most text needs no look-up.
    c >= '\u{590}' && matches!(bidi_class(c), BidiClass::R | BidiClass::AL)
}

/// Converts a line from visual order (left to right on the page) to logical order.
///
/// The Unicode algorithm that reorders logical text for display reverses the same runs, so applying it to visual text
/// restores the logical order.
pub(super) fn to_logical(visual: &str) -> String {
    let (mut rtl, mut ltr) = (0_usize, 0_usize);
    for c in visual.chars() {
        match bidi_class(c) {
            BidiClass::R | BidiClass::AL => rtl += 1,
            BidiClass::L => ltr += 1,
            _ => {}
        }
    }
    if rtl == 0 {
        return visual.to_owned();
    }
    let base = if rtl >= ltr { Level::rtl() } else { Level::ltr() };
    let info = ParagraphBidiInfo::new(visual, Some(base));
    let levels = info.reordered_levels_per_char(0..visual.len());
    let chars: Vec<char> = visual.chars().collect();
    let order = ParagraphBidiInfo::reorder_visual(&levels);
    let mirror = |i: usize| if levels[i].is_rtl() { mirrored(chars[i]) } else { chars[i] };
    let plain: String = order.iter().map(|&i| chars[i]).collect();
    let mirrored: String = order.iter().map(|&i| mirror(i)).collect();
    // Older producers store brackets as displayed, newer ones by meaning. The variant with more matching
    // brackets is correct.
    if unmatched(&mirrored) < unmatched(&plain) { mirrored } else { plain }
}

/// Counts brackets without a counterpart.
fn unmatched(text: &str) -> usize {
    let (mut open, mut unmatched) = (0_usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '«' => open += 1,
            ')' | ']' | '}' | '»' if open > 0 => open -= 1,
            ')' | ']' | '}' | '»' => unmatched += 1,
            _ => {}
        }
    }
    unmatched + open
}

fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hebrew_line_is_reversed() {
        assert_eq!(to_logical("םלוע םולש"), "שלום עולם");
    }

    #[test]
    fn numbers_and_latin_words_keep_their_order() {
        assert_eq!(to_logical(".םימי 45 ךות Docent לש הבושת"), "תשובה של Docent תוך 45 ימים.");
        assert_eq!(to_logical("the word םולש means peace"), "the word שלום means peace");
    }

    #[test]
    fn brackets_are_mirrored_if_needed() {
        assert_eq!(to_logical("(םולש) בוט"), "טוב (שלום)");
        assert_eq!(to_logical(")םולש( בוט"), "טוב (שלום)");
    }

    #[test]
    fn left_to_right_text_is_unchanged() {
        assert_eq!(to_logical("(a) b"), "(a) b");
        assert!(!is_rtl('a') && !is_rtl('中') && is_rtl('א') && is_rtl('ع') && is_rtl('ﻋ'));
    }
}
