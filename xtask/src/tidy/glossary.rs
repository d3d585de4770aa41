//! Checks docs/GLOSSARY.md: terms are sorted and their types exist.

use super::tree::{Tree, code};

const PATH: &str = "docs/GLOSSARY.md";
const KINDS: [&str; 4] = ["struct", "enum", "trait", "type"];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(PATH) else { return vec![format!("{PATH}: is missing")] };
    let rows: Vec<_> = page.lines().filter_map(row).collect();
    let unsorted = rows.windows(2).filter(|pair| pair[0].0.to_lowercase() > pair[1].0.to_lowercase());
    let unsorted =
        unsorted.map(|pair| format!("{PATH}: \"{}\" must come before \"{}\"", pair[1].0, pair[0].0));
    let missing = rows.iter().filter(|(_, path)| !exists(tree, path));
    let missing =
        missing.map(|(term, path)| format!("{PATH}: \"{term}\" names {path}, which does not exist"));
    unsorted.chain(missing).collect()
}

/// Returns the term and the type of a row `| **Term** | meaning | `path` |`.
fn row(line: &str) -> Option<(&str, &str)> {
    let (term, rest) = line.strip_prefix("| **")?.split_once("** | ")?;
    let path = rest.rsplit(" | ").next()?.trim_end_matches(" |");
    Some((term, path.trim_matches('`')))
}

/// Whether the module of a path such as `docent_domain::chunk::Chunk` declares its type.
fn exists(tree: &Tree, path: &str) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let [package, modules @ .., name] = parts.as_slice() else { return false };
    let Some(package) = package.strip_prefix("docent_") else { return false };
    let modules = modules.join("/");
    let declares = |text: &str| {
        code(text).any(|(_, line)| {
            let mut words = line
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .skip_while(|word| !KINDS.contains(word));
            words.nth(1) == Some(name)
        })
    };
    ["crates", "crates/adapters"].iter().any(|folder| {
        let module = format!("{folder}/{package}/src/{modules}");
        let files = [format!("{module}.rs"), format!("{module}/mod.rs")];
        files.iter().any(|file| tree.get(file).is_some_and(declares))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsorted_terms_and_missing_types_are_reported() {
        let page = "| term | meaning | type |\n|---|---|---|\n\
                    | **Chunk** | A passage. | `docent_domain::chunk::Chunk` |\n\
                    | **Actor** | An account. | `docent_domain::access::Actor` |\n\
                    | **Page** | A page. | `docent_domain::listing::Page` |\n";
        let tree = Tree::of(&[
            (PATH, page),
            ("crates/domain/src/chunk.rs", "pub struct Chunk {\n"),
            ("crates/domain/src/access.rs", "// pub struct Actor;\npub struct ActorId;\n"),
            ("crates/domain/src/listing/mod.rs", "pub enum Page<T> {\n"),
        ]);
        assert_eq!(
            check(&tree),
            [
                "docs/GLOSSARY.md: \"Actor\" must come before \"Chunk\"",
                "docs/GLOSSARY.md: \"Actor\" names docent_domain::access::Actor, which does not exist",
            ]
        );
        assert_eq!(check(&Tree::default()), ["docs/GLOSSARY.md: is missing"]);
    }
}
