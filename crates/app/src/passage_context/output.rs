//! The output of a model that was asked for lines of context.

/// Longer lines are not used: the model did not keep to its task.
const LINE_CHARACTERS: usize = 400;

/// Returns the line of each of `count` passages. Of several lines for a passage, the first one.
pub(super) fn parse(text: &str, count: usize) -> Vec<Option<String>> {
    let mut lines = vec![None; count];
    for (number, line) in text.lines().filter_map(numbered) {
        if let Some(place @ None) = number.checked_sub(1).and_then(|n| lines.get_mut(n)) {
            *place = usable(line);
        }
    }
    lines
}

/// The number at the beginning of a line, and the rest: `[1] text`, `1. text`, `1) text`, `1: text` or `- [1] text`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(['-', '*', '•', ' ', '\t']);
    let (is_bracketed, line) = line.strip_prefix('[').map_or((false, line), |rest| (true, rest));
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = line.get(..line.len() - rest.len())?.parse().ok()?;
    let ends: &[char] = if is_bracketed { &[']'] } else { &['.', ')', ':'] };
    Some((number, rest.strip_prefix(ends)?))
}

/// The line without emphasis and repeated white space, if it has words and is not too long.
fn usable(line: &str) -> Option<String> {
    let line = line.trim_start_matches([':', '-', '–', ' ']).replace("**", "").replace(char::is_control, " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_usable = line.chars().any(char::is_alphabetic) && line.chars().count() <= LINE_CHARACTERS;
    is_usable.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_the_forms_that_models_use() {
        let output = "Here are the lines:\n[1] Annual report of Amcor,  2023: sales\n2. **Notes** on debt\n- [3]: Board\n4) Index\n[1] again\n5: Cover\n";
        let expected = ["Annual report of Amcor, 2023: sales", "Notes on debt", "Board", "Index", "Cover"];
        assert_eq!(parse(output, 5), expected.map(|line| Some(line.to_owned())));
        assert_eq!(parse("[2] Second", 2), [None, Some("Second".to_owned())]);
    }

    #[test]
    fn unusable_output_has_no_lines() {
        let long = format!("[1] {}", "word ".repeat(81));
        let texts = [
            "",
            "I cannot do that.",
            "{\"1\": \"x\"}",
            "[1]",
            "[1] ...",
            "[0] x",
            "[3] x",
            "[99999999999999999999999] x",
        ];
        for text in texts.into_iter().chain(["[1 x", "1 x", long.as_str()]) {
            assert_eq!(parse(text, 2), [None, None], "{text}");
        }
        assert_eq!(parse("[1] x", 0), []);
        assert_eq!(parse("[1] a\u{0}b\u{7}", 1), [Some("a b".to_owned())]);
    }
}
