//! Numbers of headings, clauses and list items, as Word counts them.

use crate::formats::xml::{Element, Handler};
use crate::reader::Stopped;
use std::collections::{HashMap, HashSet};

/// Number of levels of a list.
const LEVELS: usize = 9;
/// Maximum value that is written in letters or Roman numerals.
const LETTERS_MAX: u32 = 3999;

/// A level of a list.
#[derive(Clone, Debug)]
struct Level {
    start: u32,
    /// Format of the number, such as `decimal`.
    format: String,
    /// The text with `%1` for the number of the first level.
    text: String,
    /// The style whose paragraphs have this level.
    style: Option<String>,
    /// Whether the numbers of outer levels are decimal too.
    is_legal: bool,
    /// The level that restarts this one; `None` for every outer level.
    restarts_after: Option<usize>,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            start: 1,
            format: "decimal".to_owned(),
            text: String::new(),
            style: None,
            is_legal: false,
            restarts_after: None,
        }
    }
}

/// A definition of a list, by which lists count together.
#[derive(Clone, Debug, Default)]
struct Definition {
    levels: Vec<Level>,
    /// The style of lists that this definition is of, or that has the definition.
    style: Option<String>,
    linked_style: Option<String>,
}

/// A list: a definition with changed levels.
#[derive(Clone, Debug, Default)]
struct List {
    definition: String,
    starts: HashMap<usize, u32>,
    levels: HashMap<usize, Level>,
}

/// Where a level is read to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    #[default]
    None,
    Definition(usize),
    List(usize),
}

/// The definitions of lists of a document.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Definition>,
    lists: HashMap<String, List>,
    definition: String,
    list: String,
    place: Place,
}

/// The number of a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker<T> {
    Bullet,
    Number(T),
}

impl Numbering {
    fn definition_of(&self, list: &List) -> Option<(&str, &Definition)> {
        let (id, definition) = self.definitions.get_key_value(&list.definition)?;
        // A definition can refer to the one of a style of lists.
        let linked = definition.style.as_ref().filter(|_| definition.levels.is_empty()).and_then(|style| {
            self.definitions.iter().find(|(_, other)| other.linked_style.as_ref() == Some(style))
        });
        Some(linked.map_or((id.as_str(), definition), |(id, definition)| (id.as_str(), definition)))
    }

    /// Whether a list is defined.
    pub(super) fn has_list(&self, id: &str) -> bool {
        self.lists.contains_key(id)
    }

    /// The level of a list that belongs to a style of paragraphs.
    pub(super) fn level_of_style(&self, list: &str, style: &str) -> Option<usize> {
        let (_, definition) = self.definition_of(self.lists.get(list)?)?;
        definition.levels.iter().position(|level| level.style.as_deref() == Some(style))
    }

    fn level(&mut self) -> Option<&mut Level> {
        match self.place {
            Place::None => None,
            Place::Definition(level) => self.definitions.get_mut(&self.definition)?.levels.get_mut(level),
            Place::List(level) => Some(self.lists.get_mut(&self.list)?.levels.entry(level).or_default()),
        }
    }
}

