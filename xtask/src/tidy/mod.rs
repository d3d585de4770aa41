//! Rules of the workspace that the compiler does not check.
//!
//! Each check is a function of the tree (and of `cargo metadata`) that gives complaints, so that its
//! own tests can hand it a tree that breaks the rule.

mod batteries;
mod circles;
mod documents;
mod edges;
mod glossary;
pub(crate) mod invariants;
mod leftovers;
mod length;
mod links;
mod manifest;
mod tree;
mod words;

use anyhow::bail;
use std::path::Path;
use tree::Tree;

/// Runs every check on the workspace at `root`.
///
/// # Errors
/// When there is a complaint: all of them at once.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let complaints = complaints(root)?;
    if !complaints.is_empty() {
        bail!("the workspace is not tidy:\n  {}", complaints.join("\n  "));
    }
    println!("tidy");
    Ok(())
}

/// The page of invariants of the workspace at `root`.
///
/// # Errors
/// If files cannot be read, or if an invariant is not above a test.
pub(crate) fn invariants(root: &Path) -> anyhow::Result<String> {
    invariants::page(&Tree::read(root)?).map_err(|complaints| anyhow::anyhow!(complaints.join("\n")))
}

fn complaints(root: &Path) -> anyhow::Result<Vec<String>> {
    let tree = Tree::read(root)?;
    let packages = edges::packages(root)?;
    let found = [
        edges::check(&packages),
        documents::check(&tree, &packages),
        glossary::check(&tree),
        invariants::check(&tree),
        length::check(&tree),
        links::check(&tree),
        batteries::check(&tree),
        circles::check(&tree),
        leftovers::check(&tree),
        manifest::check(&tree, &packages),
        words::check(&tree),
    ];
    Ok(found.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Invariant: Crates depend on each other in one direction only, and adapter crates not on each other.
    #[test]
    fn the_workspace_is_tidy() {
        let complaints = complaints(&crate::root().unwrap()).unwrap();
        assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    }
}
