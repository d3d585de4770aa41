//! No source file is too long to be read in one go.

use super::tree::Tree;

/// The most lines of a file, tests not counted.
const LINES_MAX: usize = 500;

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let sources = tree.rust("").filter(|(path, _)| !is_test(path));
    let lengths = sources.map(|(path, text)| (path, lines_without_tests(text)));
    let long = lengths.filter(|(_, lines)| *lines > LINES_MAX);
    long.map(|(path, lines)| format!("{path}: has {lines} lines without its tests, over {LINES_MAX}"))
        .collect()
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs"))
}

/// The lines outside of modules that are compiled for tests alone. Formatted code closes them with
/// a brace as far in as they begin.
fn lines_without_tests(text: &str) -> usize {
    let mut lines = text.lines().peekable();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let opens = |next: &&str| next.trim_start().starts_with("mod ") && next.ends_with('{');
        if line.trim() == "#[cfg(test)]" && lines.peek().is_some_and(opens) {
            let end = format!("{indent}}}");
            lines.by_ref().find(|line| *line == end);
        } else {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_named_and_its_tests_do_not_count() {
        let code = "fn f() {}\n";
        let tests = format!("\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    fn f() {}\n".repeat(900));
        let fits = code.repeat(LINES_MAX - 1) + &tests;
        let over = code.repeat(LINES_MAX) + &tests;
        let tree = Tree::of(&[
            ("a/src/fits.rs", &fits),
            ("a/src/over.rs", &over),
            ("a/src/x/tests.rs", &over),
            ("tests/it.rs", &over),
            ("a/long.txt", &over),
        ]);
        assert_eq!(check(&tree), ["a/src/over.rs: has 501 lines without its tests, over 500"]);
    }

    #[test]
    fn what_follows_a_test_module_counts() {
        let text =
            "#[cfg(test)]\nmod tests {\n    fn f() {\n    }\n}\nfn after() {}\n#[cfg(test)]\nmod tests;\n";
        assert_eq!(lines_without_tests(text), 3);
    }
}