impl Handler for Numbering {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        let value = element.attribute("val");
        let number = || value.as_ref().and_then(|value| value.parse::<u32>().ok());
        let at = || element.attribute("ilvl").and_then(|level| level.parse().ok()).filter(|at| *at < LEVELS);
        match element.name {
            "abstractNum" => {
                self.definition = element.attribute("abstractNumId").unwrap_or_default();
                self.definitions.insert(self.definition.clone(), Definition::default());
                self.list.clear();
            }
            "num" => {
                self.list = element.attribute("numId").unwrap_or_default();
                self.lists.insert(self.list.clone(), List::default());
            }
            "abstractNumId" => {
                if let Some(list) = self.lists.get_mut(&self.list) {
                    list.definition = value.unwrap_or_default();
                }
            }
            "lvlOverride" => self.place = at().map_or(Place::None, Place::List),
            "startOverride" => {
                if let (Place::List(level), Some(start)) = (self.place, number())
                    && let Some(list) = self.lists.get_mut(&self.list)
                {
                    list.starts.insert(level, start);
                }
            }
            "lvl" if self.list.is_empty() => {
                self.place = at().map_or(Place::None, Place::Definition);
                if let (Place::Definition(level), Some(definition)) =
                    (self.place, self.definitions.get_mut(&self.definition))
                {
                    let length = definition.levels.len().max(level + 1);
                    definition.levels.resize_with(length, Level::default);
                }
            }
            "lvl" => self.place = at().map_or(self.place, Place::List),
            "numStyleLink" | "styleLink" => {
                if let Some(definition) = self.definitions.get_mut(&self.definition) {
                    match element.name {
                        "styleLink" => definition.linked_style = value,
                        _ => definition.style = value,
                    }
                }
            }
            name => {
                let parsed = number();
                let is_on = value.as_deref().is_none_or(|value| !matches!(value, "0" | "false" | "off"));
                let Some(level) = self.level() else { return Ok(()) };
                match name {
                    "start" => level.start = parsed.unwrap_or(1),
                    "numFmt" => level.format = value.unwrap_or_default(),
                    "lvlText" => level.text = value.unwrap_or_default(),
                    "pStyle" => level.style = value,
                    "isLgl" => level.is_legal = is_on,
                    "lvlRestart" => {
                        level.restarts_after = parsed.and_then(|level| usize::try_from(level).ok())
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        if matches!(name, "abstractNum" | "num" | "lvlOverride") || name == "lvl" && self.list.is_empty() {
            self.place = Place::None;
        }
        Ok(())
    }
}

/// Counts the numbered paragraphs of a document.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Values of the levels by definition; `None` until the level is used, and after its restart.
    values: HashMap<String, [Option<u32>; LEVELS]>,
    /// Lists and levels whose own start was applied.
    started: HashSet<(String, usize)>,
}

impl Counters {
    /// Counts a paragraph of a level of a list, and returns its marker; `None` if it has none.
    pub(super) fn next(&mut self, numbering: &Numbering, list_id: &str, at: usize) -> Option<Marker<String>> {
        let at = at.min(LEVELS - 1);
        let list = numbering.lists.get(list_id)?;
        let (id, definition) = numbering.definition_of(list)?;
        let level_at = |at: usize| {
            list.levels
                .get(&at)
                .filter(|level| !level.text.is_empty() || definition.levels.is_empty())
                .or_else(|| definition.levels.get(at))
        };
        let level = level_at(at)?;
        let start_of = |at: usize| level_at(at).map_or(1, |level| level.start);
        let values = self.values.entry(id.to_owned()).or_default();
        let own_start = list.starts.get(&at).filter(|_| self.started.insert((list_id.to_owned(), at)));
        values[at] = Some(match (own_start, values[at]) {
            (Some(start), _) => *start,
            (None, Some(value)) => value.saturating_add(1),
            (None, None) => start_of(at),
        });
        for (outer, value) in values.iter_mut().enumerate().take(at) {
            value.get_or_insert_with(|| start_of(outer));
        }
        for (inner, value) in values.iter_mut().enumerate().skip(at + 1) {
            // Level 0 of `lvlRestart` never restarts, another one is counted from 1.
            let restarts =
                level_at(inner).and_then(|level| level.restarts_after).is_none_or(|after| at < after);
            if restarts {
                *value = None;
            }
        }
        if level.format == "bullet" {
            return Some(Marker::Bullet);
        }
        let mut text = String::new();
        let mut chars = level.text.chars().peekable();
        while let Some(c) = chars.next() {
            let digit = chars
                .peek()
                .and_then(|digit| digit.to_digit(10))
                .and_then(|digit| usize::try_from(digit).ok());
            match digit.filter(|digit| c == '%' && (1..=LEVELS).contains(digit)) {
                Some(digit) => {
                    chars.next();
                    let format = level_at(digit - 1).map_or("decimal", |level| level.format.as_str());
                    let format = if level.is_legal { "decimal" } else { format };
                    let value = values[digit - 1].unwrap_or_else(|| start_of(digit - 1));
                    text.push_str(&written(value, format));
                }
                None => text.push(c),
            }
        }
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(Marker::Number(text))
    }
}

/// A number in a format of Word.
fn written(value: u32, format: &str) -> String {
    match format {
        "none" => String::new(),
        "decimalZero" => format!("{value:02}"),
        "upperRoman" if (1..=LETTERS_MAX).contains(&value) => roman(value),
        "lowerRoman" if (1..=LETTERS_MAX).contains(&value) => roman(value).to_lowercase(),
        "upperLetter" if (1..=LETTERS_MAX).contains(&value) => letters(value),
        "lowerLetter" if (1..=LETTERS_MAX).contains(&value) => letters(value).to_lowercase(),
        "ordinal" => {
            let suffix = match (value % 10, value % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{value}{suffix}")
        }
        _ => value.to_string(),
    }
}

fn roman(mut value: u32) -> String {
    const NUMERALS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut text = String::new();
    for (worth, numeral) in NUMERALS {
        while value >= worth {
            text.push_str(numeral);
            value -= worth;
        }
    }
    text
}

/// A to Z, then AA, BB and so on.
fn letters(value: u32) -> String {
    let letter = char::from(b'A' + u8::try_from((value - 1) % 26).unwrap_or(0));
    letter.to_string().repeat(usize::try_from((value - 1) / 26 + 1).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::xml::walk;

    fn level(at: usize, format: &str, text: &str, more: &str) -> String {
        format!(
            "<w:lvl w:ilvl='{at}'><w:start w:val='1'/><w:numFmt w:val='{format}'/>{more}<w:lvlText w:val='{text}'/></w:lvl>"
        )
    }

    fn numbering(xml: &str) -> Numbering {
        let mut numbering = Numbering::default();
        walk(&format!("<w:numbering>{xml}</w:numbering>"), &mut numbering).unwrap();
        numbering
    }

    fn markers(numbering: &Numbering, paragraphs: &[(&str, usize)]) -> Vec<String> {
        let mut counters = Counters::default();
        let marker = |(list, at): &(&str, usize)| match counters.next(numbering, list, *at) {
            Some(Marker::Number(text)) => text,
            Some(Marker::Bullet) => "•".to_owned(),
            None => String::new(),
        };
        paragraphs.iter().map(marker).collect()
    }

    #[test]
    fn levels_are_counted_and_restarted() {
        let levels = level(0, "upperRoman", "Article %1", "")
            + &level(1, "decimal", "%1.%2", "<w:isLgl/>")
            + &level(2, "lowerLetter", "(%3)", "")
            + &level(3, "bullet", "x", "")
            + &level(4, "decimal", "#%5", "<w:lvlRestart w:val='0'/>");
        let numbering = numbering(&format!(
            "<w:abstractNum w:abstractNumId='7'>{levels}</w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>"
        ));
        let paragraphs = [0, 1, 2, 2, 1, 4, 0, 2, 3, 4].map(|at| ("1", at));
        let expected = ["Article I", "1.1", "(a)", "(b)", "1.2", "#1", "Article II", "(a)", "•", "#2"];
        assert_eq!(markers(&numbering, &paragraphs), expected);
        assert_eq!(markers(&numbering, &[("9", 0), ("1", 7)]), ["", ""]);
    }

    #[test]
    fn lists_continue_or_restart_with_their_definition() {
        let numbering = numbering(&format!(
            "<w:abstractNum w:abstractNumId='0'>{}</w:abstractNum>\
             <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='0'/></w:num>\
             <w:num w:numId='3'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='5'/></w:lvlOverride></w:num>\
             <w:num w:numId='4'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'>{}</w:lvlOverride></w:num>",
            level(0, "decimal", "%1.", ""),
            level(0, "ordinal", "%1 step", "")
        ));
        let paragraphs = [("1", 0), ("2", 0), ("3", 0), ("3", 0), ("1", 0), ("4", 0)];
        assert_eq!(markers(&numbering, &paragraphs), ["1.", "2.", "5.", "6.", "7.", "8th step"]);
    }

    #[test]
    fn styles_of_lists_and_of_paragraphs_are_followed() {
        let numbering = numbering(&format!(
            "<w:abstractNum w:abstractNumId='0'><w:numStyleLink w:val='Clauses'/></w:abstractNum>\
             <w:abstractNum w:abstractNumId='1'><w:styleLink w:val='Clauses'/>{}{}</w:abstractNum>\
             <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>",
            level(0, "decimalZero", "%1", "<w:pStyle w:val='H1'/>"),
            level(1, "decimal", "%1-%2", "<w:pStyle w:val='H2'/>")
        ));
        assert_eq!(numbering.level_of_style("1", "H2"), Some(1));
        assert_eq!(markers(&numbering, &[("1", 0), ("1", 1)]), ["01", "01-1"]);
    }

    #[test]
    fn numbers_are_written_in_all_formats() {
        for (value, format, text) in [
            (1994, "upperRoman", "MCMXCIV"),
            (28, "lowerLetter", "bb"),
            (12, "ordinal", "12th"),
            (22, "ordinal", "22nd"),
            (5, "cardinalText", "5"),
            (0, "lowerRoman", "0"),
            (3, "none", ""),
        ] {
            assert_eq!(written(value, format), text);
        }
    }
}
