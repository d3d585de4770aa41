//! Short texts with rules: titles, file names, e-mail addresses.

use crate::error::ValidationError;
use std::fmt;

/// The most characters a [`Title`] has.
pub const TITLE_MAX: usize = 500;
const EMAIL_MAX: usize = 320;
const UNTITLED: &str = "Untitled";

/// A document's title: trimmed, 1 to [`TITLE_MAX`] characters, no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Title(String);

impl Title {
    /// Parses a title given by a client.
    ///
    /// # Errors
    /// When it is empty after trimming, too long, or holds control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ValidationError::new("title", "must not be empty"));
        }
        if text.chars().count() > TITLE_MAX {
            return Err(ValidationError::new("title", format!("must have at most {TITLE_MAX} characters")));
        }
        if text.chars().any(char::is_control) {
            return Err(ValidationError::new("title", "must not hold control characters"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The title of an uploaded file: its name, or `Untitled` when that is empty.
    pub fn of_file(name: &FileName) -> Self {
        if name.0.is_empty() { Self(UNTITLED.to_owned()) } else { Self(name.0.clone()) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A file's name as its uploader called it: the last path component alone, without control
/// characters, at most [`TITLE_MAX`] characters; may be empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    /// Reduces whatever a client sent to a safe file name. It never fails: a name is no reason to
    /// turn a file away.
    pub fn reduce(raw: &str) -> Self {
        let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let clean: String = last.chars().filter(|c| !c.is_control() && !reorders(*c)).collect();
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

    /// The name; empty when the client gave none.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a character turns the text around it about, so that `exe.pdf` may look like `fdp.exe`.
pub(crate) fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character leaves no mark of its own, so that two addresses may look alike that are not.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// An e-mail address, kept in lower case since addresses are compared without regard to case.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// Parses an address: something, one `@`, a domain; no white space, no characters that control or reorder text
    /// or cannot be seen.
    ///
    /// Delivery alone can tell whether an address exists, so only its shape is checked.
    ///
    /// # Errors
    /// When the shape is wrong or the address is over 320 bytes.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let text = text.trim();
        let wrong = || ValidationError::new("email", "must be an e-mail address");
        let (local, domain) = text.rsplit_once('@').ok_or_else(wrong)?;
        let odd = |c: char| {
            c.is_whitespace()
                || c.is_control()
                || reorders(c)
                || is_unseen(c)
                || matches!(c, '<' | '>' | ',' | ';' | '"')
        };
        if local.is_empty()
            || domain.is_empty()
            || text.len() > EMAIL_MAX
            || local.contains('@')
            || text.contains(odd)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_trimmed_and_bounded() {
        assert_eq!(Title::parse("  Annual report \n").unwrap().as_str(), "Annual report");
        assert!(Title::parse(" \t ").is_err());
        assert!(Title::parse(&"ä".repeat(500)).is_ok());
        assert!(Title::parse(&"ä".repeat(501)).is_err());
        assert!(Title::parse("a\0b").is_err());
    }

    #[test]
    fn a_file_name_is_its_last_component() {
        for (raw, name) in [
            ("report.pdf", "report.pdf"),
            ("/etc/passwd", "passwd"),
            (r"C:\Users\me\report.pdf", "report.pdf"),
            ("../../x.pdf", "x.pdf"),
            ("..", ""),
            ("dir/", ""),
            ("a\r\nb\0.pdf", "ab.pdf"),
            ("a\u{202e}fdp.exe", "afdp.exe"),
            ("", ""),
        ] {
            assert_eq!(FileName::reduce(raw).as_str(), name, "{raw:?}");
        }
    }

    #[test]
    fn a_long_file_name_keeps_its_extension() {
        let name = FileName::reduce(&format!("{}.pdf", "長".repeat(600)));
        assert_eq!(name.as_str().chars().count(), 500);
        assert!(name.as_str().ends_with("長.pdf"));
        let name = FileName::reduce(&format!("a.{}", "b".repeat(600)));
        assert_eq!(name.as_str().chars().count(), 500);
        let name = FileName::reduce(&format!("{} b", "a".repeat(499)));
        assert_eq!(name.as_str(), "a".repeat(499));
    }

    #[test]
    fn the_title_of_a_nameless_file_is_untitled() {
        assert_eq!(Title::of_file(&FileName::reduce("")).as_str(), "Untitled");
        assert_eq!(Title::of_file(&FileName::reduce("a.pdf")).as_str(), "a.pdf");
    }

    #[test]
    fn addresses_compare_without_case_and_stay_out_of_logs() {
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
