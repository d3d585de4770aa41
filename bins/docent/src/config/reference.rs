//! Generates the reference of all settings, docs/reference/configuration.md.

use super::all;
use super::declare::{Default, Setting};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from bins/docent/src/config by `cargo xtask gen`. Change it there. -->

Settings are environment variables. Each can also be read from a file: `DOCENT_X_FILE` is the path of a file that
contains the value of `DOCENT_X`. An empty variable counts as not set, unless its description says otherwise.

- Durations are numbers of seconds or have units: `15m`, `1h30m`, `250ms`.
- Sizes are numbers of bytes or have units: `50MiB`.
- Lists are JSON (`[\"a\", \"b\"]`) or separated by commas (`a,b`).
- Booleans are `true`, `yes`, `on`, `1` and `false`, `no`, `off`, `0`.

Invalid values prevent the start; all of them are reported together, each with the variable's name, what is wrong and
what is accepted. An unknown `DOCENT_` variable is a warning.
";

/// Returns the reference in Markdown.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = "";
    for setting in all() {
        if setting.section != section {
            section = setting.section;
            let _ = write!(
                page,
                "\n## {section}\n\n| variable | type | default of `dev` | default of `serve` | meaning |\n|---|---|---|---|---|\n"
            );
        }
        page += &line(&setting);
    }
    page
}

fn line(setting: &Setting) -> String {
    let meaning = setting.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
    let (dev, serve) = (words(setting.dev), words(setting.serve));
    format!("| `{}` | {} | {dev} | {serve} | {meaning} |\n", setting.variable(), setting.kind)
}

fn words(default: Default) -> String {
    match default {
        Default::Text("[]") => "empty".to_owned(),
        Default::Text(text) => format!("`{text}`"),
        Default::Computed { words, .. } | Default::Unset(words) => words.to_owned(),
    }
}
