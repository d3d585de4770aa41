//! Names of clients, from what they call themselves in the header `User-Agent`.

use crate::language::t;

/// Browsers with their marks. Many name others too, so the first one counts.
const BROWSERS: [(&str, &str); 6] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
/// Operating systems with their marks; that of Android names Linux, and that of iOS macOS.
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

/// Names a client: a browser and its system, or the first product of another program, such as `curl/8.5.0`.
pub(super) fn name(agent: &str) -> String {
    let known = |names: &[(&str, &'static str)]| {
        names.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    match (known(&BROWSERS), known(&SYSTEMS)) {
        (Some(browser), Some(system)) => t!("client-on", browser = browser, system = system),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => agent.split_whitespace().next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_programs_are_named() {
        let named = |agent: &str, expected: &str| assert_eq!(name(agent), expected);
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        named(
            &format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/140.0 Safari/537.36"),
            "Chrome on Linux",
        );
        named(
            &format!("Mozilla/5.0 (Windows NT 10.0; Win64) {webkit} Chrome/140.0 Safari/537.36 Edg/140.0"),
            "Edge on Windows",
        );
        named(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
            "Safari on iOS",
        );
        named("Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox on Android");
        named("curl/8.5.0", "curl/8.5.0");
        named("python-requests/2.32 (Linux)", "python-requests/2.32");
        named("", "");
    }
}
