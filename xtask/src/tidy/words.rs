//! Comments, texts and documentation avoid archaic and personifying words.

use super::tree::Tree;

const ALLOW: &str = "tidy: allow-word";
const ENDINGS: [&str; 6] = [".rs", ".md", ".html", ".tera", ".js", ".css"];

/// Words that must not be used, each with a plain replacement. Written in two parts, so that they do not match here.
const DENIED: &[(&str, &str)] = &[
    (concat!("ane", "w"), "again"),
    (concat!("who", "ever"), "the caller"),
    (concat!("nob", "ody"), "no client, no account"),
    (concat!("someb", "ody"), "a client, a user"),
    (concat!("men", "d"), "repair"),
    (concat!("men", "ds"), "repairs"),
    (concat!("men", "ded"), "repaired"),
    (concat!("ami", "ss"), "wrong"),
    (concat!("in va", "in"), "unusable"),
    (concat!("le", "st"), "so that … not"),
    (concat!("there", "of"), "of it"),
    (concat!("is to", "ld"), "receives, returns"),
    (concat!("are to", "ld"), "receive, return"),
    (concat!("be to", "ld"), "receive"),
    (concat!("leads no", "where"), "does not exist"),
    (concat!("of which th", "ere"), "unknown"),
    (concat!("for go", "od"), "permanently"),
    (concat!("as it we", "re"), "leave it out"),
    (concat!("comes ab", "out"), "happens"),
    (concat!("came to its e", "nd"), "ended"),
    (concat!("made vo", "id"), "revoked"),
    (concat!("there no mo", "re"), "deleted"),
];

pub(super) fn check(tree: &Tree) -> Vec<String> {
    tree.all()
        .filter(|(path, _)| ENDINGS.iter().any(|ending| path.ends_with(ending)))
        .flat_map(|(path, text)| in_file(path, text))
        .collect()
}

fn in_file(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut previous = "";
    for (number, line) in (1..).zip(text.lines()) {
        let is_allowed = previous.contains(ALLOW) || line.contains(ALLOW);
        previous = line;
        let lower = line.to_lowercase();
        for (word, instead) in DENIED.iter().filter(|(word, _)| !is_allowed && has_word(&lower, word)) {
            complaints.push(format!("{path}:{number}: write \"{instead}\" instead of \"{word}\""));
        }
    }
    complaints
}

/// Whether `line` contains `word`, not as part of a longer word or identifier.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        !line[..start].ends_with(is_part) && !line[start + word.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denied_word_is_reported_with_its_line_and_replacement() {
        for (word, instead) in DENIED {
            let text = format!("fn f() {{}}\n// Does it {word}.\n");
            let expected = format!("a.rs:2: write \"{instead}\" instead of \"{word}\"");
            assert_eq!(check(&Tree::of(&[("a.rs", &text)])), [expected]);
        }
        let capitalized = format!("{}ody", "Nob");
        assert_eq!(check(&Tree::of(&[("a.html", &capitalized)])).len(), 1);
    }

    #[test]
    fn allowed_lines_longer_words_and_other_files_pass() {
        let word = DENIED[0].0;
        let text =
            format!("{word} // {ALLOW}\n// {ALLOW}: a quotation\n\"{word}\"\nis_{word} {word}ed x{word}\n",);
        assert_eq!(check(&Tree::of(&[("a.rs", &text), ("a.json", word)])), Vec::<String>::new());
    }
}
