//! British spellings as American ones, so that both have the same terms.

use std::collections::HashMap;
use std::sync::LazyLock;

/// British words and beginnings of words, with the American ones, by their first two letters.
static SPELLINGS: LazyLock<HashMap<&'static str, Vec<(&'static str, &'static str)>>> = LazyLock::new(|| {
    let mut spellings = HashMap::<_, Vec<_>>::new();
    let lines = include_str!("spelling.txt").lines().filter(|line| !line.starts_with('#'));
    for (british, american) in lines.filter_map(|line| line.split_once(' ')) {
        spellings.entry(&british[..2]).or_default().push((british, american));
    }
    spellings
});

/// British endings with the American ones. What follows one of them is an ending of [`INFLECTIONS`].
const ENDINGS: [(&str, &str); 6] =
    [("our", "or"), ("yse", "yze"), ("ise", "ize"), ("isation", "ization"), ("ogue", "og"), ("is", "iz")];
/// Consonants before `re` that are read before `er`: “centre”, “fibre”.
const BEFORE_RE: [char; 3] = ['t', 'b', 'h'];
/// What may follow an ending.
const INFLECTIONS: [&str; 14] =
    ["", "s", "d", "ed", "ing", "r", "er", "rs", "ers", "able", "ful", "ite", "al", "less"];
/// Letters before an ending: shorter words, such as “hour” and “wise”, are others.
const MIN_BEFORE: usize = 3;

/// The American spelling of a lower-case English word. A word that only looks like a British one is changed too, everywhere in the
/// same way.
pub(super) fn american(word: &str) -> Option<String> {
    if !word.is_ascii() {
        return None;
    }
    let spelled = |(british, american): &(&'static str, &'static str)| {
        let rest = match british.strip_suffix('$') {
            Some(whole) => word.strip_prefix(whole).filter(|rest| matches!(*rest, "" | "s")),
            None => word.strip_prefix(british),
        };
        rest.map(|rest| format!("{american}{rest}"))
    };
    let begins = word.get(..2).and_then(|begins| SPELLINGS.get(begins));
    if let Some(american) = begins.and_then(|spellings| spellings.iter().find_map(spelled)) {
        return Some(american);
    }
    // Most words need no further look.
    if !["our", "is", "re", "yse", "ogue"]
        .iter()
        .any(|ending| word[MIN_BEFORE.min(word.len())..].contains(ending))
    {
        return None;
    }
    INFLECTIONS.iter().find_map(|inflection| {
        let stem = word.strip_suffix(inflection)?;
        let with_ending = |(british, american): &(&str, &str)| {
            let before = stem.strip_suffix(british).filter(|before| before.len() >= MIN_BEFORE)?;
            // “Is” alone is the end of other words; with “ing” it is “ise” without its “e”.
            let is_whole = *british != "is" || matches!(*inflection, "ing" | "able");
            is_whole.then(|| format!("{before}{american}{inflection}"))
        };
        ENDINGS.iter().find_map(with_ending).or_else(|| {
            let before = stem.strip_suffix("re").filter(|before| before.len() >= MIN_BEFORE)?;
            before.ends_with(BEFORE_RE).then(|| format!("{before}er{}", inflection.trim_start_matches('d')))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn british_words_get_the_american_spelling() {
        for (british, expected) in [
            ("aluminium", "aluminum"),
            ("tyres", "tires"),
            ("colour", "color"),
            ("colours", "colors"),
            ("coloured", "colored"),
            ("favourite", "favorite"),
            ("neighbour", "neighbor"),
            ("organise", "organize"),
            ("organising", "organizing"),
            ("organisation", "organization"),
            ("organisations", "organizations"),
            ("analyse", "analyze"),
            ("analysed", "analyzed"),
            ("centre", "center"),
            ("centres", "centers"),
            ("theatre", "theater"),
            ("dialogue", "dialog"),
            ("haemoglobin", "hemoglobin"),
            ("paediatric", "pediatric"),
            ("programmes", "programs"),
        ] {
            assert_eq!(american(british).as_deref(), Some(expected), "{british}");
        }
    }

    #[test]
    fn other_words_are_kept() {
        for word in [
            "programmed",
            "hour",
            "four",
            "wise",
            "analysis",
            "store",
            "are",
            "this",
            "basis",
            "color",
            "center",
            "für",
        ] {
            assert_eq!(american(word), None, "{word}");
        }
    }
}
