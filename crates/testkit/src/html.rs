//! Texts of HTML pages.

use std::collections::BTreeSet;

/// Attributes whose values people read or hear.
const SHOWN_ATTRIBUTES: [&str; 6] = ["alt", "aria-label", "data-id", "data-label", "placeholder", "title"];

/// Texts of a page that people read or hear: between tags, and in attributes. Code and keys are not texts.
pub fn texts(html: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for piece in html.split('<') {
        let (tag, text) = piece.split_once('>').unwrap_or(("", piece));
        if !tag.starts_with("code") && !tag.starts_with("kbd") {
            found.insert(text.trim().to_owned());
        }
        for attribute in SHOWN_ATTRIBUTES {
            let value = tag.split(&format!(" {attribute}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            found.extend(value.map(str::to_owned));
        }
    }
    found.retain(|text| text.contains(char::is_alphabetic));
    found
}
