//! Characters of the fonts Symbol and Wingdings, which have signs in the place of letters.

/// The characters of Symbol from `!` on.
const SYMBOL: &str =
    "!∀#∃%&∍()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// The characters of Symbol from 0xa0 on.
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪";
/// Frequent characters of Wingdings and Wingdings 2: boxes, marks, arrows and signs of lists.
const WINGDINGS: [(u32, char); 24] = [
    (0x28, '☎'),
    (0x2a, '✉'),
    (0x4a, '☺'),
    (0x6c, '●'),
    (0x6e, '■'),
    (0x6f, '☐'),
    (0x71, '☐'),
    (0x75, '◆'),
    (0x76, '❖'),
    (0x78, '☒'),
    (0x9f, '•'),
    (0xa1, '○'),
    (0xa7, '▪'),
    (0xa8, '☐'),
    (0xd8, '➢'),
    (0xdf, '←'),
    (0xe0, '→'),
    (0xe1, '↑'),
    (0xe2, '↓'),
    (0xe8, '➔'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
];
const WINGDINGS_2: [(u32, char); 5] = [(0x4f, '✗'), (0x50, '✓'), (0x52, '☑'), (0x54, '☒'), (0xa3, '☐')];
/// Where Windows puts the characters of these fonts.
const PRIVATE: u32 = 0xf000;

/// The character that a font shows for a code; `None` if the font is another one, or the character is not known.
pub(super) fn decode(font: &str, code: u32) -> Option<char> {
    let code = if code >= PRIVATE { code - PRIVATE } else { code };
    let listed = |list: &[(u32, char)]| list.iter().find(|entry| entry.0 == code).map(|entry| entry.1);
    let nth = |all: &str, at: Option<u32>| all.chars().nth(usize::try_from(at?).ok()?);
    match font.to_ascii_lowercase().as_str() {
        "symbol" | "wingdings" | "wingdings 2" if code == 0x20 => Some(' '),
        "symbol" if code < 0xa0 => nth(SYMBOL, code.checked_sub(0x21)),
        "symbol" => nth(SYMBOL_HIGH, code.checked_sub(0xa0)),
        "wingdings" => listed(&WINGDINGS),
        "wingdings 2" => listed(&WINGDINGS_2),
        _ => None,
    }
}

/// The text that a font shows for characters in the place of Windows for its signs.
pub(super) fn decode_text(font: &str, text: &str) -> String {
    let is_sign = |c: char| (PRIVATE..PRIVATE + 0x100).contains(&u32::from(c));
    text.chars().map(|c| if is_sign(c) { decode(font, u32::from(c)).unwrap_or(c) } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_decoded() {
        for (font, code, sign) in [
            ("Symbol", 0x21, Some('!')),
            ("Symbol", 0xf061, Some('α')),
            ("Symbol", 0xf07e, Some('∼')),
            ("Symbol", 0xf0a3, Some('≤')),
            ("Symbol", 0xf0b0, Some('°')),
            ("Symbol", 0xe5, Some('∑')),
            ("Symbol", 0xff, None),
            ("Symbol", 0x20, Some(' ')),
            ("Wingdings", 0xf0fe, Some('☑')),
            ("Wingdings 2", 0x50, Some('✓')),
            ("Arial", 0xf061, None),
        ] {
            assert_eq!(decode(font, code), sign, "{font} {code:x}");
        }
        assert_eq!(decode_text("Symbol", "\u{f062}-blocker"), "β-blocker");
    }
}
