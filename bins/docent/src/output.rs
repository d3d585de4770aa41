//! Results: on standard output, as text for people or as one JSON object a line for programs.

use docent::cli::OutputArgs;
use serde_json::Value;
use std::{
    fmt,
    io::{self, ErrorKind, Write},
};

/// Standard output has not taken a result.
#[derive(Debug)]
pub(crate) struct Unwritten(io::Error);

impl Unwritten {
    /// Whether nobody reads it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.kind() == ErrorKind::BrokenPipe
    }
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("writing to standard output")
    }
}

impl std::error::Error for Unwritten {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Writes a result in the form that is wanted.
///
/// # Errors
/// When standard output takes no more, as when whoever read it has gone.
pub(crate) fn result(
    output: OutputArgs,
    text: impl FnOnce() -> String,
    object: impl FnOnce() -> Value,
) -> Result<(), Unwritten> {
    writeln!(io::stdout(), "{}", line(output, text, object)).map_err(Unwritten)
}

/// A result in the form that is wanted, for commands that write it themselves.
pub(crate) fn line(
    output: OutputArgs,
    text: impl FnOnce() -> String,
    object: impl FnOnce() -> Value,
) -> String {
    if output.json { escaped(&object().to_string()) } else { text() }
}

/// Writes a piece of text as it comes.
///
/// # Errors
/// As [`result`].
pub(crate) fn piece(text: &str) -> Result<(), Unwritten> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Unwritten)
}

/// JSON without what a terminal would take for a command: its own escapes leave a few control characters be.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() {
            escaped += &format!("\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Text of a server on one line, without what a terminal would take for a command.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The same for text of several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_server_gives_the_terminal_no_commands() {
        assert_eq!(printable("a\u{1b}]0;title\u{7}b\nü"), "a ]0;title b ü");
        assert_eq!(printable_lines("a\u{1b}[2J\tb\r\n\u{9b}31mü"), "a [2J\tb \n 31mü");
    }

    #[test]
    fn an_object_is_one_line_that_says_what_it_said() {
        let object = json!({ "text": "a\n\u{1b}\u{7f}\u{9b}é" });
        let line = line(OutputArgs { json: true }, String::new, || object.clone());
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), object);
    }
}
