//! Checks the links between Markdown pages: their targets exist, and pages of the book link only to files in `docs/`.

use super::tree::Tree;

/// The directory that mdBook makes a site of.
const BOOK: &str = "docs/";
const CONTENTS: &str = "docs/SUMMARY.md";

pub(super) fn check(tree: &Tree) -> Vec<String> {
    let pages = || tree.all().filter(|(path, _)| path.ends_with(".md"));
    let links = pages().flat_map(|(path, text)| {
        targets(text)
            .into_iter()
            .filter_map(move |target| Some(format!("{path}: {}", wrong(tree, path, &target)?)))
    });
    let contents = tree.get(CONTENTS).map(targets).unwrap_or_default();
    let is_listed = |path: &str| contents.iter().any(|target| path.strip_prefix(BOOK) == Some(target));
    let unlisted = pages()
        .map(|(path, _)| path)
        .filter(|path| path.starts_with(BOOK) && *path != CONTENTS && !is_listed(path));
    let unlisted = unlisted.map(|path| format!("{path}: {CONTENTS} does not list it"));
    links.chain(unlisted).collect()
}

/// What is wrong with the target of a link on a page.
fn wrong(tree: &Tree, page: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { page.to_owned() } else { resolve(page, path)? };
    if page.starts_with(BOOK) && !file.starts_with(BOOK) {
        return Some(format!("the link {target} leads out of {BOOK} and is dead in the site"));
    }
    let folder = format!("{}/", file.trim_end_matches('/'));
    let Some(text) = tree.get(&file) else {
        let is_folder = tree.all().any(|(other, _)| other.starts_with(&folder));
        return (!is_folder && !tree.has_binary(&file))
            .then(|| format!("the link {target} leads to no file"));
    };
    let has_anchor =
        anchor.is_empty() || !file.ends_with(".md") || anchors(text).any(|known| known == anchor);
    (!has_anchor).then(|| format!("the link {target} leads to no heading"))
}

/// The path of a file that a page names; none above the root.
fn resolve(page: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The lines of a page outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of the links within the repository.
fn targets(text: &str) -> Vec<String> {
    // A link can be broken between two lines.
    let text = prose(text).collect::<Vec<_>>().join("\n");
    let parts = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let is_local = |target: &str| {
        !target.contains("://") && !target.starts_with("mailto:") && !target.contains(char::is_whitespace)
    };
    parts.map(|(target, _)| target.to_owned()).filter(|target| is_local(target)).collect()
}

/// The anchors of the headings, as GitHub and mdBook name them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text)
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    headings.map(|heading| {
        let letters = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        letters.collect::<String>().to_lowercase().replace(' ', "-")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_links_and_links_out_of_the_book_are_reported() {
        let page = "# A `b`: c\n[x](b/c.md#one-more) [y](#a-b-c) [z](https://example.org)\n```\n[no](link)\n```\n\
                    [d](../README.md) [e](b/none.md) [f](b/c.md#none) [g](b)\n";
        let tree = Tree::of(&[
            ("README.md", "[a](docs/a.md)"),
            ("docs/a.md", page),
            ("docs/b/c.md", "## One more\n[a](../a.md)\n[a broken\nlink](d.json) ![an image](i.png)"),
            ("docs/b/d.json", "{}"),
            ("docs/b/unlisted.md", ""),
            (CONTENTS, "- [A](a.md)\n- [C](b/c.md)\n"),
        ])
        .with_binary("docs/b/i.png");
        assert_eq!(
            check(&tree),
            [
                "docs/a.md: the link ../README.md leads out of docs/ and is dead in the site",
                "docs/a.md: the link b/none.md leads to no file",
                "docs/a.md: the link b/c.md#none leads to no heading",
                "docs/b/unlisted.md: docs/SUMMARY.md does not list it",
            ]
        );
    }
}
