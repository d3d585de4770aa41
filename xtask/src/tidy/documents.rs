//! docs/ARCHITECTURE.md names the packages that exist.

use super::edges::Package;
use super::tree::Tree;
use std::collections::BTreeSet;

const PATH: &str = "docs/ARCHITECTURE.md";
const PACKAGES: &str = "## Packages";

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<String> {
    let Some(page) = tree.get(PATH) else { return vec![format!("{PATH}: is missing")] };
    check_packages(page, packages)
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
}
