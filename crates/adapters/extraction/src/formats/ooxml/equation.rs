//! Writes equations of Office files (OMML) as text, such as `(a+b)/2`.

use crate::formats::xml::Element;

/// An open element.
#[derive(Debug, Default)]
struct Node {
    name: String,
    /// Names and texts of its parts; the name of its own text is empty.
    parts: Vec<(String, String)>,
    /// The sign of a sum or integral, and the signs around and between terms.
    sign: Option<String>,
    begin: Option<String>,
    end: Option<String>,
    separator: Option<String>,
}

impl Node {
    fn part(&self, name: &str) -> String {
        self.parts.iter().filter(|part| part.0 == name).map(|part| part.1.as_str()).collect()
    }

    /// A part, in parentheses if it has several terms.
    fn term(&self, name: &str) -> String {
        let text = self.part(name);
        if text.chars().all(char::is_alphanumeric) { text } else { format!("({text})") }
    }

    fn joined(&self, separator: &str) -> String {
        let parts = self.parts.iter().map(|part| part.1.as_str()).filter(|text| !text.is_empty());
        parts.collect::<Vec<_>>().join(separator)
    }

    fn text(&self) -> String {
        let or = |sign: &Option<String>, default: &str| sign.clone().unwrap_or_else(|| default.to_owned());
        // An empty part, such as the degree of a square root, is not written.
        let script = |sign: &str, name: &str| match self.term(name) {
            text if text.is_empty() || text == "()" => String::new(),
            text => format!("{sign}{text}"),
        };
        match self.name.as_str() {
            "f" => format!("{}/{}", self.term("num"), self.term("den")),
            "sSup" => self.part("e") + &script("^", "sup"),
            "sSub" => self.part("e") + &script("_", "sub"),
            "sSubSup" | "sPre" => self.part("e") + &script("_", "sub") + &script("^", "sup"),
            "rad" => format!("{}√({})", self.part("deg"), self.part("e")),
            "nary" => {
                let limits = script("_", "sub") + &script("^", "sup");
                format!("{}{limits} {}", or(&self.sign, "∫"), self.part("e"))
            }
            "d" => {
                let terms = self.joined(&or(&self.separator, "|"));
                format!("{}{terms}{}", or(&self.begin, "("), or(&self.end, ")"))
            }
            "func" => format!("{} {}", self.part("fName"), self.part("e")),
            "limLow" => self.part("e") + &script("_", "lim"),
            "limUpp" => self.part("e") + &script("^", "lim"),
            "mr" => self.joined(" "),
            "m" | "eqArr" => self.joined("; "),
            _ => self.joined(""),
        }
    }
}

/// The open elements of an equation.
#[derive(Debug, Default)]
pub(super) struct Equation {
    open: Vec<Node>,
    is_in_text: bool,
}

impl Equation {
    /// Whether an equation is open.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Opens an element; returns false outside of equations.
    pub(super) fn start(&mut self, element: &Element<'_>) -> bool {
        if !self.is_open() && element.name != "oMath" {
            return false;
        }
        self.is_in_text |= element.name == "t";
        self.open.push(Node { name: element.name.to_owned(), ..Node::default() });
        // Signs are properties, which are one element further in than the structure.
        if let Some(at) = self.open.len().checked_sub(3)
            && let Some(value) = element.attribute("val")
        {
            let structure = &mut self.open[at];
            match element.name {
                "chr" => structure.sign = Some(value),
                "begChr" => structure.begin = Some(value),
                "endChr" => structure.end = Some(value),
                "sepChr" => structure.separator = Some(value),
                _ => {}
            }
        }
        true
    }

    /// Closes an element, and returns the text of the equation if it is complete.
    pub(super) fn end(&mut self) -> Option<String> {
        self.is_in_text = false;
        let node = self.open.pop()?;
        let text = node.text();
        match self.open.last_mut() {
            Some(outer) => {
                outer.parts.push((node.name, text));
                None
            }
            None => Some(text),
        }
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: &str) {
        if let Some(node) = self.open.last_mut().filter(|_| self.is_in_text) {
            node.parts.push((String::new(), text.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::xml::{Handler, walk};
    use crate::reader::Stopped;

    #[derive(Default)]
    struct Reader(Equation, String);

    impl Handler for Reader {
        fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
            self.0.start(element);
            Ok(())
        }

        fn end(&mut self, _: &str) -> Result<(), Stopped> {
            self.1.extend(self.0.end());
            Ok(())
        }

        fn text(&mut self, text: &str) -> Result<(), Stopped> {
            self.0.text(text);
            Ok(())
        }
    }

    #[test]
    fn structures_have_signs() {
        let run = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let part = |name: &str, text: &str| format!("<m:{name}>{}</m:{name}>", run(text));
        for (structure, parts, expected) in [
            ("f", part("num", "a+b") + &part("den", "2"), "(a+b)/2"),
            ("sSup", part("e", "r") + &part("sup", "2"), "r^2"),
            ("sSub", part("e", "x") + &part("sub", "i+1"), "x_(i+1)"),
            ("rad", "<m:deg/>".to_owned() + &part("e", "x"), "√(x)"),
            (
                "nary",
                "<m:naryPr><m:chr m:val='∑'/></m:naryPr>".to_owned()
                    + &part("sub", "i=1")
                    + &part("sup", "n")
                    + &part("e", "i"),
                "∑_(i=1)^n i",
            ),
            (
                "d",
                "<m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>".to_owned() + &part("e", "x"),
                "[x]",
            ),
            ("d", part("e", "x"), "(x)"),
            ("func", part("fName", "sin") + &part("e", "x"), "sin x"),
            ("m", format!("<m:mr>{0}{0}</m:mr><m:mr>{0}</m:mr>", part("e", "1")), "1 1; 1"),
        ] {
            let xml = format!("<m:oMath>{}<m:{structure}>{parts}</m:{structure}></m:oMath>", run("y="));
            let mut reader = Reader::default();
            walk(&xml, &mut reader).unwrap();
            assert_eq!(reader.1, format!("y={expected}"), "{structure}");
            assert!(!reader.0.is_open());
        }
    }
}
