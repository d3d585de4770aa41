//! Splits text into lower-case words.

/// Returns the words of a text in lower case: runs of letters and digits, and numbers with separators.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = text.chars().map(plain).peekable();
    let mut word = String::new();
    while let Some(c) = chars.next() {
        if c == SOFT_HYPHEN {
            continue;
        }
        if belongs(c, &word) {
            if !word.is_empty() && unspaced(c) != is_unspaced(&word) {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
        } else if matches!(c, '.' | ',')
            && word.ends_with(|c: char| c.is_ascii_digit())
            && chars.peek().is_some_and(char::is_ascii_digit)
        {
            word.push(c);
        } else {
            let apostrophe = APOSTROPHES.contains(&c) && !word.is_empty();
            flush(&mut words, &mut word);
            if apostrophe {
                drop_contraction(&mut chars);
            }
        }
    }
    flush(&mut words, &mut word);
    words
}

const SOFT_HYPHEN: char = '\u{ad}';
const APOSTROPHES: [char; 3] = ['\'', '’', 'ʼ'];
/// English suffixes after an apostrophe that are not words.
const CONTRACTIONS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];

/// Converts full-width characters to ASCII.
fn plain(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
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
    if !word.contains(',') {
        words.extend((!word.is_empty()).then_some(word));
    } else if groups_thousands(&word) {
        words.push(word.replace(',', ""));
    } else {
        words.extend(word.split(',').map(str::to_owned));
    }
}

/// Whether commas group the digits by three, as in `1,234.5`.
fn groups_thousands(number: &str) -> bool {
    let integer = number.split('.').next().unwrap_or_default();
    let mut groups = integer.split(',');
    groups.next().is_some_and(|group| (1..=3).contains(&group.len()))
        && groups.all(|group| group.len() == 3)
        && integer.matches(',').count() == number.matches(',').count()
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
