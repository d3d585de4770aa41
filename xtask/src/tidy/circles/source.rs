//! The paths that a Rust file names, without its tests.

use std::collections::BTreeMap;

/// The imports and paths of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Source {
    /// The path of each imported name.
    pub(super) imports: BTreeMap<String, Vec<String>>,
    /// Every imported path, and every path of at least two segments in the code.
    pub(super) paths: Vec<Vec<String>>,
    /// The child modules that are compiled for tests alone.
    pub(super) test_modules: Vec<String>,
}

impl Source {
    pub(super) fn of(text: &str) -> Self {
        let mut source = Self::default();
        let tokens = without_tests(tokens(text), &mut source.test_modules);
        let mut at = 0;
        while at < tokens.len() {
            at = match tokens[at] {
                "use" if tokens.get(at + 1) != Some(&"<") => source.import(&tokens, at + 1, &[]),
                _ => source.path(&tokens, at),
            };
        }
        source
    }

    /// Reads a tree of imports below a prefix and returns where it ends.
    fn import(&mut self, tokens: &[&str], mut at: usize, prefix: &[&str]) -> usize {
        let mut path = prefix.to_vec();
        loop {
            match tokens.get(at).copied() {
                Some("{") => {
                    at += 1;
                    loop {
                        match tokens.get(at).copied() {
                            Some(",") => at += 1,
                            Some("}") => return at + 1,
                            Some(";") | None => return at,
                            Some(_) => at = self.import(tokens, at, &path),
                        }
                    }
                }
                Some("as") => {
                    let alias = tokens.get(at + 1).copied();
                    self.add_import(&path, alias);
                    return at + 2;
                }
                Some("," | "}" | ";") | None => {
                    self.add_import(&path, None);
                    return at;
                }
                Some("::" | "$") => at += 1,
                Some(segment) => {
                    path.push(segment);
                    at += 1;
                }
            }
        }
    }

    fn add_import(&mut self, path: &[&str], alias: Option<&str>) {
        let path = match path {
            [module @ .., "self"] if !module.is_empty() => module,
            path => path,
        };
        let owned: Vec<String> = path.iter().map(|segment| (*segment).to_owned()).collect();
        if let Some(name) = alias.or(path.last().copied()) {
            self.imports.insert(name.to_owned(), owned.clone());
        }
        self.paths.push(owned);
    }

    /// Reads a path if one begins here, and returns the next position.
    fn path(&mut self, tokens: &[&str], at: usize) -> usize {
        let before = at.checked_sub(1).map(|before| tokens[before]);
        let is_end = before == Some("::") || before == Some("$") && tokens[at] != "crate";
        if is_end || !is_name(tokens[at]) {
            return at + 1;
        }
        let (mut path, mut next) = (vec![tokens[at].to_owned()], at + 1);
        while let [_, "::", segment, ..] = tokens[next - 1..]
            && is_name(segment)
        {
            path.push(segment.to_owned());
            next += 2;
        }
        if path.len() > 1 {
            self.paths.push(path);
        }
        next
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Removes items with `#[cfg(test)]`, and notes the modules among them.
fn without_tests<'t>(tokens: Vec<&'t str>, modules: &mut Vec<String>) -> Vec<&'t str> {
    const ATTRIBUTE: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut code, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if !tokens[at..].starts_with(&ATTRIBUTE) {
            code.push(tokens[at]);
            at += 1;
            continue;
        }
        at += ATTRIBUTE.len();
        let (start, mut depth) = (at, 0_usize);
        while let Some(token) = tokens.get(at) {
            at += 1;
            match *token {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(*token, "}" | ";") {
                break;
            }
        }
        let names = tokens[start..at].windows(3).filter(|item| item[0] == "mod" && item[2] == ";");
        modules.extend(names.map(|item| item[1].to_owned()));
    }
    code
}

/// Names, `::` and single other characters; without comments, literals of text and lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = skipped(rest);
        if skipped > 0 {
            rest = &rest[skipped..];
            continue;
        }
        let rest_of_name = || rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match first {
            _ if rest.starts_with("::") => 2,
            _ if first.is_alphanumeric() || first == '_' => rest_of_name(),
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = &rest[length..];
    }
    tokens
}

/// The bytes of white space, a comment, a literal or a lifetime that a text begins with.
fn skipped(text: &str) -> usize {
    let to = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let white = text.len() - text.trim_start().len();
    let raw = text.trim_start_matches(['b', 'c']).strip_prefix('r').unwrap_or_default();
    let hashes = raw.len() - raw.trim_start_matches('#').len();
    let prefixed = text.trim_start_matches(['b', 'c']);
    match text {
        _ if white > 0 => white,
        _ if text.starts_with("//") => to("\n", 0),
        _ if text.starts_with("/*") => to("*/", 2),
        _ if raw[hashes..].starts_with('"') => {
            to(&format!("\"{}", "#".repeat(hashes)), text.len() - raw.len() + hashes + 1)
        }
        // `r#type` is a name.
        _ if hashes == 1 && text.starts_with("r#") => 2,
        _ if prefixed.starts_with('"') && text.len() - prefixed.len() < 2 => {
            text.len() - prefixed.len() + quoted(prefixed, '"')
        }
        _ if text.starts_with("b'") => 1 + quoted(&text[1..], '\''),
        _ if text.starts_with('\'') => {
            let after = text[1..].chars().next();
            let closes = after.is_some_and(|c| text[1 + c.len_utf8()..].starts_with('\''));
            if after == Some('\\') || closes { quoted(text, '\'') } else { lifetime(text) }
        }
        _ => 0,
    }
}

/// The bytes of a literal between quotation marks.
fn quoted(text: &str, mark: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == mark && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

/// The bytes of a lifetime.
fn lifetime(text: &str) -> usize {
    text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        Source::of(text).paths.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn import_trees_are_expanded() {
        let text = "use a::{self, b::{C, D as E}, f::*};\nuse super::g;";
        assert_eq!(paths(text), ["a", "a::b::C", "a::b::D", "a::f::*", "super::g"]);
        let imports = Source::of(text).imports;
        assert_eq!(imports.keys().collect::<Vec<_>>(), ["*", "C", "E", "a", "g"]);
        assert_eq!(imports["E"], ["a", "b", "D"]);
    }

    #[test]
    fn paths_in_code_are_found() {
        let text = "fn f<'a>(x: &'a crate::a::B) -> c::D { x.collect::<E>(); $crate::m!() }";
        assert_eq!(paths(text), ["crate::a::B", "c::D", "crate::m"]);
    }

    #[test]
    fn comments_literals_and_tests_are_ignored() {
        for text in [
            "// crate::a::B",
            "/* crate::a::B */",
            r#"const X: &str = "\"crate::a::B";"#,
            "const X: &str = r#\"\"crate::a::B\"#;",
            "const X: &[u8] = b\"crate::a::B\";",
            "const X: [char; 2] = ['\"', '\\''];",
            "#[cfg(test)]\nmod tests { use crate::a::B; fn f() { crate::a::b() } }",
            "#[cfg(test)]\nuse crate::a::B;",
        ] {
            assert_eq!(paths(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(paths("const X: char = '\"'; use a::B; const Y: char = '\"';"), ["a::B"]);
        assert_eq!(Source::of("#[cfg(test)]\npub(crate) mod samples;\nmod a;").test_modules, ["samples"]);
    }
}
