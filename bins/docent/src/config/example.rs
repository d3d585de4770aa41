//! Generates the example environment file, deploy/.env.example.

use super::all;
use super::declare::{Default, Setting};
use std::fmt::Write;

/// Line width of comments.
const COLUMNS: usize = 100;

const INTRODUCTION: &str = "\
# Settings of a Docent deployment.
# Generated from bins/docent/src/config by `cargo xtask gen`. Change it there.
#
# Copy this file to `.env` beside compose.yaml, readable only by you:
#
#     install -m 600 .env.example .env
#
# and set the variables that are not commented out; until then neither compose.yaml nor `docent serve` starts.
# All others are commented out and show their defaults. docs/reference/configuration.md describes each
# setting and its values. Put values that contain `$` or `#` in single quotes.

# == Variables of compose.yaml ==

# Passwords of the PostgreSQL and Redis servers. They become part of URLs: letters and digits only.
# Generate each with: openssl rand -hex 32
POSTGRES_PASSWORD=
REDIS_PASSWORD=

# Public host name of the service. Its TLS certificate is obtained and renewed automatically.
#SITE_ADDRESS=localhost

# Published ports of this machine.
#HTTP_PORT=80
#HTTPS_PORT=443

# Tag of the Docent image; `docker compose build` builds it.
#IMAGE_TAG=latest

# Number of API processes and of worker processes.
#SERVE_REPLICAS=1
#WORKER_REPLICAS=1
";

/// Settings that compose.yaml sets itself, because they follow from its services.
const SET_BY_COMPOSE: &[&str] = &[
    "bind_address",
    "data_dir",
    "database_url",
    "otel_exporter_endpoint",
    "qdrant_url",
    "redis_counters_url",
    "redis_url",
    "trusted_proxies",
    "worker_bind_address",
];
/// Optional settings that compose.yaml requires, because each of its servers has a password.
const REQUIRED_BY_COMPOSE: &[&str] = &["qdrant_api_key"];

/// Returns the example environment file. It names every setting and sets none.
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
    let is_required = REQUIRED_BY_COMPOSE.contains(&setting.name);
    let from_compose =
        if SET_BY_COMPOSE.contains(&setting.name) { "Set by compose.yaml for its containers." } else { "" };
    let hint = match (setting.is_secret, setting.name) {
        (_, "secret_key") => "Generate one with: openssl rand -base64 48",
        _ if is_required => "Required by compose.yaml; generate one with: openssl rand -hex 32",
        _ => "",
    };
    let mut text = String::from("\n");
    let words = meaning.chain(default.split(' ')).chain(from_compose.split(' '));
    wrap(words.filter(|word| !word.is_empty()), &mut text);
    wrap(hint.split(' ').filter(|word| !word.is_empty()), &mut text);
    let _ = match setting.serve {
        Default::Unset(words) if is_required || words.starts_with("must be set") => {
            writeln!(text, "{}=", setting.variable())
        }
        Default::Text("[]") | Default::Computed { .. } | Default::Unset(_) => {
            writeln!(text, "#{}=", setting.variable())
        }
        Default::Text(default) => writeln!(text, "#{}={default}", setting.variable()),
    };
    text
}

/// Appends words as comment lines, wrapped.
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
