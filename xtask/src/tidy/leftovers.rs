//! Nothing unfinished and nothing of one machine is left in the tree.

use super::tree::Tree;

/// What must not be in any file. Each is written in two parts, so as not to find itself.
const ANYWHERE: &[(&str, &str)] = &[
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/Us", "ers/"), "a path of one machine"),
    (concat!("FIX", "ME"), "something unfinished"),
    (concat!("TO", "DO"), "something unfinished"),
];

/// What must not be in Rust files.
const IN_RUST: &[(&str, &str)] = &[
    (concat!("todo", "!("), "something unfinished"),
    (concat!("unimplemented", "!("), "something unfinished"),
    (concat!("db", "g!("), "a debugging print"),
    (concat!("#[ign", "ore"), "a test that is never run"),
];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, text) in tree.all() {
        let in_rust = if path.ends_with(".rs") { IN_RUST } else { &[] };
        for (found, what) in ANYWHERE.iter().chain(in_rust) {
            let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains(found));
            complaints.extend(lines.map(|(number, _)| format!("{path}:{number}: holds {what}: {found}")));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leftover_is_named_with_its_line() {
        for (found, what) in ANYWHERE.iter().chain(IN_RUST) {
            let text = format!("fn f() {{\n    {found}x)\n}}\n");
            assert_eq!(check(&Tree::of(&[("a.rs", &text)])), [format!("a.rs:2: holds {what}: {found}")]);
        }
    }

    #[test]
    fn other_files_may_speak_of_rust() {
        for (found, _) in IN_RUST {
            assert_eq!(check(&Tree::of(&[("a.md", found)])), Vec::<String>::new());
        }
        assert_eq!(check(&Tree::of(&[("a.rs", "/usr/bin and /srv/docent")])), Vec::<String>::new());
    }
}
