//! The reference of the command line.

use super::visible;
use clap::{Arg, Command};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# The command line

<!-- Generated from bins/docent/src/cli by `cargo xtask gen`. Change it there. -->

`docent COMMAND --help` says the same of one command, and `docent man --out DIR` writes manual pages. How they play
together: [The command line as a client](../how-to/command-line.md).

- **Results** go to standard output, progress and what is wrong to standard error.
- **`--json`** makes each result a JSON object on a line of its own. Fields may be added later, none is taken away.
- **Exit codes**: 0 when all was done, 1 when it was not, 2 for a command line that cannot be read; commands with others say so.
- Commands with `--server` are clients of a running service. Those with `--dev` work on an installation itself: on the one that the
  [settings](configuration.md) of `docent serve` lead to, or with `--dev` on the one of `docent dev`.
";

/// The reference in Markdown: docs/reference/cli.md.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut all = visible();
    all.build();
    for command in all.get_subcommands() {
        describe(&mut page, command, "docent");
    }
    page
}

/// Adds a command, or each of those below it.
fn describe(page: &mut String, command: &Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    if command.has_subcommands() {
        for below in command.get_subcommands() {
            describe(page, below, &name);
        }
        return;
    }
    let about = command.get_long_about().or(command.get_about());
    let about = ended(about.map(ToString::to_string).unwrap_or_default());
    let _ = write!(page, "\n## {name}\n\n{about}\n\n```sh\n{}\n```\n", usage(command, &name));
    let lines: Vec<String> = arguments(command).map(line).collect();
    if !lines.is_empty() {
        let _ = write!(page, "\n| | |\n|---|---|\n{}", lines.concat());
    }
}

/// How the command is typed.
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

/// How an argument is typed.
fn form(arg: &Arg) -> String {
    let id = arg.get_id().as_str().to_uppercase();
    let value = arg.get_value_names().and_then(|names| names.first()).map_or(id, ToString::to_string);
    match arg.get_long() {
        Some(long) if arg.get_action().takes_values() => format!("--{long} {value}"),
        Some(long) => format!("--{long}"),
        None => value,
    }
}

/// What the command takes, but for what every command does.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
}

/// The sentence with the full stop that help texts leave out.
fn ended(mut sentence: String) -> String {
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

fn line(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = ended(help.split_whitespace().collect::<Vec<_>>().join(" "));
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
    use std::{fs, path::Path};

    #[test]
    fn the_reference_in_the_documentation_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
        let written = fs::read_to_string(path).unwrap_or_default();
        assert!(written == reference(), "docs/reference/cli.md is out of date: run `cargo xtask gen`");
    }

    #[test]
    fn every_command_and_argument_is_in_it() {
        let reference = reference();
        for part in [
            "## docent ingest\n",
            "## docent documents show\n",
            "docent ingest [OPTIONS] FILES…",
            "docent apikeys create --name NAME --scopes SCOPES [OPTIONS] EMAIL",
            "docent users list [OPTIONS] [TEXT]",
            "| `--concurrency N` | How many files are uploaded at once, 1 to 16. Default: `4`. |",
            "Also read from `DOCENT_SERVER`.",
            "One of `pending`, `ingested`, `failed`.",
        ] {
            assert!(reference.contains(part), "{part}\n{reference}");
        }
        assert!(!reference.contains("extract-worker") && !reference.contains("docent help"));
    }
}
