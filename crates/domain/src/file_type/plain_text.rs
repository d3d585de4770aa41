//! Separates texts from other content.

/// Maximum number of control characters in a text, as one in this many bytes; a short text can have one.
const BYTES_PER_CONTROL: usize = 50;
/// Maximum number of zero bytes in a text in UTF-8, as one in this many bytes.
const BYTES_PER_ZERO: usize = 8;

/// Encoding of a text, as far as its bytes show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Another encoding, such as UTF-8.
    Bytes,
}

impl TextForm {
    /// Determines the form of a text by its beginning; `None` if it is no text.
    ///
    /// UTF-16 is recognised without a byte order mark too. A few control characters are allowed.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => return Some(Self::Utf16Le),
            [0xfe, 0xff, ..] => return Some(Self::Utf16Be),
            _ => {}
        }
        let is_control =
            |byte: &&u8| (**byte < 0x20 && !matches!(byte, 0x08..=0x0d | 0x1b)) || **byte == 0x7f;
        let controls = head.iter().filter(is_control).count();
        let zeros = head.iter().filter(|byte| **byte == 0).count();
        // UTF-16 is rarely valid UTF-8 with so few of its zero bytes.
        let is_utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
        // Zero bytes can separate lines, or fill the end of a file.
        let is_separated = is_utf8 && zeros * BYTES_PER_ZERO <= head.len();
        let counted = if is_separated { controls - zeros } else { controls };
        let has_few = counted <= (head.len() / BYTES_PER_CONTROL).max(1);
        if zeros > 0 && !(has_few && is_utf8) {
            let (low, high) = (plausibility(head, Self::Utf16Le), plausibility(head, Self::Utf16Be));
            let best = if low >= high { (low, Self::Utf16Le) } else { (high, Self::Utf16Be) };
            if let (Some(_), form) = best {
                return Some(form);
            }
        }
        has_few.then_some(Self::Bytes)
    }

    /// Decodes a text. Bytes of an unknown encoding are replaced.
    pub fn decode(self, bytes: &[u8]) -> String {
        let unit = match self {
            Self::Utf16Le => u16::from_le_bytes,
            Self::Utf16Be => u16::from_be_bytes,
            Self::Bytes => return String::from_utf8_lossy(bytes).into_owned(),
        };
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

/// How plausible text in this encoding is, by its ASCII characters, of which white space tells most; `None` if it is no text.
fn plausibility(bytes: &[u8], form: TextForm) -> Option<usize> {
    if !bytes.len().is_multiple_of(2) || bytes.len() < 4 {
        return None;
    }
    let text = form.decode(bytes);
    let last = text.chars().count() - 1;
    let is_text = |(at, c): (usize, char)| match c {
        // The beginning of a file may end within a pair of units.
        char::REPLACEMENT_CHARACTER => at == last,
        '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}' => true,
        '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}' => false,
        c => !c.is_control(),
    };
    let spaces = text.chars().filter(char::is_ascii_whitespace).count();
    let ascii = text.chars().filter(char::is_ascii).count() + 4 * spaces;
    (ascii > 0 && text.chars().enumerate().all(is_text)).then_some(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn utf16_is_recognised_without_a_mark() {
        for text in ["Greetings from Cologne", "Привет из Кёльна", "第一行\n第二行。", "Grüße, 4711"]
        {
            for (form, unit) in [
                (TextForm::Utf16Le, u16::to_le_bytes as fn(u16) -> [u8; 2]),
                (TextForm::Utf16Be, u16::to_be_bytes),
            ] {
                let bytes = utf16(text, unit);
                assert_eq!(TextForm::of(&bytes), Some(form), "{text}");
                assert_eq!(form.decode(&bytes), text);
            }
        }
    }

    #[test]
    fn text_may_have_a_few_control_characters() {
        let one = [b"First line\x01\n", "Second line\n".repeat(20).as_bytes()].concat();
        assert_eq!(TextForm::of(&one), Some(TextForm::Bytes));
        let nul = [b"First line\0\n", "Second line\n".repeat(20).as_bytes()].concat();
        assert_eq!(TextForm::of(&nul), Some(TextForm::Bytes));
        let names = "first name\0second name\0".repeat(20);
        assert_eq!(TextForm::of(names.as_bytes()), Some(TextForm::Bytes));
        assert_eq!(TextForm::of("N\u{8}NA\u{8}A".repeat(20).as_bytes()), Some(TextForm::Bytes));
        assert_eq!(TextForm::of("a\u{1}".repeat(50).as_bytes()), None);
        assert_eq!(TextForm::of(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"), None);
        assert_eq!(TextForm::of(b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01"), None);
        assert_eq!(TextForm::of(b""), Some(TextForm::Bytes));
    }
}
