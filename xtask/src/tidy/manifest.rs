//! Every dependency that the workspace names is used and has its reason beside it.

use super::edges::Package;
use super::tree::Tree;

const PATH: &str = "Cargo.toml";
const SECTION: &str = "[workspace.dependencies]";

/// Crates that need a C library of the system, or tools beside a C compiler; deny.toml says the same.
const BANNED: &[&str] = &["aws-lc-sys", "cmake", "native-tls", "openssl-sys", "prost-build"];

/// A line of the section that names a dependency.
struct Entry<'a> {
    name: &'a str,
    line: &'a str,
    /// The line before it.
    before: &'a str,
}

pub(super) fn check(tree: &Tree, packages: &[Package]) -> Vec<String> {
    let Some(manifest) = tree.get(PATH) else { return vec![format!("{PATH}: is missing")] };
    let mut complaints = banned(tree.get("Cargo.lock").unwrap_or_default());
    let mut previous = "";
    for entry in entries(manifest) {
        if entry.line.contains("path =") {
            // Ours: who may see it is the concern of `edges`.
            continue;
        }
        let name = entry.name;
        let uses = |package: &Package| package.dependencies.iter().any(|dependency| dependency.name == name);
        if !packages.iter().any(uses) {
            complaints.push(format!("{PATH}: {name} is used by no package"));
        }
        // Neighbours of one family may share a comment.
        let is_explained = entry.before.starts_with('#') || family(previous) == family(name);
        if !is_explained {
            complaints.push(format!("{PATH}: {name} has no comment that says what it is for"));
        }
        previous = name;
    }
    complaints
}

/// Names banned crates that the lock file holds.
fn banned(lock: &str) -> Vec<String> {
    let locked = |name: &&&str| lock.lines().any(|line| line == format!("name = \"{name}\""));
    BANNED.iter().filter(locked).map(|name| format!("Cargo.lock: {name} is banned, see deny.toml")).collect()
}

fn entries(manifest: &str) -> impl Iterator<Item = Entry<'_>> {
    let section = manifest
        .lines()
        .skip_while(|line| *line != SECTION)
        .take_while(|line| *line == SECTION || !line.starts_with('['));
    let lines: Vec<&str> = section.collect();
    (1..lines.len()).filter_map(move |at| {
        let line = lines[at];
        let (name, _) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        Some(Entry { name: name.trim(), line, before: lines[at - 1] })
    })
}

/// The first word of a name.
fn family(name: &str) -> &str {
    name.split(['-', '_']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::super::edges::Dependency;
    use super::*;

    fn complaints(manifest: &str, used: &[&str]) -> Vec<String> {
        let dependency = |name: &&str| Dependency { name: (*name).into(), is_dev: false, is_ours: false };
        let package = Package { name: "a".into(), dependencies: used.iter().map(dependency).collect() };
        check(&Tree::of(&[(PATH, manifest)]), &[package])
    }

    #[test]
    fn unused_and_unexplained_dependencies_are_named() {
        let manifest = "[workspace.package]\nx = 1\n[workspace.dependencies]\nours = { path = \"a\" }\n\n# Why.\nserde = \"1\"\nserde_json = \"1\"\ntokio = { version = \"1\" }\n# Why.\nuuid = \"1\"\n\n[profile.dev]\ndebug = 1\n";
        assert_eq!(
            complaints(manifest, &["serde", "serde_json", "tokio"]),
            [
                "Cargo.toml: tokio has no comment that says what it is for",
                "Cargo.toml: uuid is used by no package",
            ]
        );
    }

    #[test]
    fn banned_crates_are_named_however_they_come_in() {
        let lock =
            "[[package]]\nname = \"openssl-sys\"\nversion = \"1\"\n\n[[package]]\nname = \"openssl\"\n";
        let tree = Tree::of(&[(PATH, ""), ("Cargo.lock", lock)]);
        assert_eq!(check(&tree, &[]), ["Cargo.lock: openssl-sys is banned, see deny.toml"]);
    }
}
