//! The example of an environment that sets everything.

use super::{
    all,
    declare::{Default, Setting},
};
use std::fmt::Write;

/// Where lines of the example are broken.
const COLUMNS: usize = 100;

const INTRODUCTION: &str = "\
# Settings of a Docent deployment.
# Generated from bins/docent/src/config by `cargo xtask gen`. Change it there.
#
# Copy this file to `.env` beside compose.yaml, readable by yourself alone:
#
#     install -m 600 .env.example .env
#
# and fill in what stands here without a value; until then neither compose.yaml nor `docent serve` starts.
# Everything else is commented out and shows its default. docs/reference/configuration.md says what each
# setting means and which values it takes. Put values with `$` or `#` into single quotes.

# == What compose.yaml asks for beside settings ==

# The passwords of the two servers that it starts. Both become part of URLs: letters and digits only.
# Make each with: openssl rand -hex 32
POSTGRES_PASSWORD=
REDIS_PASSWORD=

# The host name under which people reach the service; its certificate is fetched and renewed by itself.
#SITE_ADDRESS=localhost

# The ports of this machine that are published.
#HTTP_PORT=80
#HTTPS_PORT=443

# The image of Docent to run; `docker compose build` makes it.
#IMAGE_TAG=latest

# How many processes answer requests, and how many work on uploads.
#SERVE_REPLICAS=1
#WORKER_REPLICAS=1
";

/// Settings that `compose.yaml` gives the containers itself, for they follow from its services.
const SET_BY_COMPOSE: &[&str] = &[
    "bind_address",
    "data_dir",
    "database_url",
    "otel_exporter_endpoint",
    "qdrant_url",
    "redis_url",
    "trusted_proxies",
    "worker_bind_address",
];
/// Settings with an optional value that `compose.yaml` demands: no server of it is without a password.
const DEMANDED_BY_COMPOSE: &[&str] = &["qdrant_api_key"];

/// The example of an environment: deploy/.env.example. It names every setting, and gives none a value.
pub fn environment_example() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = "";
    for setting in all() {
        if setting.section != section {
            section = setting.section;
            let _ = write!(page, "\n# == {section} ==\n");
        }
        page += &example(&setting);
    }
    page
}

fn example(setting: &Setting) -> String {
    let meaning = setting.meaning.split_whitespace();
    let default = match setting.serve {
        Default::Text(_) => String::new(),
        Default::Computed { words, .. } | Default::Unset(words) => format!("Default: {words}."),
    };
    let is_demanded = DEMANDED_BY_COMPOSE.contains(&setting.name);
    let from_compose =
        if SET_BY_COMPOSE.contains(&setting.name) { "compose.yaml sets it for its containers." } else { "" };
    let make = match (setting.is_secret, setting.name) {
        (_, "secret_key") => "Make one with: openssl rand -base64 48",
        _ if is_demanded => "compose.yaml asks for it; make one with: openssl rand -hex 32",
        _ => "",
    };
    let mut text = String::from("\n");
    let words = meaning.chain(default.split(' ')).chain(from_compose.split(' '));
    wrap(words.filter(|word| !word.is_empty()), &mut text);
    wrap(make.split(' ').filter(|word| !word.is_empty()), &mut text);
    let _ = match setting.serve {
        Default::Unset(words) if is_demanded || words.starts_with("must be set") => {
            writeln!(text, "{}=", setting.variable())
        }
        Default::Text("[]") | Default::Computed { .. } | Default::Unset(_) => {
            writeln!(text, "#{}=", setting.variable())
        }
        Default::Text(default) => writeln!(text, "#{}={default}", setting.variable()),
    };
    text
}

/// Writes words as comment lines.
fn wrap<'w>(words: impl Iterator<Item = &'w str>, text: &mut String) {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && line.len() + 1 + word.len() > COLUMNS {
            let _ = writeln!(text, "#{line}");
            line.clear();
        }
        line.push(' ');
        line.push_str(word);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "#{line}");
    }
}
