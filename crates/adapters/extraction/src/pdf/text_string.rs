//! Text strings of PDF dictionaries: titles, bookmarks, replacement text.

/// Decodes a text string: UTF-16 or UTF-8 with a byte-order mark, otherwise PDFDocEncoding.
pub(super) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // Not standard, but written by some producers.
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&byte| pdf_doc_char(byte)).collect(),
    }
}

/// Decodes a text string to one line of at most `max` characters; `None` if it is blank.
pub(super) fn decode_line(bytes: &[u8], max: usize) -> Option<String> {
    // Characters take at most four bytes, except for language escape sequences.
    let text = decode(&bytes[..bytes.len().min(8 * max)]);
    let visible = |c: char| if c.is_control() || c == '\u{fffd}' { ' ' } else { c };
    let spaced: String = text.chars().map(visible).collect();
    let mut line = String::new();
    for word in spaced.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if let Some((end, _)) = line.char_indices().nth(max) {
        line.truncate(end);
    }
    (!line.is_empty()).then_some(line)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn pdf_doc_char(byte: u8) -> char {
    const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
    const HIGH: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ',
        'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    match byte {
        0x18..=0x1f => LOW[usize::from(byte - 0x18)],
        0x80..=0xa0 => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_mark_determines_the_encoding() {
        assert_eq!(decode(b"\xfe\xff\x00G\x00r\x00\xfc\x00n"), "Grün");
        assert_eq!(decode(b"\xff\xfeG\x00r\x00"), "Gr");
        assert_eq!(decode(b"\xef\xbb\xbfGr\xc3\xbcn"), "Grün");
        assert_eq!(decode(b"Gr\xfcn \x80 \xa0"), "Grün • €");
        assert_eq!(decode(b"\xfe\xff\xd8\x00"), "\u{fffd}");
    }

    #[test]
    fn line_is_cut_and_has_no_control_characters() {
        assert_eq!(decode_line(b" Annual\r\n\x00 report ", 100).as_deref(), Some("Annual report"));
        assert_eq!(decode_line(b"Annual report", 6).as_deref(), Some("Annual"));
        assert_eq!(decode_line(b" \x00\n", 100), None);
    }
}
