//! The output of a model that was asked for a summary.

/// What the model wrote, before its citations are checked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// The line after `Description:`.
    pub(super) description: Option<Statement>,
    /// The lines of the list.
    pub(super) points: Vec<Statement>,
    /// The lines that end with a question mark.
    pub(super) questions: Vec<String>,
}

/// A statement with the numbers of the passages that it cites.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) cited: Vec<usize>,
}

/// Longer statements and questions are not used: the model did not keep to its task.
const STATEMENT_CHARS: usize = 600;
const QUESTION_CHARS: usize = 200;
/// The word before the description.
const DESCRIPTION: &str = "description:";

/// Reads the lines of the output. Lines of another form are ignored.
pub(super) fn parse(text: &str) -> Output {
    let mut output = Output::default();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['*', '#', ' ']).replace("**", "");
        let (is_item, item) = without_marker(&line);
        let rest = item.get(..DESCRIPTION.len()).filter(|word| word.eq_ignore_ascii_case(DESCRIPTION));
        if rest.is_some() {
            output.description = statement(&item[DESCRIPTION.len()..]);
        } else if item.ends_with('?') {
            let question = statement(item).map(|it| it.text);
            output.questions.extend(question.filter(|it| it.chars().count() <= QUESTION_CHARS));
        } else if is_item {
            output.points.extend(statement(item));
        } else if let Some(cited) = statement(item).filter(|it| !it.cited.is_empty()) {
            output.points.push(cited);
        }
    }
    output
}

/// The text of a list item, and whether it is one: `- text`, `• text`, `? text` or `1. text`.
fn without_marker(line: &str) -> (bool, &str) {
    let bullet = line.strip_prefix(['-', '•', '–', '?']).map(str::trim_start);
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (after_digits.len() < line.len()).then_some(after_digits);
    let numbered = numbered.and_then(|rest| rest.strip_prefix(['.', ')'])).map(str::trim_start);
    match bullet.or(numbered) {
        Some(item) => (true, item),
        None => (false, line),
    }
}

/// The text without its citations, such as `[3]` or `[3, 4]`.
fn statement(text: &str) -> Option<Statement> {
    let (mut plain, mut cited) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        rest = after;
        let Some((inner, following)) = after.split_once(']') else {
            plain.push('[');
            continue;
        };
        let numbers: Option<Vec<usize>> =
            inner.split([',', ';']).map(|number| number.trim().parse().ok()).collect();
        match numbers {
            Some(numbers) => {
                cited.extend(numbers);
                rest = following;
                plain.truncate(plain.trim_end().len());
            }
            None => plain.push('['),
        }
    }
    plain.push_str(rest);
    let text = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_statement = text.chars().any(char::is_alphabetic) && text.chars().count() <= STATEMENT_CHARS;
    is_statement.then_some(Statement { text, cited })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, cited: &[usize]) -> Statement {
        Statement { text: text.to_owned(), cited: cited.to_vec() }
    }

    #[test]
    fn lines_are_read_in_the_forms_that_models_use() {
        let output = parse(
            "Here is the summary:\n\n**Description:** A manual of a pump [1].\n- It moves water [2].\n* It needs service [2, 3] once \
             a year.\n3. Frost [x] destroys it [4][5]\nCited line [6].\n? How often is service needed?\n- What does frost do?\n",
        );
        assert_eq!(output.description, Some(said("A manual of a pump.", &[1])));
        assert_eq!(
            output.points,
            [
                said("It moves water.", &[2]),
                said("It needs service once a year.", &[2, 3]),
                said("Frost [x] destroys it", &[4, 5]),
                said("Cited line.", &[6]),
            ]
        );
        assert_eq!(output.questions, ["How often is service needed?", "What does frost do?"]);
    }

    #[test]
    fn text_without_the_form_has_no_points() {
        for text in ["", "I cannot summarize this.", "{\"error\": 500}", "- \n- [1]\n[", "Description:"] {
            assert_eq!(parse(text), Output::default(), "{text}");
        }
        let long = format!("- {} [1]\n- {}?", "x".repeat(700), "y".repeat(300));
        assert_eq!(parse(&long), Output::default());
    }
}
