//! No files of a package use each other in a circle, and no top-level modules.
//!
//! A file and the files of its child modules can use each other, so these uses do not count.

mod source;

use super::tree::Tree;
use source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Re-exports that are followed from a name to its definition.
const HOPS: usize = 8;

/// The names of its modules, from the root of the package.
type Module = Vec<String>;

/// The names that files use of others, by the modules of both.
type Uses<'m> = BTreeMap<&'m Module, BTreeMap<&'m Module, BTreeSet<String>>>;

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let roots = tree.rust("").filter_map(|(path, _)| {
        let folder = path.strip_suffix("lib.rs").or_else(|| path.strip_suffix("main.rs"))?;
        (folder == "src/" || folder.ends_with("/src/")).then_some(folder)
    });
    let roots: BTreeSet<&str> = roots.collect();
    roots.into_iter().flat_map(|root| Package::read(tree, root).complaints()).collect()
}

/// The files of a package by their modules.
struct Package<'t> {
    files: BTreeMap<Module, (&'t str, Source)>,
}

impl<'t> Package<'t> {
    /// Reads the files below a folder, without modules of tests.
    fn read(tree: &'t Tree, folder: &str) -> Self {
        let mut files: BTreeMap<Module, (&str, Source)> = BTreeMap::new();
        for (path, text) in tree.rust(folder) {
            let module = module(&path[folder.len()..]);
            if module.iter().any(|name| name == "tests") || module.first().is_some_and(|name| name == "bin") {
                continue;
            }
            let source = Source::of(text);
            // A package can have both roots.
            let (_, of_module) = files.entry(module).or_insert((path, Source::default()));
            of_module.imports.extend(source.imports);
            of_module.paths.extend(source.paths);
            of_module.test_modules.extend(source.test_modules);
        }
        let test_modules: Vec<Module> = files
            .iter()
            .flat_map(|(module, (_, source))| source.test_modules.iter().map(|name| child(module, name)))
            .collect();
        files.retain(|module, _| !test_modules.iter().any(|test| module.starts_with(test)));
        Self { files }
    }

    fn complaints(&self) -> BTreeSet<String> {
        let files = self.uses();
        let modules = self.of_top_level(&files);
        // A circle of files can be one of modules as well.
        [&files, &modules]
            .into_iter()
            .flat_map(|uses| circles(uses).into_iter().map(|circle| self.complaint(&circle, uses)))
            .collect()
    }

    /// Names the modules of a circle and what each uses of the others.
    fn complaint(&self, circle: &[&Module], uses: &Uses<'_>) -> String {
        let path = |module: &Module| self.files[module].0;
        let within =
            circle.iter().flat_map(|from| uses[*from].iter().map(move |(to, names)| (*from, *to, names)));
        let within = within.filter(|(_, to, _)| circle.contains(to)).map(|(from, to, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{} uses {} of {}", path(from), names.join(", "), path(to))
        });
        format!("modules in a circle: {}", within.collect::<Vec<_>>().join("; "))
    }

    /// The uses of files as uses of the modules below the root that they belong to.
    fn of_top_level<'m>(&'m self, uses: &Uses<'m>) -> Uses<'m> {
        let top = |module: &Module| self.files.get_key_value(module.get(..1)?).map(|(top, _)| top);
        let mut merged: Uses<'_> = BTreeMap::new();
        for (from, others) in uses {
            for (to, names) in others {
                if let (Some(from), Some(to)) = (top(from), top(to))
                    && from != to
                {
                    let merged = merged.entry(from).or_default().entry(to).or_default();
                    merged.extend(names.iter().cloned());
                }
            }
        }
        merged
    }

    /// What files use of others that are neither their ancestors nor their descendants.
    fn uses(&self) -> Uses<'_> {
        let mut uses: Uses<'_> = BTreeMap::new();
        for (module, (_, source)) in &self.files {
            for path in &source.paths {
                if let Some((other, name)) = self.resolve(module, path, HOPS)
                    && !other.starts_with(module)
                    && !module.starts_with(other)
                {
                    uses.entry(module).or_default().entry(other).or_default().insert(name);
                }
            }
        }
        uses
    }

    /// The module that defines the item of a path in another module, and the item's name. `None` outside of the package.
    fn resolve(&self, module: &Module, path: &[String], hops: usize) -> Option<(&Module, String)> {
        let (mut at, mut rest) = (module.clone(), path);
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Module::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while let [first, others @ ..] = rest
                    && first == "super"
                {
                    at.pop()?;
                    rest = others;
                }
            }
            first if self.files.contains_key(&child(module, first)) => {}
            first => {
                let (_, source) = &self.files[module];
                let import = source.imports.get(first).filter(|import| *import != path)?;
                let path = [import.as_slice(), &path[1..]].concat();
                return self.resolve(module, &path, hops.checked_sub(1)?);
            }
        }
        while let [first, others @ ..] = rest
            && self.files.contains_key(&child(&at, first))
        {
            at = child(&at, first);
            rest = others;
        }
        let (found, (_, source)) = self.files.get_key_value(&at)?;
        // The name of a module alone is no use of what is in it.
        let name = rest.first()?;
        let definition = source.imports.get(name).filter(|_| found != module);
        let definition = definition.and_then(|import| {
            let path = [import.as_slice(), &rest[1..]].concat();
            self.resolve(found, &path, hops.checked_sub(1)?)
        });
        Some(definition.unwrap_or_else(|| (found, name.clone())))
    }
}

