//! Misspelled words in queries.

/// A word with the terms by which lexical search finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpelledWord {
    /// The word in lower case.
    pub word: String,
    /// Its terms; empty for a word that is too common to be searched for.
    pub terms: Vec<String>,
}

/// A word of a query that no document has, read as one that documents have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The word of the query in lower case.
    pub written: String,
    /// The word that was searched for instead, in lower case.
    pub meant: String,
    /// Whether the word meant is too common to be searched for, so that there is nothing to say about it.
    pub is_common: bool,
}

impl Correction {
    /// What it means for a model that reads the results; `None` if there is nothing to say.
    pub fn note(&self) -> Option<String> {
        let Self { written, meant, is_common } = self;
        let note = || format!("Note: no document contains \"{written}\"; the search was for \"{meant}\".");
        (!is_common).then(note)
    }
}

/// Letters that a misspelled word may lack.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzàáâäåæçèéêëíîïñóôöøœúûüß";
const VOWELS: &str = "aeiouyàáâäåæèéêëíîïóôöøœúûü";
/// Most letters of a short word, and of one of medium length.
const SHORT: usize = 4;
const MEDIUM: usize = 7;

/// Returns the words that become `word` by one mistake in typing: two letters exchanged first, then a letter too many, a wrong one,
/// or a missing one. The first letter is rarely wrong, so that only exchanges change it. Many short words differ from each other in
/// one letter: of up to seven letters a wrong one is a vowel for a vowel, and of up to four none is wrong or too many, and only a
/// vowel is missing. Words that differ in the last letter are often other forms, stems or words, such as “newes” for “newest” and “apply”
/// for “apple”: it is too many only if it is twice there, and wrong only in longer words. Few words but many stems end with `i` or `ie`.
pub fn one_mistake_from(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let joined = |parts: [&[char]; 3]| parts.concat().iter().collect::<String>();
    let mut words = Vec::new();
    for at in 1..letters.len() {
        let (before, after) = letters.split_at(at);
        words.push(joined([&before[..at - 1], &[after[0], before[at - 1]], &after[1..]]));
    }
    let changed = if letters.len() > SHORT { 1..letters.len() } else { 0..0 };
    let last = letters.len().saturating_sub(1);
    for at in changed.clone() {
        if at < last || letters[at] == letters[at - 1] {
            words.push(joined([&letters[..at], &[], &letters[at + 1..]]));
        }
    }
    for at in changed {
        let is_like =
            |letter: char| letters.len() > MEDIUM || VOWELS.contains(letter) && VOWELS.contains(letters[at]);
        let is_form = at == last && letters.len() <= MEDIUM;
        let others = LETTERS.chars().filter(|letter| is_like(*letter) && !is_form);
        words.extend(others.map(|letter| joined([&letters[..at], &[letter], &letters[at + 1..]])));
    }
    let missing = if letters.len() > SHORT { LETTERS } else { VOWELS };
    for at in 1..=letters.len() {
        words.extend(missing.chars().map(|letter| joined([&letters[..at], &[letter], &letters[at..]])));
    }
    let is_stem = |word: &str| word.ends_with('i') || word.ends_with("ie");
    words.retain(|other| other != word && (is_stem(word) || !is_stem(other)));
    words
}

/// Returns a text with corrected words, which match in any case.
pub fn corrected(text: &str, corrections: &[Correction]) -> String {
    let mut corrected = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end =
            rest.find(|other: char| other.is_alphanumeric() != c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let lower = word.to_lowercase();
        let meant = corrections.iter().find(|correction| correction.written == lower);
        match meant {
            Some(correction) if word.starts_with(char::is_uppercase) => {
                let mut letters = correction.meant.chars();
                corrected.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                corrected.push_str(letters.as_str());
            }
            Some(correction) => corrected.push_str(&correction.meant),
            None => corrected.push_str(word),
        }
        rest = after;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_mistake_away() {
        let words = one_mistake_from("anual");
        for meant in ["annual", "naual", "anula", "anul", "anuel", "manual", "anwal"] {
            let is_near = !["manual", "anwal"].contains(&meant);
            assert_eq!(words.iter().any(|word| word == meant), is_near, "{meant}");
        }
        let is_near = |written: &str, meant: &str| one_mistake_from(written).iter().any(|word| word == meant);
        assert!(is_near("amcr", "amcor") && is_near("warxanty", "warranty") && is_near("revanue", "revenue"));
        assert!(
            !is_near("wifi", "wife")
                && !is_near("seen", "see")
                && !is_near("seen", "seven")
                && !is_near("played", "placed")
        );
        assert!(
            !is_near("newest", "newes")
                && !is_near("apple", "appli")
                && !is_near("apple", "apply")
                && is_near("warrantyy", "warranty")
        );
        assert_eq!(words.first().unwrap(), "naual");
        assert!(!words.iter().any(|word| word == "anual"));
        assert_eq!(one_mistake_from(""), [""; 0]);
        assert!(one_mistake_from("grosse").iter().any(|word| word == "grossse"));
    }

    #[test]
    fn corrected_words_keep_their_capital_and_the_text_around_them() {
        let correction = |written: &str, meant: &str| Correction {
            written: written.into(),
            meant: meant.into(),
            is_common: false,
        };
        let corrections = [correction("amcr", "amcor"), correction("anual", "annual")];
        assert_eq!(
            corrected("Amcr’s ANUAL report (anual), not manual.", &corrections),
            "Amcor’s Annual report (annual), not manual."
        );
        assert_eq!(corrected("", &corrections), "");
    }
}
