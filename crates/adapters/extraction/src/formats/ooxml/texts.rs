//! Collects the texts of comments, drawings and tables of texts.

use super::values::unescaped;
use crate::formats::xml::{Element, Handler};
use crate::reader::Stopped;

/// Collects texts that begin with an element, such as a comment or a paragraph.
pub(super) struct Texts {
    texts: Vec<String>,
    /// Names of the elements that begin a text, and of those that contain it.
    beginnings: &'static [&'static str],
    contents: &'static [&'static str],
    is_in_text: bool,
    /// Whether the text is a phonetic guide.
    is_phonetic: bool,
}

impl Texts {
    /// Collects a text for each element with one of these names.
    pub(super) const fn of(beginnings: &'static [&'static str]) -> Self {
        Self { texts: Vec::new(), beginnings, contents: &["t"], is_in_text: false, is_phonetic: false }
    }

    /// Collects texts from elements with these names.
    pub(super) fn within(self, contents: &'static [&'static str]) -> Self {
        Self { contents, ..self }
    }

    /// Adds a text that is written elsewhere.
    pub(super) fn add(&mut self, text: String) {
        self.texts.push(text);
    }

    /// All texts, in their order.
    pub(super) fn into_all(mut self) -> Vec<String> {
        self.texts.iter_mut().filter(|text| text.contains("_x")).for_each(|text| *text = unescaped(text));
        self.texts
    }

    /// The texts that have more than white space.
    pub(super) fn into_shown(self) -> Vec<String> {
        let mut texts = self.into_all();
        texts.retain(|text| !text.trim().is_empty());
        texts
    }
}

impl Handler for Texts {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        match element.name {
            name if self.beginnings.contains(&name) => {
                // Comments of sheets name their cells.
                let cell = element.attribute("ref").map(|cell| cell + ": ");
                self.texts.push(cell.unwrap_or_default());
            }
            name if self.contents.contains(&name) => self.is_in_text = !self.is_phonetic,
            "rPh" => self.is_phonetic = true,
            "br" => self.texts.last_mut().into_iter().for_each(|text| text.push('\n')),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        if self.contents.contains(&name) {
            self.is_in_text = false;
        }
        self.is_phonetic &= name != "rPh";
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        if let Some(last) = self.texts.last_mut().filter(|_| self.is_in_text) {
            last.push_str(text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::xml::walk;

    fn shown(mut texts: Texts, xml: &str) -> Vec<String> {
        walk(xml, &mut texts).unwrap();
        texts.into_shown()
    }

    #[test]
    fn texts_are_collected_by_the_elements_that_begin_them() {
        let cells = "<x><comment ref='B2'><text><r><t>Check</t></r><r><t> it</t></r><rPh><t>z</t></rPh></text></comment> <comment/></x>";
        assert_eq!(shown(Texts::of(&["comment"]), cells), ["B2: Check it"]);
        let older = "<cmLst><cm><text>Fix the logo</text><pos/></cm></cmLst>";
        let newer = "<cmLst><cm><replyLst><reply><txBody><p><r><t>Done</t></r></p></txBody></reply></replyLst>\
                     <txBody><p><r><t>Fix</t></r><br/><r><t>it_x000B_all</t></r></p></txBody></cm></cmLst>";
        for (xml, expected) in [(older, &["Fix the logo"][..]), (newer, &["Done", "Fix\nit\u{b}all"])] {
            assert_eq!(shown(Texts::of(&["cm", "p"]).within(&["t", "text"]), xml), expected);
        }
    }
}
