//! The reference of all settings.

use super::{
    all,
    declare::{Default, Setting},
};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from bins/docent/src/config by `cargo xtask gen`. Change it there. -->

Settings are environment variables. Each can also be read from a file: `DOCENT_X_FILE` names the file that
holds the value of `DOCENT_X`. A variable that is set to nothing counts as not set.

- Durations are numbers of seconds or carry units: `15m`, `1h30m`, `250ms`.
- Sizes are numbers of bytes or carry units: `50MiB`.
- Lists are JSON (`[\"a\", \"b\"]`) or separated by commas (`a,b`).
- Booleans are `true`, `yes`, `on`, `1` and `false`, `no`, `off`, `0`.

A value that cannot be read stops the start with the variable's name, what is wrong with it and what is
accepted; all such problems are reported together. An unknown `DOCENT_` variable is a warning.
";

/// The reference in Markdown: docs/reference/configuration.md.
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
