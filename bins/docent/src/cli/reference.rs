//! Generates the command-line reference, docs/reference/cli.md.

use super::visible;
use clap::{Arg, Command};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# The command line

<!-- Generated from bins/docent/src/cli by `cargo xtask gen`. Change it there. -->

`docent COMMAND --help` shows the same for one command, and `docent man --out DIR` writes manual pages. For typical
uses see [The command line as a client](../how-to/command-line.md).

- **Results** go to standard output, progress and errors to standard error.
- **`--json`** prints each result as one JSON object per line. Later versions may add fields but do not remove any.
- **`--color auto|always|never`** says when output is coloured; `auto`, the default, on a terminal, unless the variable `NO_COLOR` is set.
- **Exit codes**: 0 for success, 1 for failure, 2 for an invalid command line; commands with other codes list them.
- Commands with `--server` are clients of a running service. Commands with `--dev` use the stores of an installation
  directly: those in the [settings](configuration.md) of `docent serve`, or with `--dev` those of `docent dev`.
";

/// Returns the reference in Markdown.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut all = visible();
    all.build();
    for command in all.get_subcommands() {
        describe(&mut page, command, "docent");
    }
    page
}

/// Adds a command, or each of its subcommands.
fn describe(page: &mut String, command: &Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    if command.has_subcommands() {
        for below in command.get_subcommands() {
            describe(page, below, &name);
        }
        return;
    }
    let about = command.get_long_about().or(command.get_about());
    let about = with_full_stop(about.map(ToString::to_string).unwrap_or_default());
    let _ = write!(page, "\n## {name}\n\n{about}\n\n```sh\n{}\n```\n", usage(command, &name));
    let lines: Vec<String> = arguments(command).map(line).collect();
    if !lines.is_empty() {
        let _ = write!(page, "\n| | |\n|---|---|\n{}", lines.concat());
    }
}

/// The usage line of a command.
fn usage(command: &Command, name: &str) -> String {
    let has_options = arguments(command).any(|arg| !arg.is_positional() && !arg.is_required_set());
    let needed = arguments(command).filter(|arg| !arg.is_positional() && arg.is_required_set());
    let needed = needed.map(|arg| format!(" {}", form(arg)));
    let positional = command.get_positionals().map(|arg| {
        let many = if arg.get_num_args().is_some_and(|range| range.max_values() > 1) { "…" } else { "" };
        let form = form(arg);
        if arg.is_required_set() { format!(" {form}{many}") } else { format!(" [{form}{many}]") }
    });
    let options = if has_options { " [OPTIONS]" } else { "" };
    format!("{name}{}{options}{}", needed.collect::<String>(), positional.collect::<String>())
}

/// An argument with its value placeholder.
fn form(arg: &Arg) -> String {
    let id = arg.get_id().as_str().to_uppercase();
    let value = arg.get_value_names().and_then(|names| names.first()).map_or(id, ToString::to_string);
    match arg.get_long() {
        Some(long) if arg.get_action().takes_values() => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None => value,
    }
}

/// The arguments of a command, without those that every command has.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version" | "color"))
}

/// Adds the full stop that clap removes from help texts.
fn with_full_stop(mut sentence: String) -> String {
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

fn line(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = with_full_stop(help.split_whitespace().collect::<Vec<_>>().join(" "));
    let values = arg.get_possible_values();
    if arg.get_action().takes_values() && !values.is_empty() {
        let names: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        let _ = write!(meaning, " One of {}.", names.join(", "));
    }
    if let Some(default) = arg.get_default_values().first().filter(|_| arg.get_action().takes_values()) {
        let _ = write!(meaning, " Default: `{}`.", default.to_string_lossy());
    }
    if let Some(variable) = arg.get_env() {
        let _ = write!(meaning, " Also read from `{}`.", variable.to_string_lossy());
    }
    format!("| `{}` | {} |\n", form(arg), meaning.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn cli_reference_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
        let written = fs::read_to_string(path).unwrap_or_default();
        assert!(written == reference(), "docs/reference/cli.md is out of date: run `cargo xtask gen`");
    }

    #[test]
    fn reference_lists_commands_and_arguments() {
        let reference = reference();
        for text in [
            "## docent ingest\n",
            "## docent documents show\n",
            "docent ingest [OPTIONS] FILES…",
            "docent apikeys create --name NAME --scopes SCOPES [OPTIONS] EMAIL",
            "docent users list [OPTIONS] [TEXT]",
            "| `--concurrency N` | Files uploaded at the same time, 1 to 16. Default: `4`. |",
            "Also read from `DOCENT_SERVER`.",
            "One of `pending`, `ingested`, `failed`.",
        ] {
            assert!(reference.contains(text), "{text}\n{reference}");
        }
        assert!(!reference.contains("extract-worker") && !reference.contains("docent help"));
    }
}
