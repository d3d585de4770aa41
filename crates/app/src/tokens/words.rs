//! Taking text apart as the vocabulary's own pattern does before it merges bytes:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ | ?[^\s\p{L}\p{N}]++[\r\n]*+
//! | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! ```
//!
//! The pattern's engine takes most of the time of counting; this is some ten times as fast.

/// What the pattern makes a difference between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Number,
    Space,
    Other,
}

/// The words of a text, which join to it again. None when it has characters whose kind is not known here.
pub(super) fn words(text: &str) -> Option<impl Iterator<Item = &str>> {
    let is_known = text.is_ascii() || text.chars().all(|c| kind(c).is_some());
    is_known.then(|| {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (word, behind) = rest.split_at(end(rest)?);
            rest = behind;
            Some(word)
        })
    })
}

/// The kind of a character; none of some letters, and of marks that count as alphabetic without being letters.
fn kind(c: char) -> Option<Kind> {
    Some(match c {
        'a'..='z' | 'A'..='Z' => Kind::Letter,
        '0'..='9' => Kind::Number,
        _ if c.is_whitespace() => Kind::Space,
        _ if c.is_ascii() => Kind::Other,
        // Without regard to case it is an `s`, which has a meaning behind an apostrophe.
        'ſ' => return None,
        _ if c.is_numeric() => Kind::Number,
        _ if !c.is_alphabetic() => Kind::Other,
        'ª' | 'µ' | 'º' // Latin
        | '\u{c0}'..='\u{2af}'
        | '\u{fb00}'..='\u{fb06}'
        | '\u{ff21}'..='\u{ff3a}'
        | '\u{ff41}'..='\u{ff5a}'
        | '\u{370}'..='\u{3ff}' // Greek
        | '\u{400}'..='\u{52f}' // Cyrillic
        | '\u{5d0}'..='\u{5ea}' // Hebrew
        | '\u{620}'..='\u{64a}' // Arabic
        | '\u{3041}'..='\u{3096}' // Kana
        | '\u{30a1}'..='\u{30fa}'
        | '\u{3400}'..='\u{4dbf}' // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' => Kind::Letter, // Hangul
        _ => return None,
    })
}

/// Where the first word of a text of known characters ends; none when there is no text.
fn end(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let behind = chars.as_str();
    let (of_first, next) = (kind(first), chars.next());
    let size = first.len_utf8();
    let of_next = next.and_then(kind);
    Some(match of_first {
        _ if first == '\'' && contraction(behind) > 0 => size + contraction(behind),
        Some(Kind::Letter) => run(text, Kind::Letter),
        Some(Kind::Space | Kind::Other) if of_next == Some(Kind::Letter) && !is_line_end(first) => {
            size + run(behind, Kind::Letter)
        }
        Some(Kind::Number) => {
            text.chars().take(3).take_while(|c| kind(*c) == Some(Kind::Number)).map(char::len_utf8).sum()
        }
        Some(Kind::Other) => with_line_ends(text, run(text, Kind::Other)),
        _ if first == ' ' && of_next == Some(Kind::Other) => {
            with_line_ends(text, size + run(behind, Kind::Other))
        }
        _ => spaces(text),
    })
}

/// The bytes of what follows an apostrophe without being a word, if it begins so.
fn contraction(text: &str) -> usize {
    let lower = |at: usize| text.as_bytes().get(at).map(u8::to_ascii_lowercase);
    match (lower(0), lower(1)) {
        (Some(b's' | b'd' | b'm' | b't'), _) => 1,
        (Some(b'l'), Some(b'l')) | (Some(b'v' | b'r'), Some(b'e')) => 2,
        _ => 0,
    }
}

/// The bytes of the characters of one kind that the text begins with.
fn run(text: &str, of: Kind) -> usize {
    text.find(|c| kind(c) != Some(of)).unwrap_or(text.len())
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

fn with_line_ends(text: &str, end: usize) -> usize {
    let behind = &text[end..];
    end + behind.find(|c| !is_line_end(c)).unwrap_or(behind.len())
}

/// The end of white space: of all of it at the end of the text, else after its last line end, else before its last
/// character, which belongs to what follows, else of the one character.
fn spaces(text: &str) -> usize {
    let all = run(text, Kind::Space);
    let spaces = &text[..all];
    if all == text.len() {
        return all;
    }
    if let Some(at) = spaces.rfind(is_line_end) {
        return at + 1;
    }
    match spaces.char_indices().next_back() {
        Some((last, _)) if last > 0 => last,
        _ => all,
    }
}
