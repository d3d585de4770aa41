//! docs/ARCHITECTURE.md names the packages that exist.

use super::{edges::Package, tree::Tree};
use std::collections::BTreeSet;

const PATH: &str = "docs/ARCHITECTURE.md";
const HEADING: &str = "## Packages";

/// Compares the first column of the table under [`HEADING`] with the workspace.
pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<String> {
    let Some(page) = tree.get(PATH) else { return vec![format!("{PATH}: is missing")] };
    let section =
        page.lines().skip_while(|line| *line != HEADING).skip(1).take_while(|line| !line.starts_with("## "));
    let name = |line: &'_ str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let named: BTreeSet<String> = section.filter_map(name).collect();
    let existing: BTreeSet<String> = packages.iter().map(|package| package.name.clone()).collect();
    let missing = existing.difference(&named).map(|name| format!("{PATH}: does not name the package {name}"));
    let gone = named.difference(&existing).map(|name| format!("{PATH}: names {name}, which is no package"));
    missing.chain(gone).collect()
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
