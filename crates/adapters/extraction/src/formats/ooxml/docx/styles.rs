//! Styles of paragraphs: the levels of headings and lists.

use crate::formats::xml::{Element, Handler};
use crate::reader::Stopped;
use std::collections::HashMap;

/// Maximum length of a chain of styles that are based on each other.
const STYLES_MAX: usize = 10;

/// Levels of headings by the ID of their style.
#[derive(Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    current: String,
}

#[derive(Default)]
pub(super) struct Style {
    pub(super) level: Option<u8>,
    /// List and level of its paragraphs.
    pub(super) list: Option<String>,
    pub(super) list_level: Option<usize>,
    based_on: Option<String>,
}

impl Styles {
    /// The first value that a style or one that it is based on has.
    pub(super) fn find<T>(&self, id: &str, value: impl Fn(&str, &Style) -> Option<T>) -> Option<T> {
        let mut id = id;
        for _ in 0..STYLES_MAX {
            let style = self.styles.get(id)?;
            let found = value(id, style);
            if found.is_some() {
                return found;
            }
            id = style.based_on.as_deref()?;
        }
        None
    }

    pub(super) fn level(&self, id: &str) -> Option<u8> {
        self.find(id, |_, style| style.level)
    }
}

impl Handler for Styles {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        let value = element.attribute("val");
        match element.name {
            "style" => {
                self.current = element.attribute("styleId").unwrap_or_default();
                self.styles.insert(self.current.clone(), Style::default());
            }
            "name" => {
                let name = value.unwrap_or_default().to_lowercase();
                let level = match name.strip_prefix("heading ") {
                    Some(level) => level.trim().parse().ok(),
                    None => (name == "title").then_some(1),
                };
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.level = style.level.or(level);
                }
            }
            "basedOn" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.based_on = value;
                }
            }
            "outlineLvl" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.level = outline_level(value).or(style.level);
                }
            }
            "numId" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.list = value;
                }
            }
            "ilvl" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.list_level = value.and_then(|level| level.parse().ok());
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The level of a heading; 9 stands for body text.
pub(super) fn outline_level(value: Option<String>) -> Option<u8> {
    value?.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}