/// The module of a file below the sources of a package.
fn module(path: &str) -> Module {
    let mut names: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let is_root = names.len() == 1 && matches!(names[0].as_str(), "lib" | "main");
    if is_root || names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

fn child(module: &Module, name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The groups of modules that use each other, also through others.
fn circles<'m>(uses: &Uses<'m>) -> BTreeSet<Vec<&'m Module>> {
    let reachable: BTreeMap<&Module, BTreeSet<&Module>> =
        uses.keys().map(|module| (*module, reachable(uses, module))).collect();
    let circle_of = |(module, reached): (&&'m Module, &BTreeSet<&'m Module>)| {
        let returns = |other: &&&Module| reachable.get(**other).is_some_and(|back| back.contains(*module));
        reached.iter().filter(returns).copied().collect::<Vec<_>>()
    };
    reachable.iter().map(circle_of).filter(|circle| !circle.is_empty()).collect()
}

/// The modules that a module uses, also through others.
fn reachable<'m>(uses: &Uses<'m>, from: &Module) -> BTreeSet<&'m Module> {
    let of = |module: &Module| uses.get(module).into_iter().flat_map(BTreeMap::keys).copied();
    let (mut reached, mut open): (BTreeSet<&Module>, Vec<&Module>) = (BTreeSet::new(), of(from).collect());
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(of(module));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complaints about files below `a/src`.
    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        check(&Tree::of(&files))
    }

    const CIRCLE: &str =
        "modules in a circle: a/src/x.rs uses Y of a/src/y.rs; a/src/y.rs uses f of a/src/x.rs";

    // Invariant: Files of a package do not use each other in a circle, except a file and its child modules.
    #[test]
    fn circle_of_siblings_is_found_with_its_names() {
        let root = ("lib.rs", "mod x; mod y;");
        for (x, y) in [
            ("use crate::y::Y;", "use crate::x::f;"),
            ("use super::{y::Y};", "fn g() { super::x::f() }"),
            ("use super::y::{self}; fn f() -> y::Y {}", "use super::x as z; fn g() { z::f() }"),
        ] {
            let found = complaints(&[root, ("x.rs", x), ("y.rs", y)]);
            assert!(
                found.len() == 1 && found[0].contains("Y") && found[0].contains('f'),
                "{x} {y}: {found:?}"
            );
        }
        assert_eq!(complaints(&[root, ("x.rs", "use crate::y::Y;"), ("y.rs", "use crate::x::f;")]), [CIRCLE]);
    }

    #[test]
    fn circle_of_three_files_of_different_folders_is_found() {
        let found = complaints(&[
            ("main.rs", "mod x; mod y; mod z;"),
            ("x/mod.rs", "mod deep;"),
            ("x/deep.rs", "use super::super::y::Y;"),
            ("y.rs", "use crate::z::Z;"),
            ("z.rs", "use crate::x::deep::D;"),
        ]);
        assert_eq!(found.len(), 2);
        for uses in ["a/src/x/deep.rs uses Y of a/src/y.rs", "a/src/z.rs uses D of a/src/x/deep.rs"] {
            assert!(found[0].contains(uses), "{found:?}");
        }
    }

    // Invariant: Top-level modules of a package do not use each other in a circle.
    #[test]
    fn circle_of_modules_without_a_circle_of_files_is_found() {
        let found = complaints(&[
            ("lib.rs", "mod x; mod y;"),
            ("x/mod.rs", "mod low; mod high;"),
            ("x/low.rs", "pub fn f() {}"),
            ("x/high.rs", "use crate::y::g;"),
            ("y.rs", "use crate::x::low::f; pub fn g() {}"),
        ]);
        assert_eq!(
            found,
            ["modules in a circle: a/src/x/mod.rs uses g of a/src/y.rs; a/src/y.rs uses f of a/src/x/mod.rs"]
        );
    }

    #[test]
    fn parents_and_children_can_use_each_other() {
        let found = complaints(&[
            ("lib.rs", "mod x; use x::X; pub struct App;"),
            ("x/mod.rs", "mod deep; use deep::D; use crate::App;"),
            ("x/deep.rs", "use super::X; use crate::App;"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn uses_in_one_direction_and_in_tests_are_no_circle() {
        let tests = "use crate::x::f;";
        for y in ["", "#[cfg(test)]\nmod tests { use crate::x::f; }", "use other::x::f; // crate::x::f"] {
            let found = complaints(&[
                ("lib.rs", "mod x; mod y; #[cfg(test)] mod samples;"),
                ("x.rs", "use crate::y::Y; use crate::samples::S;"),
                ("y.rs", y),
                ("y/tests.rs", tests),
                ("samples.rs", tests),
            ]);
            assert_eq!(found, Vec::<String>::new(), "{y}");
        }
    }

    // Invariant: Files of a package do not use each other in a circle, except a file and its child modules.
    #[test]
    fn re_exports_are_followed() {
        for root in ["mod x; mod y; pub use x::f;", "mod x; mod y; mod z; pub use z::f;"] {
            let files = [
                ("lib.rs", root),
                ("x.rs", "use crate::y::Y;"),
                ("y.rs", "use crate::f;"),
                ("z.rs", "pub use super::x::f;"),
            ];
            assert_eq!(complaints(&files), [CIRCLE], "{root}");
        }
    }
}
