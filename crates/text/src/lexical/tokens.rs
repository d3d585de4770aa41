//! Splits text into lower-case words.

use std::borrow::Cow;
use std::iter::once;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns the words of a text in lower case: runs of letters and digits, numbers with separators, and names with signs such as “C++”
/// and “.NET”.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = normalized(text);
    let mut words = Vec::new();
    let mut chars = text.chars().map(plain).peekable();
    let mut word = String::new();
    // Whether the last character can be before a word that begins with a full stop.
    let mut is_apart = true;
    while let Some(c) = chars.next() {
        if c == SOFT_HYPHEN {
            continue;
        }
        if belongs(c, &word) {
            if !word.is_empty() && unspaced(c) != is_unspaced(&word) {
                words.push(std::mem::take(&mut word));
            }
            push_plain(&mut word, c);
        } else if separates_digits(c, &word, &mut chars.clone()) {
            if matches!(c, '.' | ',') {
                word.push(c);
            }
        } else if is_apart
            && c == '.'
            && word.is_empty()
            && chars.peek().is_some_and(|next| next.is_alphabetic() || next.is_ascii_digit())
        {
            // “.NET”, but “.5” is “0.5”.
            word.push_str(if chars.peek().is_some_and(char::is_ascii_digit) { "0." } else { "." });
        } else if let Some(signs) = signs(c, &word, &chars) {
            words.extend((!is_letter(&word)).then(|| word.clone()));
            word.push_str(&signs);
            for _ in 1..signs.len() {
                chars.next();
            }
            words.push(std::mem::take(&mut word));
        } else {
            let apostrophe = APOSTROPHES.contains(&c) && !word.is_empty();
            flush(&mut words, &mut word);
            if apostrophe {
                drop_contraction(&mut chars);
            }
        }
        is_apart = c.is_whitespace() || matches!(c, '(' | '/' | '"' | '“');
    }
    flush(&mut words, &mut word);
    words
}

/// Signs that end names: “C++”, “C#”, “A+”.
const NAME_SIGNS: [&str; 3] = ["++", "+", "#"];
/// Longer words with a sign are no names of this kind.
const MAX_SIGNED: usize = 10;

/// The signs that a word ends with, if it is a name with them.
fn signs(c: char, word: &str, after: &(impl Iterator<Item = char> + Clone)) -> Option<String> {
    let is_name = matches!(c, '+' | '#') && word.len() <= MAX_SIGNED && word.ends_with(char::is_alphabetic);
    if !is_name {
        return None;
    }
    let mut after = after.clone();
    let mut signs = c.to_string();
    let next = loop {
        match after.next() {
            Some(next @ ('+' | '#')) => signs.push(next),
            next => break next,
        }
    };
    // A version can follow: “C++17”. A single plus sign before a number is one of a sum.
    let is_end = next.is_none_or(|next| !next.is_alphanumeric() || next.is_ascii_digit() && signs != "+");
    (is_end && NAME_SIGNS.contains(&signs.as_str())).then_some(signs)
}

fn is_letter(word: &str) -> bool {
    word.chars().nth(1).is_none()
}

/// Whether a character is a part of a number: a full stop or comma before a digit, or what separates groups of three digits.
fn separates_digits(c: char, word: &str, after: &mut (impl Iterator<Item = char> + Clone)) -> bool {
    if !word.ends_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    match c {
        '.' | ',' => after.next().is_some_and(|next| next.is_ascii_digit()),
        '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}' => {
            let is_number = word.len() <= 3 || word.contains(|c: char| !c.is_ascii_digit());
            let group = after.by_ref().take(3).filter(char::is_ascii_digit).count();
            is_number && group == 3 && after.next().is_none_or(|next| !next.is_alphanumeric())
        }
        _ => false,
    }
}

