//! Values of form fields in documents of Word: boxes that are checked or not, and lists.

use super::is_on;
use crate::formats::xml::Element;

/// The form field that is read.
#[derive(Debug, Default)]
pub(super) struct FormField {
    is_checked: bool,
    entries: Vec<String>,
    selected: usize,
    /// Whether it has a value beside its default.
    has_value: bool,
}

impl FormField {
    /// Reads the beginning of an element.
    pub(super) fn start(&mut self, element: &Element<'_>) {
        let value = element.attribute("val");
        match element.name {
            "checkBox" | "ddList" => *self = Self::default(),
            "default" if self.has_value => {}
            name @ ("default" | "checked" | "result") => {
                self.has_value = name != "default";
                self.is_checked = is_on(element);
                self.selected = value.and_then(|value| value.parse().ok()).unwrap_or(0);
            }
            "listEntry" => self.entries.extend(value),
            _ => {}
        }
    }

    /// The text of the field at the end of an element; `None` if that does not end a field.
    pub(super) fn end(&mut self, name: &str) -> Option<&str> {
        match name {
            "checkBox" => Some(if self.is_checked { "☒" } else { "☐" }),
            "ddList" => self.entries.get(self.selected).map(String::as_str),
            _ => None,
        }
    }
}
