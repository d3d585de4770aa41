//! Recognises the language of a document's text.

use std::collections::HashMap;
use whatlang::{Info, Lang};

/// Maximum number of passages that are looked at, spread over the document.
const PASSAGES_MAX: usize = 20;
/// Maximum number of characters of each.
const CHARACTERS_MAX: usize = 600;

/// The ISO 639-1 code of the language that most of the passages are in; `None` if it is not clear.
pub(crate) fn detect(texts: &[&str]) -> Option<&'static str> {
    let step = texts.len().div_ceil(PASSAGES_MAX).max(1);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for text in texts.iter().step_by(step) {
        let text: String = text.chars().take(CHARACTERS_MAX).collect();
        if let Some(found) = whatlang::detect(&text).filter(Info::is_reliable) {
            *counts.entry(code(found.lang())).or_default() += 1;
        }
    }
    let recognized: usize = counts.values().sum();
    counts.into_iter().find(|(_, count)| count * 2 > recognized).map(|(language, _)| language)
}

const fn code(language: Lang) -> &'static str {
    match language {
        Lang::Epo => "eo",
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Cmn => "zh",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "he",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Jav => "jv",
        Lang::Kor => "ko",
        Lang::Nob => "nb",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Ori => "or",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Sin => "si",
        Lang::Khm => "km",
        Lang::Tuk => "tk",
        Lang::Aka => "ak",
        Lang::Zul => "zu",
        Lang::Sna => "sn",
        Lang::Afr => "af",
        Lang::Lat => "la",
        Lang::Slk => "sk",
        Lang::Cat => "ca",
        Lang::Tgl => "tl",
        Lang::Hye => "hy",
        Lang::Cym => "cy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "The pump must be cleaned once a year, and its filter replaced by a technician.";
    const GERMAN: &str =
        "Die Pumpe muss einmal im Jahr gereinigt und der Filter von einem Techniker gewechselt werden.";
    const JAPANESE: &str =
        "\u{30dd}\u{30f3}\u{30d7}\u{306f}\u{5e74}\u{306b}\u{4e00}\u{5ea6}\u{6e05}\u{6383}\u{3059}\u{308b}";

    #[test]
    fn language_of_most_of_the_text_is_found() {
        assert_eq!(detect(&[ENGLISH]), Some("en"));
        assert_eq!(detect(&[GERMAN, GERMAN, ENGLISH]), Some("de"));
        assert_eq!(detect(&[JAPANESE]), Some("ja"));
        let mut long = vec![GERMAN; 500];
        long[0] = ENGLISH;
        assert_eq!(detect(&long), Some("de"));
    }

    #[test]
    fn unclear_language_is_none() {
        assert_eq!(detect(&[]), None);
        assert_eq!(detect(&["12,345 67.8 %", "2024 2025"]), None);
        assert_eq!(detect(&[ENGLISH, GERMAN]), None);
    }
}
