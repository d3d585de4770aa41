//! Repairs the maps from glyphs to text that map some glyphs to nothing, or to characters that only the font knows.
//!
//! Some programs map one glyph of a shaped word to the whole word, and its other glyphs to an empty string. hayro discards a map
//! with an empty string as a whole. The empty strings are replaced by a character that [`characters`](super::characters) leaves
//! out. Other programs map glyphs to private-use characters although the names of the glyphs tell the characters. The streams are
//! changed in place, so that no offset in the file changes.

use super::characters::{self, NOTHING};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hayro_syntax::object::{Dict, Name, Stream};
use hayro_syntax::{Filter, Pdf};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::ops::Range;

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
            // Only fonts with codes of one byte have names of glyphs.
            let has_names = font.get::<Name<'_>>("Subtype").is_some_and(|kind| &*kind != b"Type0");
            if let Some(map) = repaired_map(&raw, &stream.filters(), has_names) {
                let bytes = bytes.get_or_insert_with(|| data.to_vec());
                bytes[start..start + map.len()].copy_from_slice(&map);
            }
        }
    }
    bytes
}

/// The repaired stream of a map, of the same length. If the glyphs of the font have names, entries for
/// characters that only the font knows are removed: hayro then reads the names.
fn repaired_map(raw: &[u8], filters: &[Filter], has_names: bool) -> Option<Vec<u8>> {
    let mut map = Vec::new();
    match filters {
        [] => map.extend_from_slice(raw),
        [Filter::FlateDecode] => drop(ZlibDecoder::new(raw).take(BYTES_MAX).read_to_end(&mut map).ok()?),
        _ => return None,
    }
    let named = if has_names { without_private(&map) } else { None };
    if named.is_none() && !map.windows(2).any(|pair| pair == b"<>") {
        return None;
    }
    let mut map = filled(&named.unwrap_or(map));
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

/// The map with spaces for entries whose text is a private-use character; `None` if it has no such entry.
fn without_private(map: &[u8]) -> Option<Vec<u8>> {
    let mut kept = map.to_vec();
    let mut strings: Vec<(Range<usize>, bool)> = Vec::new();
    let mut entry = 0;
    let mut at = 0;
    while at < map.len() {
        let rest = &map[at..];
        if rest.starts_with(b"beginbfchar") || rest.starts_with(b"beginbfrange") {
            (entry, at) = (if rest.starts_with(b"beginbfchar") { 2 } else { 3 }, at + b"beginbfchar".len());
            strings.clear();
        } else if rest.starts_with(b"endbf") {
            (entry, at) = (0, at + b"endbf".len());
        } else if entry > 0 && matches!(rest[0], b'<' | b'[') {
            let end = if rest[0] == b'<' { b'>' } else { b']' };
            let end = at + rest.iter().position(|byte| *byte == end)? + 1;
            let is_private = rest[0] == b'<' && is_private(&map[at + 1..end - 1]);
            strings.push((at..end, is_private));
            at = end;
            if strings.len() == entry {
                if let [(first, _), .., (last, true)] = &strings[..] {
                    kept[first.start..last.end].fill(b' ');
                }
                strings.clear();
            }
        } else {
            at += 1;
        }
    }
    (kept != map).then_some(kept)
}

/// Whether a text in hexadecimal digits is a private-use character that [`characters`](super::characters) cannot read.
fn is_private(digits: &[u8]) -> bool {
    let code = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 4);
    let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
    let mut text = String::new();
    code.into_iter().for_each(|c| characters::push(&mut text, c));
    text == "\u{fffd}" && code != Some(char::REPLACEMENT_CHARACTER)
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
        let repaired = repaired_map(map, &[], false).unwrap();
        let table = &expected[..expected.len() - "\n<< /a /b >>".len()];
        assert_eq!((repaired.len(), repaired.trim_ascii_end()), (map.len(), table));
        assert_eq!(repaired_map(b"1 beginbfchar <21> <0041> endbfchar", &[], true), None);
        let mut many: String = (0..64).map(|code| format!("<{code:04x}> <>\n")).collect();
        many.push_str("endbfchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(many.as_bytes()).unwrap();
        let raw = encoder.finish().unwrap();
        let repaired = repaired_map(&raw, &[Filter::FlateDecode], false).unwrap();
        let mut text = String::new();
        ZlibDecoder::new(&repaired[..]).read_to_string(&mut text).unwrap();
        assert!(repaired.len() == raw.len() && text.starts_with("<0000><90><0001><90>"), "{text}");
    }

    #[test]
    fn entries_with_private_characters_are_removed() {
        let map = b"2 beginbfchar <21> <E021> <22> <0041> endbfchar 3 beginbfrange <30><39><F030>\n<40> <41> [<E000> <0042>] \
                    <50> <51> <0050> endbfrange <E000>";
        let kept = without_private(map).unwrap();
        let words = String::from_utf8(kept).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words,
            "2 beginbfchar <22> <0041> endbfchar 3 beginbfrange <40> <41> [<E000> <0042>] <50> <51> <0050> endbfrange <E000>"
        );
        assert_eq!(without_private(b"1 beginbfchar <21> <F0B7> endbfchar"), None, "a bullet");
        assert_eq!(without_private(b"1 beginbfchar <21> <E021"), None);
    }
}
