//! Validated short texts: titles, file names, email addresses.

use crate::error::{Rule, ValidationError};
use std::fmt;
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a [`Title`] in characters.
pub const TITLE_MAX: usize = 500;
const EMAIL_MAX: usize = 320;
const UNTITLED: &str = "Untitled";

/// A document's title: trimmed, [`composed`], 1 to [`TITLE_MAX`] characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Title(String);

impl Title {
    /// Parses a title given by a client.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or has the character NUL.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if text.contains('\0') {
            return Err(ValidationError::of("title", Rule::NoControlCharacters));
        }
        parse_label("title", &composed(text), TITLE_MAX).map(Self)
    }

    /// Returns the title of an uploaded file: its name, or `Untitled` if the name is empty.
    pub fn of_file(name: &FileName) -> Self {
        if name.0.is_empty() { Self(UNTITLED.to_owned()) } else { Self(name.0.clone()) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A sanitized file name: the last path component, [`composed`], at most [`TITLE_MAX`] characters; may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    /// Turns a client's file name into a safe one. Never fails, so that no file is rejected because of its name.
    pub fn sanitize(raw: &str) -> Self {
        let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let clean = composed(last);
        let clean = clean.trim();
        if matches!(clean, "." | "..") {
            return Self(String::new());
        }
        let length = clean.chars().count();
        if length <= TITLE_MAX {
            return Self(clean.to_owned());
        }
        // An extension is short; a dot far from the end is part of the name.
        let extension = clean.rfind('.').map_or("", |dot| &clean[dot..]);
        let extension = if extension.chars().count() <= 16 { extension } else { "" };
        let keep = TITLE_MAX - extension.chars().count();
        let stem: String = clean.chars().take(keep).collect();
        // The cut may have been before a space.
        Self(stem.trim_end().to_owned() + extension)
    }

    /// The name; empty if the client gave none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The form in which titles and names of files are stored and looked for: with composed characters (NFC), and without characters
/// that are not seen. Some systems write `Ü` in names of files as `U` and a combining mark, and copied names can have marks of the
/// text direction.
pub fn composed(text: &str) -> String {
    let mut composed = String::with_capacity(text.len());
    for c in text.nfc() {
        if c.is_whitespace() && (c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
            // The words beside a line break stay apart.
            if !composed.ends_with(char::is_whitespace) {
                composed.push(' ');
            }
        } else if !c.is_control() && !is_bidi_control(c) && (!is_invisible(c) || is_joiner(c)) {
            composed.push(c);
        }
    }
    composed
}

/// Maximum length of a [`PersonName`] in characters.
pub const PERSON_NAME_MAX: usize = 100;

/// The name that a person chose for others to see: trimmed, 1 to [`PERSON_NAME_MAX`] characters, no control or direction
/// characters and no `@`, so that it cannot be taken for the email address of another account.
#[derive(Clone, PartialEq, Eq)]
pub struct PersonName(String);

impl PersonName {
    /// Parses a name.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or contains other characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let name = parse_name(&text.nfc().collect::<String>(), PERSON_NAME_MAX)?;
        // Other forms of the sign look the same.
        if name.nfkc().any(|c| c == '@') {
            return Err(ValidationError::of("name", Rule::NoAddress));
        }
        if name.chars().any(|c| is_invisible(c) && !is_joiner(c)) {
            return Err(ValidationError::of("name", Rule::NoControlCharacters));
        }
        if name.chars().all(|c| c.is_whitespace() || is_invisible(c) || is_blank(c)) {
            return Err(ValidationError::of("name", Rule::NotEmpty));
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&PersonName> for String {
    fn from(name: &PersonName) -> Self {
        name.0.clone()
    }
}

/// Redacted, since names are personal data.
impl fmt::Debug for PersonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PersonName(…)")
    }
}

/// Parses a name.
pub(crate) fn parse_name(text: &str, max: usize) -> Result<String, ValidationError> {
    parse_label("name", text, max)
}

/// Parses a short text that is displayed.
pub(crate) fn parse_label(field: &'static str, text: &str, max: usize) -> Result<String, ValidationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValidationError::of(field, Rule::NotEmpty));
    }
    if text.chars().count() > max {
        return Err(ValidationError::of(field, Rule::MaxCharacters(max)));
    }
    if text.chars().any(char::is_control) {
        return Err(ValidationError::of(field, Rule::NoControlCharacters));
    }
    if text.chars().any(is_bidi_control) {
        return Err(ValidationError::of(field, Rule::NoDirectionCharacters));
    }
    Ok(text.to_owned())
}

/// Whether a character changes the text direction, so that `fdp.exe` can look like `exe.pdf`.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is invisible, so that two different addresses can look alike.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Whether an invisible character is part of some scripts and of emoji.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether a letter looks like a space.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

/// An email address in lower case, since addresses are compared case-insensitively.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// Parses an address: a local part, one `@` and a domain, without white space or control, direction or
    /// invisible characters.
    ///
    /// Only the syntax is checked, because only delivery can show whether an address exists.
    ///
    /// # Errors
    /// If the syntax is invalid or the address is longer than 320 bytes.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let text = text.trim();
        let wrong = || ValidationError::of("email", Rule::EmailAddress);
        let (local, domain) = text.rsplit_once('@').ok_or_else(wrong)?;
        let is_forbidden = |c: char| {
            c.is_whitespace()
                || c.is_control()
                || is_bidi_control(c)
                || is_invisible(c)
                || matches!(c, '<' | '>' | ',' | ';' | '"')
        };
        if local.is_empty()
            || domain.is_empty()
            || text.len() > EMAIL_MAX
            || local.contains('@')
            || text.contains(is_forbidden)
            || domain.starts_with('.')
            || domain.ends_with('.')
            || domain.contains("..")
        {
            return Err(wrong());
        }
        Ok(Self(text.to_lowercase()))
    }

    /// The address, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

