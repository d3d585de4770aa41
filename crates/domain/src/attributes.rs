//! Attributes of documents, by which lists and searches can be limited.

use crate::error::{Rule, ValidationError};
use std::collections::BTreeMap;

/// Maximum number of attributes of a document.
pub const ATTRIBUTES_MAX: usize = 16;
/// Maximum length of an [`AttributeKey`] in characters.
pub const ATTRIBUTE_KEY_MAX: usize = 64;
/// Maximum length of a string value in characters.
pub const ATTRIBUTE_STRING_MAX: usize = 512;

/// The key of an attribute: 1 to [`ATTRIBUTE_KEY_MAX`] letters, digits and `_`, `-`, `.`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttributeKey(String);

impl AttributeKey {
    /// Parses a key.
    ///
    /// # Errors
    /// If it is empty, too long or has other characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if text.is_empty() || text.chars().count() > ATTRIBUTE_KEY_MAX || !text.chars().all(is_plain) {
            return Err(ValidationError::of("attributes", Rule::AttributeKey(ATTRIBUTE_KEY_MAX)));
        }
        Ok(Self(text.to_owned()))
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The built-in attribute with this key, if any.
    pub fn built_in(&self) -> Option<BuiltIn> {
        BuiltIn::ALL.iter().copied().find(|built_in| built_in.key() == self.0)
    }
}

/// An attribute that every document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    /// ID of each collection that has the document (strings).
    Collection,
    /// ID of the account that owns the document (string).
    Owner,
    /// Title (string).
    Title,
    /// Name of the uploaded file (string).
    FileName,
    /// Number of pages.
    Pages,
    /// Main language of the text (ISO 639-1 code), if it was recognised.
    Language,
    /// Creation time in seconds since 1970 (number).
    CreatedAt,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Collection,
        Self::Owner,
        Self::Title,
        Self::FileName,
        Self::Pages,
        Self::Language,
        Self::CreatedAt,
    ];

    /// Its key.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Owner => "owner",
            Self::Title => "title",
            Self::FileName => "file_name",
            Self::Pages => "pages",
            Self::Language => "language",
            Self::CreatedAt => "created_at",
        }
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// At most [`ATTRIBUTE_STRING_MAX`] characters.
    String(String),
    /// A finite number.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

impl AttributeValue {
    /// Checks a string.
    ///
    /// # Errors
    /// If it is too long or has control characters.
    pub fn string(text: &str) -> Result<Self, ValidationError> {
        if text.chars().count() > ATTRIBUTE_STRING_MAX {
            return Err(ValidationError::of(
                "attributes",
                Rule::AttributeMaxCharacters(ATTRIBUTE_STRING_MAX),
            ));
        }
        if text.chars().any(char::is_control) {
            return Err(ValidationError::of("attributes", Rule::AttributeNoControlCharacters));
        }
        Ok(Self::String(text.to_owned()))
    }

    /// Checks a number.
    ///
    /// # Errors
    /// If it is not finite.
    pub fn number(number: f64) -> Result<Self, ValidationError> {
        if number.is_finite() {
            Ok(Self::Number(number))
        } else {
            Err(ValidationError::of("attributes", Rule::AttributeFinite))
        }
    }
}

/// The attributes that users gave a document, by key: at most [`ATTRIBUTES_MAX`], none of them built in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(BTreeMap<AttributeKey, AttributeValue>);

impl Attributes {
    /// Checks the attributes.
    ///
    /// # Errors
    /// If there are too many, or a key is that of a built-in attribute.
    pub fn new(values: BTreeMap<AttributeKey, AttributeValue>) -> Result<Self, ValidationError> {
        if values.len() > ATTRIBUTES_MAX {
            return Err(ValidationError::of("attributes", Rule::MaxCount(ATTRIBUTES_MAX)));
        }
        if let Some(built_in) = values.keys().find_map(AttributeKey::built_in) {
            return Err(ValidationError::of("attributes", Rule::AttributeNotBuiltIn(built_in.key())));
        }
        Ok(Self(values))
    }

    /// The attributes in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&AttributeKey, &AttributeValue)> {
        self.0.iter()
    }

    /// The value of an attribute.
    pub fn get(&self, key: &AttributeKey) -> Option<&AttributeValue> {
        self.0.get(key)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(keys: &[&str]) -> Result<Attributes, ValidationError> {
        let pair = |key: &&str| (AttributeKey::parse(key).unwrap(), AttributeValue::Boolean(true));
        Attributes::new(keys.iter().map(pair).collect())
    }

    #[test]
    fn keys_and_values_are_bounded() {
        for key in ["year", "Région.2-b_c", &"k".repeat(64)] {
            assert_eq!(AttributeKey::parse(key).unwrap().as_str(), key);
        }
        for wrong in ["", "a b", "a\"b", "a\\b", "a\0b", "a/b", &"k".repeat(65)] {
            assert!(AttributeKey::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(AttributeValue::string(&"ü".repeat(512)).is_ok());
        assert!(AttributeValue::string(&"x".repeat(513)).is_err() && AttributeValue::string("a\0").is_err());
        assert!(AttributeValue::number(f64::NAN).is_err() && AttributeValue::number(f64::INFINITY).is_err());
    }

    #[test]
    fn attributes_are_few_and_not_built_in() {
        let keys: Vec<String> = (0..=ATTRIBUTES_MAX).map(|n| format!("k{n}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        assert!(attributes(&keys[1..]).is_ok() && attributes(&keys).is_err());
        for built_in in BuiltIn::ALL {
            let error = attributes(&[built_in.key()]).unwrap_err();
            assert!(error.to_string().contains(built_in.key()), "{error}");
        }
    }
}
