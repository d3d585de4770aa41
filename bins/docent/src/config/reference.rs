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
what is accepted. An unknown `DOCENT_` variable is a warning. Settings of the previous release that have another name, or none, are a
warning that says what to do.

Most installations set only some of these:

";

/// The settings that most installations set.
const FIRST: [&str; 10] = [
    "data_dir",
    "database_url",
    "secret_key",
    "bind_address",
    "public_url",
    "trusted_proxies",
    "upload_types",
    "llm_base_url",
    "llm_model",
    "llm_api_key",
];

fn first_sentence(meaning: &str) -> &str {
    meaning.trim().split_inclusive(". ").next().unwrap_or_default().trim_end()
}

/// Returns the reference in Markdown.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for name in FIRST {
        if let Some(setting) = all().iter().find(|setting| setting.name == name) {
            page += &format!("- `{}`: {}\n", setting.variable(), first_sentence(setting.meaning));
        }
    }
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
