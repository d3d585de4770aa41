//! Repairs the maps from glyphs to text that map some glyphs to nothing.
//!
//! Some programs map one glyph of a shaped word to the whole word, and its other glyphs to an empty string. hayro discards a map
//! with an empty string as a whole. The empty strings are replaced by a character that [`characters`](super::characters) leaves
//! out. The streams are changed in place, so that no offset in the file changes.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hayro_syntax::object::{Dict, Stream};
use hayro_syntax::{Filter, Pdf};
use std::collections::HashSet;
use std::io::{Read, Write};

/// Stands for an empty string in a map.
pub(super) const NOTHING: char = '\u{90}';
/// Maximum number of maps, and maximum size of each in bytes.
const MAPS_MAX: usize = 500;
const BYTES_MAX: u64 = 1 << 20;

/// The bytes of a file with repaired maps; `None` if no map needs it.
pub(super) fn repaired(pdf: &Pdf) -> Option<Vec<u8>> {
    let data = pdf.data().as_ref();
    let mut bytes: Option<Vec<u8>> = None;
    let mut seen = HashSet::new();
    for page in pdf.pages().iter() {
        let fonts = &page.resources().fonts;
        for name in fonts.keys() {
            let Some(font) = fonts.get::<Dict<'_>>(&*name) else { continue };
            let Some(stream) = font.get::<Stream<'_>>("ToUnicode") else { continue };
            let raw = stream.raw_data();
            // The stream of an encrypted file is not a part of the file.
            let start = (raw.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
            let is_in_file = start.checked_add(raw.len()).is_some_and(|end| end <= data.len());
            if !is_in_file || seen.len() >= MAPS_MAX || !seen.insert(start) {
                continue;
            }
            if let Some(map) = repaired_map(&raw, &stream.filters()) {
                let bytes = bytes.get_or_insert_with(|| data.to_vec());
                bytes[start..start + map.len()].copy_from_slice(&map);
            }
        }
    }
    bytes
}

/// The repaired stream of a map, of the same length.
fn repaired_map(raw: &[u8], filters: &[Filter]) -> Option<Vec<u8>> {
    let mut map = Vec::new();
    match filters {
        [] => map.extend_from_slice(raw),
        [Filter::FlateDecode] => drop(ZlibDecoder::new(raw).take(BYTES_MAX).read_to_end(&mut map).ok()?),
        _ => return None,
    }
    if !map.windows(2).any(|pair| pair == b"<>") {
        return None;
    }
    let mut map = filled(&map);
    // What follows the last table says nothing, and its place may be needed.
    if let Some(last) = map.windows(5).rposition(|word| word == b"endbf") {
        let end = map[last..].iter().position(u8::is_ascii_whitespace);
        map.truncate(end.map_or(map.len(), |end| last + end));
    }
    let mut repaired = match filters {
        [] => map,
        _ => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&map).ok()?;
            encoder.finish().ok()?
        }
    };
    if repaired.len() > raw.len() {
        return None;
    }
    repaired.resize(raw.len(), if filters.is_empty() { b' ' } else { 0 });
    Some(repaired)
}

/// The map with [`NOTHING`] for empty strings, and without spaces between strings.
fn filled(map: &[u8]) -> Vec<u8> {
    let nothing = format!("{:02X}>", u32::from(NOTHING));
    let mut filled = Vec::with_capacity(map.len());
    let mut rest = map;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'>' if filled.last() == Some(&b'<') => filled.extend_from_slice(nothing.as_bytes()),
            b'>' => filled.push(b'>'),
            byte => filled.push(*byte),
        }
        let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if *byte == b'>' && rest.get(spaces) == Some(&b'<') {
            rest = &rest[spaces..];
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_strings_are_filled_within_the_length() {
        let map = b"4 beginbfchar\n<21> <>\n<22> <0041>\n<23>  <>\nendbfchar\n<< /a /b >>";
        let expected = b"4 beginbfchar\n<21><90><22><0041><23><90>\nendbfchar\n<< /a /b >>";
        assert_eq!(filled(map), expected);
        let repaired = repaired_map(map, &[]).unwrap();
        let table = &expected[..expected.len() - "\n<< /a /b >>".len()];
        assert_eq!((repaired.len(), repaired.trim_ascii_end()), (map.len(), table));
        assert_eq!(repaired_map(b"1 beginbfchar <21> <0041> endbfchar", &[]), None);
        let mut many: String = (0..64).map(|code| format!("<{code:04x}> <>\n")).collect();
        many.push_str("endbfchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(many.as_bytes()).unwrap();
        let raw = encoder.finish().unwrap();
        let repaired = repaired_map(&raw, &[Filter::FlateDecode]).unwrap();
        let mut text = String::new();
        ZlibDecoder::new(&repaired[..]).read_to_string(&mut text).unwrap();
        assert!(repaired.len() == raw.len() && text.starts_with("<0000><90><0001><90>"), "{text}");
    }
}
