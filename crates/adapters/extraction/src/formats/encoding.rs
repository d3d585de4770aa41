//! Encodings of texts.

use crate::reader::damaged;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use docent_domain::document::Failure;
use docent_domain::file_type::{HEAD_BYTES, TextForm};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, WINDOWS_1252};

/// The number of bytes at the beginning of a file that can declare its encoding.
const DECLARATION_BYTES: usize = 1024;

/// Decodes a text: as UTF-16, as UTF-8, or in the encoding that fits its bytes best. Line ends become `\n`.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, Failure> {
    if utf16(&bytes).is_none() && TextForm::of(&bytes).is_none() {
        return Err(damaged("it has bytes that are no text"));
    }
    Ok(decode_with(bytes, None))
}

/// The form of UTF-16 in which a text is encoded, with or without a byte order mark.
pub(super) fn utf16(bytes: &[u8]) -> Option<TextForm> {
    TextForm::of(&bytes[..bytes.len().min(HEAD_BYTES)]).filter(|form| *form != TextForm::Bytes)
}

/// Decodes a text whose encoding is not declared, such as the headers of a message.
pub(super) fn decode_lossy(bytes: &[u8]) -> String {
    decode_with(bytes.to_vec(), None)
}

/// Decodes a text that is declared to be in an encoding. Programs often declare another one than they use: UTF-8 is recognised
/// by its bytes, and bytes that the declared encoding does not have are decoded in the one that fits best. `None` for an
/// unknown encoding.
pub(super) fn decode_labelled(bytes: &[u8], label: Option<&str>) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    let declared = match label {
        Some(label) => Some(Encoding::for_label(label.as_bytes())?),
        None => None,
    };
    let decoded = declared.and_then(|of| of.decode_without_bom_handling_and_without_replacement(bytes));
    Some(decoded.map_or_else(|| decode_lossy(bytes), |text| text.into_owned()))
}

/// Decodes a web page, whose `meta` element or XML declaration may name the encoding.
pub(super) fn decode_html(bytes: Vec<u8>) -> String {
    let declared = declared(&bytes, &["charset=", "encoding="]);
    decode_with(bytes, declared)
}

/// Decodes XML, whose declaration may name the encoding.
pub(super) fn decode_xml(bytes: Vec<u8>) -> String {
    let declared = declared(&bytes, &["encoding="]);
    decode_with(bytes, declared.or(Some(UTF_8)))
}

fn decode_with(bytes: Vec<u8>, declared: Option<&'static Encoding>) -> String {
    if let Some(form) = utf16(&bytes) {
        let text = form.decode(&bytes);
        return with_line_feeds(text.trim_start_matches('\u{feff}').to_owned());
    }
    let text = match (Encoding::for_bom(&bytes), String::from_utf8(bytes)) {
        (None, Ok(text)) if is_iso_2022_jp(&text) => ISO_2022_JP.decode(text.as_bytes()).0.into_owned(),
        (None, Ok(text)) => text,
        (Some((encoding, _)), Ok(text)) => encoding.decode(text.as_bytes()).0.into_owned(),
        (Some((encoding, _)), Err(error)) => encoding.decode(error.as_bytes()).0.into_owned(),
        (None, Err(error)) => {
            let bytes = error.as_bytes();
            let declared = declared.filter(|encoding| *encoding != UTF_8);
            let mostly_utf8 = || if declared.is_none() { mostly_utf8(bytes) } else { None };
            mostly_utf8().unwrap_or_else(|| {
                let encoding = declared.unwrap_or_else(|| detected(bytes));
                encoding.decode_without_bom_handling(bytes).0.into_owned()
            })
        }
    };
    with_line_feeds(text)
}

fn with_line_feeds(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// Whether a text is in ISO-2022-JP: ASCII with the escapes that begin and end Japanese.
fn is_iso_2022_jp(text: &str) -> bool {
    text.is_ascii()
        && ["\u{1b}$B", "\u{1b}$@"].iter().any(|begin| text.contains(begin))
        && ["\u{1b}(B", "\u{1b}(J"].iter().any(|end| text.contains(end))
}

/// Decodes UTF-8 with a few other bytes, which are read as Windows-1252: programs join texts of both. `None` if there are more
/// such bytes.
fn mostly_utf8(bytes: &[u8]) -> Option<String> {
    let (mut text, mut valid, mut others) = (String::with_capacity(bytes.len()), 0, 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        others += chunk.invalid().len();
        text.push_str(&WINDOWS_1252.decode_without_bom_handling(chunk.invalid()).0);
    }
    (valid > 2 * others).then_some(text)
}

fn detected(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The encoding that is named after one of `keys` at the beginning.
fn declared(bytes: &[u8], keys: &[&str]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let name = keys.iter().find_map(|key| head.split_once(key))?.1.trim_start_matches(['"', '\'']);
    let end =
        name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(name.len());
    Encoding::for_label(&name.as_bytes()[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_by_mark_as_utf8_or_by_its_bytes() {
        for (bytes, text) in [
            ("Größe\r\n1".as_bytes(), "Größe\n1"),
            (b"\xef\xbb\xbfa\rb", "a\nb"),
            (b"\xff\xfeG\0r\0\xf6\0", "Grö"),
            (b"\xfe\xff\0G\0r\0\xf6", "Grö"),
            (b"G\0r\0\xf6\0\r\0\n\0", "Grö\n"),
            (b"\0G\0r\0\xf6", "Grö"),
            (b"one\0control character", "one\0control character"),
            (b"Die Gr\xf6\xdfe der M\xfcnzen \xfcber", "Die Größe der Münzen über"),
            (b"Gr\xc3\xb6\xc3\x9fe, \xc3\xbcber \xfc", "Größe, über ü"),
            (b"\x1b$BEl5~\x1b(B 7", "東京 7"),
        ] {
            assert_eq!(decode(bytes.to_vec()).unwrap(), text);
        }
        assert!(decode(b"a\0\0\0b".to_vec()).is_err());
    }

    #[test]
    fn wrong_label_is_corrected_by_the_bytes() {
        for (bytes, label, text) in [
            ("Größe".as_bytes(), Some("us-ascii"), Some("Größe")),
            (b"Die Gr\xf6\xdfe der M\xfcnzen \xfcber", Some("utf-8"), Some("Die Größe der Münzen über")),
            (b"\xb1", Some("iso-8859-2"), Some("ą")),
            (b"\x80 5", Some("iso-8859-1"), Some("€ 5")),
            (b"\xb1", Some("x-unknown"), None),
        ] {
            assert_eq!(decode_labelled(bytes, label).as_deref(), text, "{label:?}");
        }
    }

    #[test]
    fn declared_encoding_is_used_unless_the_bytes_are_utf8() {
        let page = |text: &[u8]| [b"<meta charset='iso-8859-2'>", text].concat();
        assert!(decode_html(page(b"\xb1")).ends_with('ą'));
        assert!(decode_html(page("ą".as_bytes())).ends_with('ą'));
        assert_eq!(
            decode_xml(b"<?xml encoding=\"windows-1252\"?>\xe9".to_vec()),
            "<?xml encoding=\"windows-1252\"?>é"
        );
    }
}
