//! Prints results to standard output, as text or as JSON with one object per line.

use clap::ColorChoice;
use docent::cli::OutputArgs;
use serde_json::Value;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// `1 page`, `2 pages`.
pub(crate) fn pluralize(number: impl fmt::Display, what: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// When output is coloured; `auto` until the arguments are known.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// A standard stream.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// The value of `--color` among arguments that have not been parsed yet.
pub(crate) fn requested_color(arguments: impl IntoIterator<Item = OsString>) -> ColorChoice {
    let arguments: Vec<String> =
        arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let is_option = arguments.iter().take_while(|argument| *argument != "--").enumerate();
    let values = is_option.filter_map(|(number, argument)| match argument.strip_prefix("--color")? {
        "" => arguments.get(number + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    });
    values.last().and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// Sets when output is coloured.
pub(crate) fn set_color(choice: ColorChoice) {
    COLOR.get_or_init(|| choice);
}

/// Whether what is written to a stream is coloured.
pub(crate) fn has_color(stream: Stream) -> bool {
    let is_terminal = || match stream {
        Stream::Output => io::stdout().is_terminal(),
        Stream::Error => io::stderr().is_terminal(),
    };
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match COLOR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // https://no-color.org
        ColorChoice::Auto => {
            !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb") && is_terminal()
        }
    }
}

/// Colours a status, or another word about an outcome: green for success, red for failures, yellow for others. It may be padded.
pub(crate) fn paint(word: &str) -> String {
    if !has_color(Stream::Output) {
        return word.to_owned();
    }
    let color = match word.trim_end() {
        "ingested" | "ok" | "passed" | "repaired" => 32,
        "failed" | "refused" | "found" => 31,
        _ => 33,
    };
    format!("\x1b[{color}m{word}\x1b[0m")
}

/// Writing to standard output failed.
#[derive(Debug)]
pub(crate) struct OutputError(io::Error);

impl OutputError {
    /// Whether the reader closed the pipe.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.kind() == ErrorKind::BrokenPipe
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("writing to standard output")
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Prints a result in the selected format.
///
/// # Errors
/// If standard output cannot be written to, for example because the reader closed the pipe.
pub(crate) fn print(
    output: OutputArgs,
    text: impl FnOnce() -> String,
    object: impl FnOnce() -> Value,
) -> Result<(), OutputError> {
    writeln!(io::stdout(), "{}", format(output, text, object)).map_err(OutputError)
}

/// Formats a result, for commands that write it themselves.
pub(crate) fn format(
    output: OutputArgs,
    text: impl FnOnce() -> String,
    object: impl FnOnce() -> Value,
) -> String {
    if output.json { escape_controls(&object().to_string()) } else { text() }
}

/// Prints text without a line break and flushes it.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_text(text: &str) -> Result<(), OutputError> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(OutputError)
}

/// Escapes the control characters that JSON permits, since a terminal could interpret them.
fn escape_controls(json: &str) -> String {
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

/// Replaces control characters by spaces, so that text from a server cannot control the terminal.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Like [`sanitize`], but keeps line breaks and tabs.
pub(crate) fn sanitize_lines(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sanitize_replaces_control_characters() {
        assert_eq!(sanitize("a\u{1b}]0;title\u{7}b\nü"), "a ]0;title b ü");
        assert_eq!(sanitize_lines("a\u{1b}[2J\tb\r\n\u{9b}31mü"), "a [2J\tb \n 31mü");
    }

    #[test]
    fn requested_color_is_the_last_value_before_the_separator() {
        let requested = |line: &str| requested_color(line.split_whitespace().map(OsString::from));
        assert_eq!(requested("docent --color never documents list"), ColorChoice::Never);
        assert_eq!(requested("docent documents list --color=always"), ColorChoice::Always);
        assert_eq!(requested("docent --color=never ask --color always"), ColorChoice::Always);
        for other in ["docent", "docent --color", "docent --color=blue", "docent ask -- --color=always"] {
            assert_eq!(requested(other), ColorChoice::Auto, "{other}");
        }
    }

    #[test]
    fn json_is_one_line_without_control_characters() {
        let object = json!({ "text": "a\n\u{1b}\u{7f}\u{9b}é" });
        let line = format(OutputArgs { json: true }, String::new, || object.clone());
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), object);
    }
}
