//! Parses any environment: a byte that chooses the profile, then lines of `NAME=value`. Names may lack the prefix.
#![no_main]

use docent::config::{self, Environment, Profile, Settings};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::sync::LazyLock;

/// A password. It must not be shown where it is a secret or the password of a URL.
const SECRET: &str = "hunter2";
static SECRETS: LazyLock<Vec<String>> = LazyLock::new(|| {
    config::all()
        .iter()
        .filter(|setting| setting.kind == "secret")
        .map(|setting| setting.variable())
        .collect()
});

fuzz_target!(|data: &[u8]| {
    let Some((profile, lines)) = data.split_first() else { return };
    let profile = if profile % 2 == 0 { Profile::Dev } else { Profile::Serve };
    let mut variables = BTreeMap::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Some(at) = line.iter().position(|byte| *byte == b'=') else { continue };
        let (Ok(name), value) = (std::str::from_utf8(&line[..at]), &line[at + 1..]) else { continue };
        let name = if name.starts_with("DOCENT_") { name.to_owned() } else { format!("DOCENT_{name}") };
        // The fuzzer must not choose file names, and an environment cannot contain NUL.
        if !name.ends_with("_FILE") && !line.contains(&0) {
            variables.insert(name, OsString::from_vec(value.to_vec()));
        }
    }
    let is_hidden = hides(&variables);
    let said = match Settings::load(profile, &Environment::of(variables.clone())) {
        Ok(loaded) => {
            assert_eq!(loaded.effective.len(), config::all().len(), "every setting has a value");
            format!("{:?}\n{:?}\n{:?}", loaded.settings, loaded.effective, loaded.warnings)
        }
        Err(problems) => {
            assert!(!problems.0.is_empty(), "a refusal says why");
            for problem in &problems.0 {
                let known = config::all().iter().any(|setting| setting.variable() == problem.variable);
                assert!(known && !problem.wrong.is_empty() && !problem.accepted.is_empty(), "{problem:?}");
            }
            format!("{problems}\n{problems:?}")
        }
    };
    assert!(!is_hidden || !said.contains(SECRET), "{said}");
});

/// Whether the password appears, and only where it must not be shown.
fn hides(variables: &BTreeMap<String, OsString>) -> bool {
    let holders = || variables.iter().filter_map(|(name, value)| Some((name, value.to_str()?)));
    let mut holders =
        holders().filter(|(name, value)| name.contains(SECRET) || value.contains(SECRET)).peekable();
    let is_password = |value: &str| {
        let address = value.trim();
        ["postgres", "redis", "http"].iter().any(|scheme| address.starts_with(scheme))
            && address.split_once("://").is_some_and(|(_, rest)| {
                rest.split_once('@')
                    .is_some_and(|(user, host)| user.ends_with(":hunter2") && !host.contains(SECRET))
            })
    };
    holders.peek().is_some()
        && holders
            .all(|(name, value)| !name.contains(SECRET) && (SECRETS.contains(name) || is_password(value)))
}
