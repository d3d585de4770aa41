//! No adapter module uses another; what several of them need to reach out is no adapter.

use super::tree::{Tree, code};
use std::collections::BTreeSet;

const SOURCES: &str = "crates/adapters/src/";
/// Modules that adapt nothing, for those that do.
const SHARED: [&str; 2] = ["http_client", "sse"];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let files: Vec<_> = tree
        .rust(SOURCES)
        .map(|(path, text)| (path, path.strip_prefix(SOURCES).unwrap_or(path), text))
        .filter(|(_, name, _)| *name != "lib.rs")
        .collect();
    let modules: BTreeSet<&str> = files.iter().map(|(_, name, _)| module(name)).collect();
    let mut complaints = Vec::new();
    for (path, name, text) in files {
        let to_root = "super::".repeat(depth(name));
        let roots = ["crate::", &to_root];
        let source: String = code(text).flat_map(|(_, line)| [line, "\n"]).collect();
        let used: BTreeSet<&str> = roots.iter().flat_map(|root| first_names(&source, root)).collect();
        let others = used
            .into_iter()
            .filter(|used| modules.contains(used) && *used != module(name) && !SHARED.contains(used));
        complaints.extend(others.map(|other| format!("{path}: uses the adapter module {other}")));
    }
    complaints
}

/// The module that a file below the sources belongs to.
fn module(name: &str) -> &str {
    name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
}

/// How many times `super` leads from a file below the sources to the crate's root.
fn depth(name: &str) -> usize {
    name.trim_end_matches("/mod.rs").split('/').count()
}

/// The names that follow `root` in paths, also in groups: `root a::b`, `root {a, b::{c, d}}`.
fn first_names<'a>(source: &'a str, root: &'a str) -> impl Iterator<Item = &'a str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(root).flat_map(move |(at, _)| {
        let follows_name = source[..at].ends_with(|c: char| is_name(c) || c == '$' || c == ':');
        let rest = if follows_name { "" } else { &source[at + root.len()..] };
        let items = match rest.strip_prefix('{') {
            Some(group) => top_level_items(group),
            None => vec![rest],
        };
        items.into_iter().map(move |item| {
            let item = item.trim_start();
            &item[..item.find(|c| !is_name(c)).unwrap_or(item.len())]
        })
    })
}

/// Cuts the inside of a brace group at its own commas, up to its closing brace.
fn top_level_items(group: &str) -> Vec<&str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        let sql = "crates/adapters/src/sql/mod.rs";
        let blob = "crates/adapters/src/blob.rs";
        let memory = "crates/adapters/src/memory/mod.rs";
        let mut files = vec![
            ("crates/adapters/src/lib.rs", "pub mod sql; use crate::sql;"),
            (sql, ""),
            (blob, ""),
            (memory, ""),
        ];
        files.retain(|(other, _)| *other != path);
        files.push((path, text));
        check(&Tree::of(&files))
    }

    #[test]
    fn every_way_to_reach_another_module_is_seen() {
        for text in [
            "use crate::sql::SqlStore;",
            "fn f() { crate::sql::open() }",
            "use crate::{blob::x, sql};",
            "use crate::{\n    blob::{a, b},\n    sql::{c, d},\n};",
            "use super::sql::SqlStore;",
        ] {
            assert_eq!(
                complaints("crates/adapters/src/blob.rs", text),
                ["crates/adapters/src/blob.rs: uses the adapter module sql"],
                "{text}"
            );
        }
        let deep = "crates/adapters/src/memory/journal.rs";
        assert_eq!(
            complaints(deep, "use crate::blob::B;"),
            [format!("{deep}: uses the adapter module blob")]
        );
    }

    #[test]
    fn a_module_may_use_itself_and_what_is_no_module() {
        for text in [
            "use crate::memory::x;",
            "use super::sql;",
            "// use crate::sql;",
            "use docent_crate::sql::x;",
            "use crate::{memory::{sql}};",
        ] {
            assert_eq!(
                complaints("crates/adapters/src/memory/journal.rs", text),
                Vec::<String>::new(),
                "{text}"
            );
        }
    }
}