// Addresses are personal data: `{:?}` in a log line must not show one.
impl fmt::Debug for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Email(…)")
    }
}

/// Tag of a language, such as `de` or `pt-BR`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LanguageTag(String);

impl LanguageTag {
    /// Maximum length.
    const MAX: usize = 35;

    /// Parses a tag of letters, digits and hyphens.
    ///
    /// # Errors
    /// If the text is no such tag.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let is_part = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if text.len() > Self::MAX || !text.split('-').all(is_part) {
            return Err(ValidationError::new("language", "must be a language tag such as de"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_trimmed_and_bounded() {
        assert_eq!(Title::parse("  Annual report \n").unwrap().as_str(), "Annual report");
        assert!(Title::parse(" \t ").is_err());
        assert!(Title::parse(&"ä".repeat(500)).is_ok());
        assert!(Title::parse(&"ä".repeat(501)).is_err());
        assert!(Title::parse("\u{202e} \u{200b}").is_err(), "nothing is seen");
        assert!(Title::parse("a\0b").is_err());
    }

    #[test]
    fn characters_that_are_not_seen_are_removed_from_titles_names_and_filters() {
        for (text, expected) in [
            ("a\u{7}b", "ab"),
            ("a\u{202e}b\u{2066}c\u{2069}", "abc"),
            ("re\u{ad}port\u{200b}\u{feff}\u{2060} 7\u{200e}\u{61c}", "report 7"),
            ("Annual\treport\r\n2026\u{2028}b", "Annual report 2026 b"),
            ("می\u{200c}خواهم 👩\u{200d}🔧", "می\u{200c}خواهم 👩\u{200d}🔧"),
        ] {
            assert_eq!(composed(text), expected, "{text:?}");
            assert_eq!(Title::parse(text).unwrap().as_str(), expected, "{text:?}");
            assert_eq!(FileName::sanitize(text).as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn titles_and_file_names_are_composed() {
        assert_eq!(FileName::sanitize("U\u{308}bersicht Gro\u{308}ße.txt").as_str(), "Übersicht Größe.txt");
        assert_eq!(Title::parse("A\u{30a}rsrapport").unwrap().as_str(), "Årsrapport");
    }

    #[test]
    fn file_name_is_last_path_component() {
        for (raw, name) in [
            ("report.pdf", "report.pdf"),
            ("/etc/passwd", "passwd"),
            (r"C:\Users\me\report.pdf", "report.pdf"),
            ("../../x.pdf", "x.pdf"),
            ("..", ""),
            ("dir/", ""),
            ("a\r\nb\0.pdf", "a b.pdf"),
            ("a\u{202e}fdp.exe", "afdp.exe"),
            ("", ""),
        ] {
            assert_eq!(FileName::sanitize(raw).as_str(), name, "{raw:?}");
        }
    }

    #[test]
    fn long_file_name_keeps_its_extension() {
        let name = FileName::sanitize(&format!("{}.pdf", "長".repeat(600)));
        assert_eq!(name.as_str().chars().count(), 500);
        assert!(name.as_str().ends_with("長.pdf"));
        let name = FileName::sanitize(&format!("a.{}", "b".repeat(600)));
        assert_eq!(name.as_str().chars().count(), 500);
        let name = FileName::sanitize(&format!("{} b", "a".repeat(499)));
        assert_eq!(name.as_str(), "a".repeat(499));
    }

    #[test]
    fn title_of_file_without_name_is_untitled() {
        assert_eq!(Title::of_file(&FileName::sanitize("")).as_str(), "Untitled");
        assert_eq!(Title::of_file(&FileName::sanitize("a.pdf")).as_str(), "a.pdf");
    }

    #[test]
    fn language_tag_has_letters_digits_and_hyphens() {
        for tag in ["de", "pt-BR", "zh-Hans-CN", "de-CH-1996"] {
            assert_eq!(LanguageTag::parse(tag).unwrap().as_str(), tag);
        }
        for wrong in ["", "-", "de-", "de_DE", "d e", "ä", "../x", "abcdefghi", &"de-".repeat(20)] {
            assert!(LanguageTag::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn email_is_case_insensitive_and_redacted_in_debug() {
        assert_eq!(Email::parse(" Ada@Example.ORG ").unwrap(), Email::parse("ada@example.org").unwrap());
        for wrong in ["", "ada", "@example.org", "ada@", "a b@c.d", "a@b@c", "a@.d", "a@c..d"] {
            assert!(Email::parse(wrong).is_err(), "{wrong:?}");
        }
        for deceiving in
            ["ada\u{202e}@example.org", "ada@exam\u{200b}ple.org", "ada\0@example.org", "a\u{2067}@b.c"]
        {
            assert!(Email::parse(deceiving).is_err(), "{deceiving:?}");
        }
        assert!(Email::parse("adá@exämple.org").is_ok());
        assert!(!format!("{:?}", Email::parse("ada@example.org").unwrap()).contains("ada"));
    }
}
