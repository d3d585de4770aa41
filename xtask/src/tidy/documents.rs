//! docs/ARCHITECTURE.md names packages and tests that exist.

use super::edges::Package;
use super::tree::{Tree, code};
use std::collections::BTreeSet;

const PATH: &str = "docs/ARCHITECTURE.md";
const PACKAGES: &str = "## Packages";
const INVARIANTS: &str = "## Invariants";

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<String> {
    let Some(page) = tree.get(PATH) else { return vec![format!("{PATH}: is missing")] };
    let mut complaints = check_packages(page, packages);
    complaints.extend(check_tests(page, tree));
    complaints
}

/// Compares the first column of the table of packages with the workspace.
fn check_packages(page: &str, packages: &[Package]) -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let named: BTreeSet<String> = section(page, PACKAGES).filter_map(name).collect();
    let existing: BTreeSet<String> = packages.iter().map(|package| package.name.clone()).collect();
    let missing = existing.difference(&named).map(|name| format!("{PATH}: does not name the package {name}"));
    let gone = named.difference(&existing).map(|name| format!("{PATH}: names {name}, which is no package"));
    missing.chain(gone).collect()
}

/// Looks for the tests in the last column of the table of invariants: `path.rs: name`.
fn check_tests(page: &str, tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for line in section(page, INVARIANTS).filter(|line| line.starts_with("| ")).skip(1) {
        let guards = line.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.split_once(".rs: "));
        let mut count = 0;
        for (path, test) in guards {
            count += 1;
            let path = format!("{path}.rs");
            let declares = |text: &str| code(text).any(|(_, line)| line.contains(&format!("fn {test}(")));
            if !tree.get(&path).is_some_and(declares) {
                complaints.push(format!("{PATH}: {path} has no test {test}"));
            }
        }
        if count == 0 {
            complaints.push(format!("{PATH}: an invariant without a test: {line}"));
        }
    }
    complaints
}

/// The lines below a heading, up to the next one of its level.
fn section<'a>(page: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    page.lines().skip_while(move |line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_are_missing_or_gone_are_named() {
        let page = "# A\n| `xtask` | elsewhere |\n## Packages\n| package | x |\n|---|---|\n| `a` | `z` |\n| `c` | |\n## More\n| `b` | |\n";
        let packages = ["a", "b"].map(|name| Package { name: name.into(), dependencies: Vec::new() });
        assert_eq!(
            check(&Tree::of(&[(PATH, page)]), &packages),
            [
                "docs/ARCHITECTURE.md: does not name the package b",
                "docs/ARCHITECTURE.md: names c, which is no package",
            ]
        );
        assert_eq!(check(&Tree::default(), &packages), ["docs/ARCHITECTURE.md: is missing"]);
    }

    #[test]
    fn an_invariant_needs_a_test_that_exists() {
        let page = "## Invariants\n\n| what | guarded by |\n|---|---|\n| A. | `a.rs: it_holds` |\n| B of `c`. | `a.rs: gone`, `b.rs: it_holds` |\n| C. | hope |\n";
        let tree = Tree::of(&[(PATH, page), ("a.rs", "    fn it_holds() {}\n    // fn gone()\n")]);
        assert_eq!(
            check(&tree, &[]),
            [
                "docs/ARCHITECTURE.md: a.rs has no test gone",
                "docs/ARCHITECTURE.md: b.rs has no test it_holds",
                "docs/ARCHITECTURE.md: an invariant without a test: | C. | hope |",
            ]
        );
    }
}
