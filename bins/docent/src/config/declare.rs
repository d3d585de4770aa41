//! Declaration of settings.

use super::Profile;
use super::check::Context;

/// The declaration of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name in lower case, without the prefix.
    pub name: &'static str,
    /// Title of its section.
    pub section: &'static str,
    /// Type of value, for the reference.
    pub kind: &'static str,
    /// Default in `docent dev`.
    pub dev: Default,
    /// Default in `docent serve` and `docent worker`.
    pub serve: Default,
    /// Description in Markdown.
    pub meaning: &'static str,
    /// Whether its value is hidden in output.
    pub is_secret: bool,
}

impl Setting {
    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        variable(self.name)
    }

    /// The default in a profile.
    pub fn default(&self, profile: Profile) -> Default {
        match profile {
            Profile::Dev => self.dev,
            Profile::Serve | Profile::Worker => self.serve,
        }
    }
}

pub(super) fn variable(name: &str) -> String {
    format!("DOCENT_{}", name.to_ascii_uppercase())
}

/// A setting's default.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// This text, read like a value that was set.
    Text(&'static str),
    /// Text computed from the machine or from other settings.
    Computed {
        /// Description for the reference.
        words: &'static str,
        /// Computes the text.
        text: fn(&Context) -> String,
    },
    /// No default; the text says for the reference what that means.
    Unset(&'static str),
}

/// The defaults of both profiles.
pub(super) struct Defaults {
    pub(super) dev: Default,
    pub(super) serve: Default,
}

/// The same default in both profiles.
pub(super) const fn both(default: Default) -> Defaults {
    Defaults { dev: default, serve: default }
}

/// The same default text in both profiles.
pub(super) const fn text(text: &'static str) -> Defaults {
    both(Default::Text(text))
}

/// No default in both profiles; `words` say what that means.
pub(super) const fn unset(words: &'static str) -> Defaults {
    both(Default::Unset(words))
}
