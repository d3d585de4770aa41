//! The page of invariants, which is collected from the tests that guard them.
//!
//! A comment `// Invariant: sentence` directly above a test names what the test guards. Tests with the same sentence guard
//! one invariant together.

use super::tree::Tree;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) const PATH: &str = "docs/reference/invariants.md";
const COMMENT: &str = "// ";
const MARK: &str = "Invariant: ";
const HEAD: &str = "# Invariants

Each sentence stands above the tests that fail when it is broken (`// Invariant: …`), and `cargo xtask gen` collects them here. They are
listed by the package of their first test.
";

pub(super) fn check(tree: &Tree) -> Vec<String> {
    match page(tree) {
        Err(complaints) => complaints,
        Ok(page) if tree.get(PATH) == Some(&page) => Vec::new(),
        Ok(_) => vec![format!("{PATH}: is not current; run `cargo xtask gen`")],
    }
}

/// The page.
///
/// # Errors
/// Sentences that stand above something else than a function.
pub(super) fn page(tree: &Tree) -> Result<String, Vec<String>> {
    let mut guards: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut complaints = Vec::new();
    for (path, text) in tree.rust("").filter(|(path, _)| !path.starts_with("xtask/src/tidy/invariants")) {
        for (sentence, test) in marked(text) {
            match test {
                Some(test) => guards.entry(sentence).or_default().push(format!("`{path}: {test}`")),
                None => complaints.push(format!("{path}: this invariant is not above a test: {sentence}")),
            }
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let mut packages: BTreeMap<&str, Vec<(&String, &Vec<String>)>> = BTreeMap::new();
    for (sentence, tests) in &guards {
        packages.entry(package(&tests[0])).or_default().push((sentence, tests));
    }
    let mut page = HEAD.to_owned();
    for (package, rows) in packages {
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {package}\n\n| invariant | guarded by |\n|---|---|\n");
        for (sentence, tests) in rows {
            let _ = writeln!(page, "| {sentence} | {} |", tests.join(", "));
        }
    }
    Ok(page)
}

/// The sentences of a file, each with the name of the function below it.
fn marked(text: &str) -> Vec<(String, Option<String>)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(first) = line.strip_prefix(COMMENT).and_then(|comment| comment.strip_prefix(MARK)) else {
            continue;
        };
        let more = lines[at + 1..].iter().map_while(|line| line.strip_prefix(COMMENT));
        let more = more.take_while(|comment| !comment.starts_with(MARK));
        let sentence = [first].into_iter().chain(more).collect::<Vec<_>>().join(" ");
        found.push((sentence, declared(&lines[at..])));
    }
    found
}

/// The name of the function that the comment at the beginning of `lines` is about.
fn declared(lines: &[&str]) -> Option<String> {
    let line = lines.iter().find(|line| !line.starts_with("//") && !line.starts_with("#["))?;
    let (_, declaration) = line.split_once("fn ")?;
    declaration.split_once('(').map(|(name, _)| name.to_owned())
}

/// The folder of the package of a test: what stands before `/src/` or `/tests/` in its path.
fn package(test: &str) -> &str {
    let path = test.trim_start_matches('`');
    let end = ["/src/", "/tests/", "/it/"].iter().filter_map(|part| path.find(part)).min();
    end.map_or(path, |end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_collected_from_the_tests_below_them() {
        let one = "// Invariant: A holds,\n// always.\n// Invariant: B holds.\n#[test]\nfn first() {}\n";
        let two = "    /// Says more.\n    // Invariant: B holds.\n    async fn second(index) {\n";
        let tree = Tree::of(&[("crates/a/src/b.rs", one), ("crates/c/tests/d.rs", two)]);
        let expected = format!(
            "{HEAD}\n## crates/a\n\n| invariant | guarded by |\n|---|---|\n\
             | A holds, always. | `crates/a/src/b.rs: first` |\n\
             | B holds. | `crates/a/src/b.rs: first`, `crates/c/tests/d.rs: second` |\n"
        );
        assert_eq!(page(&tree), Ok(expected.clone()));
        assert_eq!(check(&tree), ["docs/reference/invariants.md: is not current; run `cargo xtask gen`"]);
        assert_eq!(
            check(&Tree::of(&[("crates/a/src/b.rs", one), ("crates/c/tests/d.rs", two), (PATH, &expected)])),
            [""; 0]
        );
    }

    #[test]
    fn sentence_above_something_else_is_named() {
        let tree = Tree::of(&[("a.rs", "// Invariant: A holds.\nconst A: u8 = 1;\n")]);
        assert_eq!(check(&tree), ["a.rs: this invariant is not above a test: A holds."]);
    }
}
