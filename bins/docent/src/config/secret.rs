//! Secrets, which are never shown.

use super::value::Value;
use std::fmt;

/// A key or password. `Display` and `Debug` hide it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Value for Secret {
    const KIND: &'static str = "secret";
    const LIST_KIND: &'static str = "list of secrets";
    const IS_SECRET: bool = true;

    fn accepted() -> String {
        "any text".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}
