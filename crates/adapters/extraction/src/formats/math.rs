//! Writes formulas in MathML as text, such as `(a+b)/2`.

/// Elements whose children are separated by these signs: the first sign is before the second child.
const STRUCTURES: [(&str, &[&str]); 8] = [
    ("mfrac", &["/"]),
    ("msup", &["^"]),
    ("msub", &["_"]),
    ("msubsup", &["_", "^"]),
    ("munder", &["_"]),
    ("mover", &["^"]),
    ("munderover", &["_", "^"]),
    ("mtr", &[" ", " ", " ", " ", " ", " ", " "]),
];
/// Maximum depth of elements.
const DEPTH_MAX: usize = 64;

/// The open elements of a formula.
#[derive(Debug, Default)]
pub(super) struct Formula {
    /// Names, and the number of children so far.
    open: Vec<(String, usize)>,
}

impl Formula {
    /// Whether a formula is open.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Opens an element and returns the sign before it. Elements outside of formulas are not opened.
    pub(super) fn start(&mut self, name: &str, is_empty: bool) -> String {
        if self.open.is_empty() && name != "math" || self.open.len() >= DEPTH_MAX {
            return String::new();
        }
        let mut sign = String::new();
        if let Some((parent, children)) = self.open.last_mut() {
            let structure = STRUCTURES.iter().find(|structure| structure.0 == parent);
            let before = children.checked_sub(1).and_then(|at| structure?.1.get(at));
            sign.push_str(before.copied().unwrap_or_default());
            *children += 1;
        }
        match name {
            "msqrt" | "mroot" => sign.push('√'),
            // A sum needs parentheses where it is a part of another structure.
            "mrow" if self.is_in_structure() => sign.push('('),
            _ => {}
        }
        if !is_empty {
            self.open.push((name.to_owned(), 0));
        }
        sign
    }

    /// Closes an element and returns the sign after it.
    pub(super) fn end(&mut self, name: &str) -> &'static str {
        let Some(at) = self.open.iter().rposition(|(open, _)| open == name) else { return "" };
        self.open.truncate(at);
        match name {
            "mrow" if self.is_in_structure() => ")",
            "mtr" => "; ",
            _ => "",
        }
    }

    fn is_in_structure(&self) -> bool {
        self.open.last().is_some_and(|(parent, _)| {
            matches!(parent.as_str(), "mfrac" | "msup" | "msub" | "msubsup" | "msqrt" | "mroot")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_signs() {
        let mut formula = Formula::default();
        let mut text = formula.start("math", false);
        for (name, content) in [("mfrac", ""), ("mi", "a"), ("mi", "b")] {
            text += &formula.start(name, false);
            text += content;
            if !content.is_empty() {
                text += formula.end(name);
            }
        }
        text += formula.end("mfrac");
        assert_eq!(text, "a/b");
        assert!(formula.is_open());
        formula.end("math");
        assert!(!formula.is_open());
        assert_eq!(formula.start("mfrac", false), "", "outside of a formula");
        assert!(!formula.is_open());
    }
}
