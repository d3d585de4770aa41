//! The generated reference and example, and the Compose file that uses its variables.

use super::*;

// Invariant: The settings reference matches the parser.
#[test]
fn configuration_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/configuration.md");
    let written = fs::read_to_string(path).unwrap();
    assert!(written == reference(), "docs/reference/configuration.md is out of date: run `cargo xtask gen`");
}

/// The assignments in the example: whether active or commented out, name and value.
fn example_lines(text: &str) -> Vec<(bool, &str, &str)> {
    text.lines()
        .filter_map(|line| {
            let (is_set, line) = match line.strip_prefix('#') {
                Some(line) => (false, line),
                None => (true, line),
            };
            let (name, value) = line.split_once('=')?;
            let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            name.chars().all(is_name).then_some((is_set, name, value))
        })
        .collect()
}

#[test]
fn example_environment_is_up_to_date_and_complete() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/.env.example");
    let written = fs::read_to_string(path).unwrap();
    assert!(written == environment_example(), "deploy/.env.example is out of date: run `cargo xtask gen`");
    let lines = example_lines(&written);
    let settings = lines.iter().map(|(_, name, _)| *name).filter(|name| name.starts_with("DOCENT_"));
    assert_eq!(settings.collect::<Vec<_>>(), all().iter().map(Setting::variable).collect::<Vec<_>>());
    for line in written.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        assert!(line == "#" || example_lines(line).len() == 1, "neither a comment nor an assignment: {line}");
    }
}

#[test]
fn example_environment_sets_nothing() {
    let example = environment_example();
    let lines = example_lines(&example);
    let set = lines.iter().filter(|(is_set, ..)| *is_set).map(|(_, name, value)| (*name, *value));
    assert!(set.clone().all(|(_, value)| value.is_empty()), "{set:?}", set = set.collect::<Vec<_>>());
    assert_eq!(variables(serve(&set.collect::<Vec<_>>())), ["DOCENT_SECRET_KEY", "DOCENT_DATABASE_URL"]);
    // The commented-out values are the defaults: with the two required settings they change nothing.
    let defaults = lines.iter().map(|(_, name, value)| (*name, *value));
    let given = [KEY, DATABASE];
    let all: Vec<_> =
        defaults.filter(|(name, _)| !given.iter().any(|(known, _)| known == name)).chain(given).collect();
    let shown = |loaded: Loaded| loaded.effective.into_iter().map(|one| one.shown).collect::<Vec<_>>();
    assert_eq!(shown(serve(&all).unwrap()), shown(serve(&given).unwrap()));
    assert!(serve(&all).unwrap().warnings.is_empty());
}

#[test]
fn compose_variables_are_in_example_environment() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let compose = fs::read_to_string(folder.join("compose.yaml")).unwrap();
    let example = environment_example();
    let lines = example_lines(&example);
    let is_required = |name: &str| lines.iter().any(|(is_set, other, _)| *is_set && *other == name);
    let mut required = Vec::new();
    // `$$` is an escaped dollar sign.
    for (at, _) in compose.match_indices("${").filter(|(at, _)| !compose[..*at].ends_with('$')) {
        let expression = &compose[at + 2..];
        let name: String =
            expression.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        assert!(lines.iter().any(|(_, other, _)| *other == name), "{name} is not in .env.example");
        if expression[name.len()..].starts_with(":?") {
            assert!(is_required(&name), "{name} is commented out in .env.example, but required");
            required.push(name);
        }
    }
    required.sort();
    required.dedup();
    assert_eq!(
        required,
        ["DOCENT_QDRANT_API_KEY", "DOCENT_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"]
    );
    // Unknown settings would be ignored with only a warning.
    let known: Vec<String> = all().iter().map(Setting::variable).collect();
    let names = compose.lines().filter_map(|line| line.trim().split_once(": ")).map(|(name, _)| name);
    let odd = names.filter(|name| name.starts_with("DOCENT_") && !known.iter().any(|known| known == name));
    assert_eq!(odd.collect::<Vec<_>>(), Vec::<&str>::new());
}