/// A text in composed form, with the common forms of characters that stand for others: of another width,
/// ligatures, fractions, units and the like.
fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    if text.contains(stands_for_others) {
        let mut plain = String::with_capacity(text.len());
        for c in text.chars() {
            if !stands_for_others(c) {
                plain.push(c);
                continue;
            }
            // “2½” is no number of two digits.
            if matches!(c, '¼'..='¾' | '⅐'..='⅟') && plain.ends_with(char::is_numeric) {
                plain.push(' ');
            }
            plain.extend(once(c).nfkc());
        }
        return Cow::Owned(plain.nfc().collect());
    }
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    }
}

/// Whether a character stands for one or several others. Spaces, which can be in numbers, superscripts, which
/// can follow them, and signs of trade marks are kept.
fn stands_for_others(c: char) -> bool {
    matches!(c,
        'ª' | 'µ' | 'º' | '¼'..='¾' | 'Ĳ' | 'ĳ' | 'Ŀ' | 'ŀ' | 'ŉ' | 'ſ' | 'Ǆ'..='ǌ' | 'Ǳ'..='ǳ'
        | '\u{2100}'..='\u{211f}' | '\u{2121}' | '\u{2124}'..='\u{218b}' // Letters as signs, and numbers
        | '\u{2460}'..='\u{24ff}' // Enclosed
        | '\u{3200}'..='\u{33ff}' // Enclosed and squared
        | '\u{fb00}'..='\u{fb06}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' // Ligatures and Arabic forms
        | '\u{ff01}'..='\u{ffef}' // Widths
        | '\u{1d400}'..='\u{1d7ff}') // Mathematical letters
}

const SOFT_HYPHEN: char = '\u{ad}';
const APOSTROPHES: [char; 3] = ['\'', '’', 'ʼ'];
/// English suffixes after an apostrophe that are not words.
const CONTRACTIONS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];

/// Appends a letter in lower case. Two letters that are joined to one are the same as apart.
fn push_plain(word: &mut String, c: char) {
    match c {
        'æ' | 'Æ' => word.push_str("ae"),
        'œ' | 'Œ' => word.push_str("oe"),
        // In lower case it has a dot of its own.
        'İ' => word.push('i'),
        c => word.extend(c.to_lowercase()),
    }
}

/// Letters that are written in two ways without a difference: the Greek final sigma, and the Russian “ё”.
fn plain(c: char) -> char {
    match c {
        'ς' => 'σ',
        'ё' => 'е',
        'Ё' => 'Е',
        _ => c,
    }
}

/// Whether `c` is of a word.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// Whether `c` starts or continues a word. Marks only continue one.
fn belongs(c: char, word: &str) -> bool {
    c.is_alphanumeric() || (!word.is_empty() && is_mark(c))
}

/// Whether `c` is a mark that `char::is_alphanumeric` excludes: accents, viramas, nuktas, joiners.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{93c}' | '\u{94d}'
        | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}' | '\u{b3c}' | '\u{b4d}'
        | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}' | '\u{d4d}' | '\u{e31}'..='\u{e4e}' | '\u{102b}'..='\u{103e}'
        | '\u{17b4}'..='\u{17d3}' | '\u{200c}' | '\u{200d}')
}

/// Whether the script of `c` has no spaces between words.
fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{20000}'..='\u{3ffff}'
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}') // Hangul, whose endings stick to the words
}

/// Whether a word is in a script without spaces.
pub(super) fn is_unspaced(word: &str) -> bool {
    word.chars().next().is_some_and(unspaced)
}

/// Returns the overlapping pairs of a run's characters, or a single character unchanged.
pub(super) fn bigrams(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    if chars.len() < 2 {
        return vec![run.to_owned()];
    }
    chars.windows(2).map(|pair| pair.iter().collect()).collect()
}

