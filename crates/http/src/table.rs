//! Route tables as values.

use crate::settings::HttpSettings;
use std::collections::BTreeSet;

/// Paths with their methods. `GET` includes `HEAD`.
pub type Table = &'static [(&'static str, &'static [&'static str])];

/// Returns the pattern that matches a path.
pub fn pattern_of(tables: &[Table], path: &str) -> Option<&'static str> {
    let segments =
        |path: &'_ str| -> Vec<String> { path.trim_matches('/').split('/').map(str::to_owned).collect() };
    let asked = segments(path);
    let fits = |pattern: &&str| {
        let known = segments(pattern);
        let same = |(known, asked): (&String, &String)| known.starts_with('{') || known == asked;
        known.len() == asked.len() && known.iter().zip(&asked).all(same)
    };
    tables.iter().copied().flatten().map(|(pattern, _)| *pattern).find(fits)
}

/// Returns the methods of all paths, separated by commas.
pub fn methods(tables: &[Table]) -> String {
    let listed = tables.iter().copied().flatten().flat_map(|(_, methods)| methods.iter().copied());
    let all: BTreeSet<&str> = listed.chain(["HEAD"]).collect();
    all.into_iter().collect::<Vec<_>>().join(", ")
}

/// Whether a path is a health or metrics path that exists with these settings. Such requests are exempt from the rate limit.
pub fn is_probe(settings: &HttpSettings, path: &str) -> bool {
    is_watched(path) && is_there(settings, path)
}

/// Whether a path is a health or metrics path, whether or not it exists with these settings.
pub fn is_watched(path: &str) -> bool {
    path.starts_with("/health/") || is_metrics(path)
}

/// Whether a path exists with these settings.
pub fn is_there(settings: &HttpSettings, path: &str) -> bool {
    settings.metrics.is_some() || !is_metrics(path)
}

fn is_metrics(path: &str) -> bool {
    path.trim_end_matches('/') == "/metrics"
}
