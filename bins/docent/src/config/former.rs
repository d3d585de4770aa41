//! Former settings: those whose values still apply for a release, and those that are ignored.

use super::declare::variable;
use super::value::Value;
use url::form_urlencoded;

/// How the value of a former setting becomes the value of a current one, or a part of it.
enum Part {
    /// It is the whole value.
    Value,
    /// It is an item of a list, after this text.
    Item(&'static str),
    /// It is a parameter of a URL with this name.
    Parameter(&'static str),
}

/// Former settings whose values still apply, each with the setting that has them now.
const MOVED: &[(&str, &str, Part)] = &[
    ("account_answers", "account_limits", Part::Item("answers=")),
    ("account_page_images_per_hour", "account_limits", Part::Item("page_images_per_hour=")),
    ("account_stored_bytes", "account_limits", Part::Item("stored_bytes=")),
    ("account_tokens_per_day", "account_limits", Part::Item("tokens_per_day=")),
    ("client_history_tokens", "history_tokens", Part::Value),
    ("redis_sentinel_password", "redis_url", Part::Parameter("sentinel_password")),
    ("redis_sentinel_password", "redis_counters_url", Part::Parameter("sentinel_password")),
    ("redis_sentinels", "redis_url", Part::Parameter("sentinels")),
    ("redis_sentinels", "redis_counters_url", Part::Parameter("sentinels")),
    ("s3_endpoint", "blob_store", Part::Parameter("endpoint")),
    ("s3_region", "blob_store", Part::Parameter("region")),
    ("s3_virtual_hosted", "blob_store", Part::Parameter("virtual_hosted")),
];

/// Former settings that are ignored, and why.
const REMOVED: &[(&str, &str)] = &[
    ("api_key_answers", "keys share the limits of their account"),
    ("api_key_page_images_per_hour", "keys share the limits of their account"),
    ("api_key_tokens_per_day", "keys share the limits of their account"),
    (
        "conversation_history_tokens",
        "stored conversations send 4,000 tokens unless DOCENT_HISTORY_TOKENS is set",
    ),
    ("email_verification_ttl", "links to confirm an address are valid for three days"),
    ("ingest_attempts", "documents fail after three attempts"),
    ("ingest_max_characters", "documents have at most 20,000 chunks"),
    ("ingest_max_chunks", "documents have at most 20,000 chunks"),
    ("ingest_max_pages", "documents have at most 10,000 pages"),
    (
        "llm_answer_timeout",
        "a response takes at most 15 minutes, or 15 times DOCENT_LLM_TIMEOUT if that is longer",
    ),
    ("ocr_timeout", "the recognition of a page takes at most 60 seconds"),
    ("passage_context", "passages are found without lines written by a model"),
    ("password_reset_ttl", "links to reset a password are valid for an hour"),
    ("qdrant_replicas", "Qdrant has storage.collection.replication_factor"),
    ("qdrant_shards", "Qdrant has storage.collection.shard_number_per_node"),
    ("refresh_rotation_grace", "replaced refresh tokens can be used for 30 seconds"),
    ("rerank_candidates", "50 candidates suit every reranker"),
    ("s3_allow_http", "http:// in the endpoint of DOCENT_BLOB_STORE says the same"),
    ("s3_session_token", "temporary keys are read from AWS_SESSION_TOKEN and the other AWS_… variables"),
];

/// What is wrong with a former variable, and what to do about it; `None` if the name is not that of a former setting.
pub(super) fn advice(name: &str) -> Option<(&'static str, String)> {
    if let Some((_, setting, part)) = MOVED.iter().find(|(former, ..)| variable(former) == name) {
        let setting = variable(setting);
        let advice = match part {
            Part::Value => format!("set {setting}"),
            Part::Item(before) => format!("add {before}… to {setting}"),
            Part::Parameter(name) => format!("add the parameter {name}=… to {setting}"),
        };
        return Some(("is read for the last time in this release", advice));
    }
    let (_, reason) = REMOVED.iter().find(|(former, _)| variable(former) == name)?;
    Some(("is no longer a setting and is ignored", format!("remove it: {reason}")))
}

/// The text of a setting with the values of former settings, which `read` returns. The current setting takes precedence.
pub(super) fn merge<Source>(
    setting: &str,
    mut text: Option<(String, Source)>,
    read: impl Fn(&str) -> Result<Option<(String, Source)>, String>,
) -> Result<Option<(String, Source)>, String> {
    for (former, _, part) in MOVED.iter().filter(|(_, current, _)| *current == setting) {
        let Some((value, source)) = read(former)? else { continue };
        // A list of sentinels could be JSON.
        let listed = former.ends_with("sentinels").then(|| Vec::<String>::parse(&value)).transpose()?;
        let value = listed.map_or(value, |all| all.join(","));
        let value = value.trim();
        text = match (text, part) {
            (None, Part::Value) => Some((value.to_owned(), source)),
            (None, Part::Item(before)) => Some((format!("{before}{value}"), source)),
            // Of items with the same name, the last one applies.
            (Some((text, source)), Part::Item(before)) => Some((format!("{before}{value},{text}"), source)),
            (Some((text, source)), Part::Parameter(name)) if text.contains("://") && !is_local(&text) => {
                let separator = if text.contains('?') { '&' } else { '?' };
                let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
                Some((format!("{}{separator}{name}={value}", text.trim()), source))
            }
            (text, _) => text,
        };
    }
    Ok(text)
}

/// Whether the URL of a store is that of a part of this process, which has no parameters.
fn is_local(url: &str) -> bool {
    ["file://", "memory://"].iter().any(|scheme| url.trim_start().starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, KeyValueUrl, Profile, Settings, all};
    use std::collections::BTreeSet;

    fn former_variables() -> BTreeSet<String> {
        let moved = MOVED.iter().map(|(former, ..)| former);
        moved.chain(REMOVED.iter().map(|(former, _)| former)).map(|name| variable(name)).collect()
    }

    #[test]
    fn former_settings_are_warned_about_and_name_a_current_one() {
        let known: BTreeSet<String> = all().iter().map(|setting| setting.variable()).collect();
        assert!(former_variables().is_disjoint(&known));
        assert!(MOVED.iter().all(|(_, current, _)| known.contains(&variable(current))));
        for suffix in ["", "_FILE"] {
            let environment =
                Environment::of(former_variables().into_iter().map(|name| (name + suffix, "/dev/null")));
            let warnings = Settings::inspect(Profile::Dev, &environment).warnings;
            assert_eq!(warnings.len(), former_variables().len());
            for warning in warnings {
                let name = warning.variable.strip_suffix(suffix).unwrap();
                assert_eq!(Some((warning.wrong.as_str(), warning.advice)), advice(name));
            }
        }
    }

    #[test]
    fn values_of_former_settings_apply_unless_the_current_one_is_set() {
        let read = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(name, value)| (variable(name), *value));
            Settings::load(Profile::Dev, &Environment::of(variables)).unwrap().settings
        };
        let limits = read(&[
            ("account_answers", "3"),
            ("account_stored_bytes", "2MiB"),
            ("account_limits", "tokens_per_day=7,answers=5"),
        ]);
        let limits = limits.limits.account_limits;
        assert_eq!((limits.answers, limits.stored_bytes, limits.tokens_per_day), (5, 2 * 1024 * 1024, 7));
        assert_eq!(read(&[("account_answers", "3")]).limits.account_limits.answers, 3);
        assert_eq!(read(&[("client_history_tokens", "9")]).agent.history_tokens, Some(9));
        let both = [("client_history_tokens", "9"), ("history_tokens", "8")];
        assert_eq!(read(&both).agent.history_tokens, Some(8));
        let s3 = [("s3_endpoint", "http://127.0.0.1:9000"), ("s3_virtual_hosted", "true")];
        let shown = |settings: Settings| crate::config::value::Value::show(&settings.storage.blob_store);
        assert!(shown(read(&s3)).starts_with("file://"));
        assert_eq!(
            shown(read(
                &[&s3[..], &[("blob_store", "s3://b/p?region=eu-1"), ("s3_region", "us-1")]].concat()
            )),
            "s3://b/p?endpoint=http://127.0.0.1:9000&region=eu-1&virtual_hosted=true"
        );
        let redis = [("redis_url", "redis://docent/0"), ("redis_sentinels", r#"["a:26379", "b:26379"]"#)];
        let KeyValueUrl::Redis(url) = read(&redis).storage.redis_url else { panic!("no server") };
        assert_eq!(url.sentinels().unwrap(), ["a:26379", "b:26379"]);
    }
}
