//! Makes scripts smaller, without changing their names.

/// Characters that separate words of a script, so that no space is needed beside them.
const PUNCTUATION: &str = ",;:?=<>&|!(){}[]+-*%";
/// Words after which a slash begins a regular expression.
const BEFORE_PATTERNS: [&str; 5] = ["return", "typeof", "case", "of", "in"];

/// Characters after which a line break ends no statement.
const BEFORE_BREAKS: &str = ",;:?=&|({[";
/// Characters before which a line break ends no statement, or one that ends there anyway.
const AFTER_BREAKS: &str = "})].?:,&|";

/// Removes comments, indentation, the space around punctuation, and line breaks that end no statement from a script. Texts and
/// regular expressions stay.
pub(crate) fn minified(script: &str) -> String {
    let script = stripped(script);
    let mut small = String::with_capacity(script.len());
    let mut rest = script.as_str();
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '"' | '\'' | '`' => text_length(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if can_begin_pattern(&small) => pattern_length(rest),
            ' ' if is_needless(small.chars().next_back(), rest[1..].chars().next()) => {
                rest = &rest[1..];
                continue;
            }
            '\n' if is_needless_break(small.chars().next_back(), rest[1..].chars().next()) => {
                rest = &rest[1..];
                continue;
            }
            other => other.len_utf8(),
        };
        let (kept, after) = rest.split_at(length);
        small.push_str(kept);
        rest = after;
    }
    small
}

/// Removes indentation, empty lines and comments from the page or a script, which have no text over several lines or with `; // `.
pub(crate) fn stripped(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let without_comment =
        |line| str::split_once(line, "; // ").map_or([line, "\n"], |(code, _)| [code, ";\n"]);
    lines.flat_map(without_comment).collect()
}

fn is_needless(before: Option<char>, after: Option<char>) -> bool {
    let separates = |character: Option<char>| character.is_none_or(|of| PUNCTUATION.contains(of));
    // `a + +b` is not `a ++b`.
    let is_sign = before == after && matches!(before, Some('+' | '-'));
    (separates(before) || separates(after)) && !is_sign
}

fn is_needless_break(before: Option<char>, after: Option<char>) -> bool {
    let is_in = |character: Option<char>, set: &str| character.is_some_and(|of| set.contains(of));
    after.is_some() && (is_in(before, BEFORE_BREAKS) || is_in(after, AFTER_BREAKS))
}

/// Length of the text in quotes at the beginning.
fn text_length(script: &str) -> usize {
    let quote = script.as_bytes().first().copied();
    let mut at = 1;
    while let Some(byte) = script.as_bytes().get(at).copied() {
        at += match byte {
            b'\\' => 2,
            b'$' if quote == Some(b'`') && script[at..].starts_with("${") => {
                2 + expression_length(&script[at + 2..])
            }
            _ if Some(byte) == quote => return at + 1,
            _ => 1,
        };
    }
    script.len()
}

/// Length of an expression within a text, with the brace that ends it.
fn expression_length(script: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = script.as_bytes().get(at).copied() {
        match byte {
            b'"' | b'\'' | b'`' => at += text_length(&script[at..]) - 1,
            b'{' => depth += 1,
            b'}' if depth == 0 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    script.len()
}

/// Whether a slash after this script begins a regular expression, and does not divide.
fn can_begin_pattern(before: &str) -> bool {
    let before = before.trim_end_matches(' ');
    let is_operator =
        |last: char| last == '\n' || PUNCTUATION.contains(last) && !matches!(last, ')' | ']' | '}');
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    before.chars().next_back().is_none_or(is_operator) || BEFORE_PATTERNS.contains(&word)
}

/// Length of the regular expression at the beginning.
fn pattern_length(script: &str) -> usize {
    let (mut at, mut is_class) = (1, false);
    while let Some(byte) = script.as_bytes().get(at).copied() {
        match byte {
            b'\\' => at += 1,
            b'[' => is_class = true,
            b']' => is_class = false,
            b'/' if !is_class => return at + 1,
            b'\n' => return at,
            _ => {}
        }
        at += 1;
    }
    script.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_removed_outside_of_texts_and_patterns() {
        for (script, small) in [
            ("const { a, b } = c ? d : [e, f];", "const{a,b}=c?d:[e,f];"),
            (
                "x = \"a, b\" + 'c, d' + `e, ${f ? `g, ${h}` : \"}\"} , i`;",
                "x=\"a, b\"+'c, d'+`e, ${f ? `g, ${h}` : \"}\"} , i`;",
            ),
            ("return /a , [/ ] , \\/ /.test(b, c);", "return /a , [/ ] , \\/ /.test(b,c);"),
            ("a = b / c, d / e;", "a=b / c,d / e;"),
            ("a = b + +c - -d + e++;", "a=b+ +c- -d+e++;"),
            ("t(\"It\\\\\", a, \"b, c\")", "t(\"It\\\\\",a,\"b, c\")"),
            ("f(a, { // Why; { , (\n  b,\n  c\n});\nlet d;", "f(a,{b,c});let d;"),
            ("a = b\n  .c()\n  ? d\n  : e\nf = (\ng\n)\n++h", "a=b.c()?d:e\nf=(g)\n++h"),
            ("return\n(a)\n[b].c()\n`d`", "return\n(a)\n[b].c()\n`d`"),
        ] {
            assert_eq!(minified(script), format!("{small}\n"));
        }
    }
}