/// Returns the characters of a run of several that are words by themselves.
pub(super) fn unigrams(run: &str) -> impl Iterator<Item = String> {
    let is_run = run.chars().nth(1).is_some();
    run.chars().filter(move |c| is_run && is_han(*c)).map(String::from)
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Splits a word that mixes letters and numbers: `fy2018` becomes `fy` and `2018`. Words with many parts are codes or
/// digests and are not split.
pub(super) fn parts(word: &str) -> Vec<&str> {
    let digit = |c: char| c.is_numeric() || matches!(c, '.' | ',');
    let mut parts = Vec::new();
    let mut start = 0;
    let mut last: Option<bool> = None;
    for (at, c) in word.char_indices() {
        if last.is_some_and(|last| last != digit(c)) {
            parts.push(&word[start..at]);
            start = at;
        }
        last = Some(digit(c));
    }
    parts.push(&word[start..]);
    if (2..=3).contains(&parts.len()) { parts } else { Vec::new() }
}

fn flush(words: &mut Vec<String>, word: &mut String) {
    let word = std::mem::take(word);
    if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains([',', '.']) {
        words.extend(numbers(&word));
    } else {
        words.extend((!word.is_empty()).then_some(word));
    }
}

/// The numbers in digits with commas and full stops: without separators of thousands, and with a full stop before decimals. One comma
/// may be before decimals or between two numbers.
fn numbers(word: &str) -> Vec<String> {
    let digits = word.trim_end_matches(char::is_alphabetic);
    let unit = &word[digits.len()..];
    let whole = |integer: &str| format!("{}{unit}", integer.replace([',', '.'], ""));
    let decimal = |(integer, decimals): (&str, &str)| {
        format!("{},{decimals}{unit}", integer.replace([',', '.'], "")).replace(',', ".")
    };
    let listed = || word.split(',').map(str::to_owned);
    match (digits.matches(',').count(), digits.matches('.').count()) {
        (0, stops) if stops > 1 && is_grouped(digits, '.') => vec![whole(digits)],
        (0, _) => vec![word.to_owned()],
        (_, 0) if is_grouped(digits, ',') => vec![whole(digits)],
        (1, 0) => digits.split_once(',').map(decimal).into_iter().chain(listed()).collect(),
        (commas, stops) => {
            let is_number = |(integer, decimals): &(&str, &str), sign| {
                is_grouped(integer, sign) && !decimals.contains([',', '.'])
            };
            let english = digits.split_once('.').filter(|parts| stops == 1 && is_number(parts, ','));
            let other = || digits.split_once(',').filter(|parts| commas == 1 && is_number(parts, '.'));
            let number = english.or_else(other).map(decimal);
            number.map_or_else(|| listed().collect(), |number| vec![number])
        }
    }
}

/// Returns a number without a separator before three digits, which may be one of thousands: “1.250”.
pub(super) fn ungrouped(word: &str) -> Option<String> {
    let (integer, rest) = word.split_once('.')?;
    let is_grouped = (1..=3).contains(&integer.len()) && !integer.starts_with('0') && rest.len() == 3;
    (is_grouped && [integer, rest].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())))
        .then(|| format!("{integer}{rest}"))
}

/// Whether a sign groups the digits by three, as in `1,234`.
fn is_grouped(number: &str, sign: char) -> bool {
    let mut groups = number.split(sign);
    groups.next().is_some_and(|group| (1..=3).contains(&group.len()))
        && groups.all(|group| group.len() == 3)
        && number.chars().all(|c| c.is_ascii_digit() || c == sign)
}

/// Skips a contraction suffix after an apostrophe.
fn drop_contraction(chars: &mut std::iter::Peekable<impl Iterator<Item = char> + Clone>) {
    let mut ahead = chars.clone();
    let mut rest = String::new();
    while let Some(c) = ahead.next_if(|c| c.is_alphanumeric()) {
        rest.extend(c.to_lowercase());
        if rest.len() > 2 {
            return;
        }
    }
    if CONTRACTIONS.contains(&rest.as_str()) {
        *chars = ahead;
    }
}
