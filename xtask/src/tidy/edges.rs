//! Who may depend on whom: the table of docs/ARCHITECTURE.md as data.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A package of the workspace.
#[derive(Debug, PartialEq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Dependency {
    /// The package's own name, also when it is renamed.
    pub(super) name: String,
    /// Whether only tests, examples and benches see it.
    pub(super) is_dev: bool,
    /// Whether it is a package of the workspace.
    pub(super) is_ours: bool,
}

/// What a package may depend on.
struct Rule {
    package: &'static str,
    /// Packages of the workspace that its code may see.
    ours: &'static [&'static str],
    /// Those that only its tests may see.
    ours_in_tests: &'static [&'static str],
    outside: Outside,
}

enum Outside {
    /// These crates alone, in tests too.
    Only(&'static [&'static str]),
    /// Any but those of these lists, in tests too. A name that ends in `*` stands for all that begin so.
    AllBut(&'static [&'static [&'static str]]),
}
use Outside::{AllBut, Only};

const SQL: &[&str] = &["sea-orm*", "sqlx*"];
const KEY_VALUE: &[&str] = &["redis*", "deadpool-redis"];
const INDEXES: &[&str] = &["qdrant-client", "tantivy*", "tonic*"];
const HTTP: &[&str] = &["reqwest"];
const TELEMETRY: &[&str] = &["opentelemetry*", "tracing-opentelemetry"];
/// What receives requests and reads arguments.
const SURFACES: &[&str] = &["actix-*", "clap", "tera"];

const CLIENTS: &[&[&str]] = &[SQL, KEY_VALUE, INDEXES, HTTP, TELEMETRY, &["actix-*", "tera"]];
const NOT_FOR_PAGES: &[&[&str]] = &[SQL, KEY_VALUE, INDEXES, HTTP, TELEMETRY, &["clap"]];
const NOT_FOR_HTTP: &[&[&str]] = &[SQL, KEY_VALUE, INDEXES, HTTP, TELEMETRY, &["clap", "tera"]];

const RULES: &[Rule] = &[
    Rule {
        package: "docent-domain",
        ours: &[],
        ours_in_tests: &[],
        outside: Only(&["chrono", "thiserror", "unicode-normalization", "uuid"]),
    },
    Rule {
        package: "docent-text",
        ours: &["docent-domain"],
        ours_in_tests: &[],
        outside: Only(&[
            "frostem",
            "hypher",
            "thiserror",
            "unicode-normalization",
            "unicode-segmentation",
            "uuid",
        ]),
    },
    Rule {
        package: "docent-answerer",
        ours: &["docent-domain", "docent-ports", "docent-text"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(CLIENTS),
    },
    Rule {
        package: "docent-ports",
        ours: &["docent-domain"],
        ours_in_tests: &[],
        outside: Only(&[
            "async-trait",
            "bytes",
            "chrono",
            "futures-core",
            "serde",
            "thiserror",
            "tracing",
            "uuid",
        ]),
    },
    Rule {
        package: "docent-app",
        ours: &["docent-domain", "docent-ports", "docent-text"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(CLIENTS),
    },
    Rule {
        package: "docent-http-client",
        ours: &[],
        ours_in_tests: &[],
        outside: Only(&["reqwest", "rustls", "rustls-platform-verifier", "thiserror"]),
    },
    Rule {
        package: "docent-sql",
        ours: &["docent-domain", "docent-migration", "docent-ports"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(&[KEY_VALUE, INDEXES, HTTP, TELEMETRY, SURFACES]),
    },
    Rule {
        package: "docent-index",
        ours: &["docent-domain", "docent-http-client", "docent-ports", "docent-text"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(&[SQL, KEY_VALUE, TELEMETRY, SURFACES]),
    },
    Rule {
        package: "docent-extraction",
        ours: &["docent-domain", "docent-ports", "docent-text"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(&[SQL, KEY_VALUE, INDEXES, HTTP, TELEMETRY, SURFACES]),
    },
    Rule {
        package: "docent-models",
        ours: &["docent-domain", "docent-http-client", "docent-ports", "docent-text"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(&[SQL, KEY_VALUE, INDEXES, TELEMETRY, SURFACES]),
    },
    Rule {
        package: "docent-services",
        ours: &["docent-domain", "docent-http-client", "docent-ports"],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(&[SQL, INDEXES, TELEMETRY, SURFACES]),
    },
    Rule {
        package: "docent-http",
        ours: &["docent-app", "docent-domain"],
        ours_in_tests: &["docent-ports", "docent-testkit"],
        outside: AllBut(NOT_FOR_HTTP),
    },
    Rule {
        package: "docent-api",
        ours: &["docent-app", "docent-domain", "docent-http"],
        ours_in_tests: &["docent-ports", "docent-testkit"],
        outside: AllBut(NOT_FOR_HTTP),
    },
    Rule {
        package: "docent-web",
        ours: &["docent-app", "docent-domain", "docent-http"],
        ours_in_tests: &["docent-ports", "docent-testkit"],
        outside: AllBut(NOT_FOR_PAGES),
    },
    Rule {
        package: "docent-server",
        ours: &["docent-api", "docent-app", "docent-http", "docent-web"],
        ours_in_tests: &["docent-ports", "docent-testkit"],
        outside: AllBut(NOT_FOR_HTTP),
    },
    Rule {
        package: "docent-testkit",
        ours: &["docent-domain", "docent-ports"],
        ours_in_tests: &[],
        outside: AllBut(CLIENTS),
    },
    Rule {
        package: "docent-tests",
        ours: &[
            "docent",
            "docent-answerer",
            "docent-app",
            "docent-domain",
            "docent-extraction",
            "docent-index",
            "docent-models",
            "docent-ports",
            "docent-server",
            "docent-services",
            "docent-sql",
            "docent-testkit",
        ],
        ours_in_tests: &[],
        outside: AllBut(&[&["sea-orm*", "sqlx*"]]),
    },
    Rule {
        package: "docent",
        ours: &[
            "docent-answerer",
            "docent-app",
            "docent-domain",
            "docent-extraction",
            "docent-http",
            "docent-http-client",
            "docent-index",
            "docent-migration",
            "docent-models",
            "docent-ports",
            "docent-server",
            "docent-services",
            "docent-sql",
            "docent-text",
        ],
        ours_in_tests: &["docent-testkit"],
        outside: AllBut(&[]),
    },
    Rule {
        package: "docent-migration",
        ours: &[],
        ours_in_tests: &[],
        outside: AllBut(&[&["actix-*", "reqwest", "tera"]]),
    },
    Rule {
        package: "xtask",
        ours: &[
            "docent-domain",
            "docent-extraction",
            "docent-index",
            "docent-models",
            "docent-ports",
            "docent-sql",
            "docent-testkit",
            "docent-text",
        ],
        ours_in_tests: &[],
        outside: AllBut(&[]),
    },
];

/// Reads the workspace's packages from `cargo metadata`.
pub(super) fn packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    parse(&serde_json::from_slice(&output.stdout)?)
}

fn parse(metadata: &Value) -> anyhow::Result<Vec<Package>> {
    let package = |package: &Value| {
        let dependency = |dependency: &Value| {
            Some(Dependency {
                name: dependency["name"].as_str()?.to_owned(),
                is_dev: dependency["kind"].as_str() == Some("dev"),
                is_ours: dependency["path"].is_string(),
            })
        };
        let dependencies = package["dependencies"].as_array()?.iter().map(dependency);
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            dependencies: dependencies.collect::<Option<_>>()?,
        })
    };
    let packages = metadata["packages"].as_array().context("packages in cargo metadata")?;
    packages.iter().map(package).collect::<Option<_>>().context("names and dependencies in cargo metadata")
}

pub(super) fn check(packages: &[Package]) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in packages {
        let Some(rule) = RULES.iter().find(|rule| rule.package == package.name) else {
            complaints.push(format!("{}: a package without a rule in xtask/src/tidy/edges.rs", package.name));
            continue;
        };
        let broken = package.dependencies.iter().filter(|dependency| !rule.allows(dependency));
        complaints.extend(broken.map(|dependency| {
            let kind = if dependency.is_dev { "dev-depend" } else { "depend" };
            format!("{}: must not {kind} on {}", package.name, dependency.name)
        }));
    }
    complaints
}

impl Rule {
    fn allows(&self, dependency: &Dependency) -> bool {
        let name = dependency.name.as_str();
        if dependency.is_ours {
            return self.ours.contains(&name) || dependency.is_dev && self.ours_in_tests.contains(&name);
        }
        let fits = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *pattern,
        };
        match self.outside {
            Only(allowed) => allowed.contains(&name),
            AllBut(forbidden) => !forbidden.iter().copied().flatten().any(fits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What `cargo metadata` says of a package with one dependency.
    fn sample(package: &str, dependency: &str, kind: Option<&str>) -> Vec<Package> {
        let path = dependency.starts_with("docent").then_some("/somewhere");
        let dependency =
            json!({"name": dependency, "kind": kind, "path": path, "rename": "other", "target": null});
        parse(&json!({"packages": [{"name": package, "dependencies": [dependency]}]})).unwrap()
    }

    // Invariant: Crates depend on each other in one direction only, and adapter crates not on each other.
    #[test]
    fn a_forbidden_edge_is_named() {
        for (package, dependency) in [
            ("docent-domain", "serde"),
            ("docent-domain", "tokio"),
            ("docent-domain", "tracing"),
            ("docent-domain", "docent-ports"),
            ("docent-ports", "serde_json"),
            ("docent-ports", "tokio"),
            ("docent-ports", "docent-app"),
            ("docent-app", "actix-web"),
            ("docent-app", "sea-orm"),
            ("docent-app", "redis"),
            ("docent-app", "qdrant-client"),
            ("docent-app", "reqwest"),
            ("docent-app", "tera"),
            ("docent-app", "docent-sql"),
            ("docent-app", "docent-server"),
            ("docent-app", "docent-testkit"),
            ("docent-server", "sea-orm-migration"),
            ("docent-server", "redis"),
            ("docent-server", "reqwest"),
            ("docent-server", "opentelemetry_sdk"),
            ("docent-services", "tracing-opentelemetry"),
            ("docent-server", "docent-services"),
            ("docent-server", "docent-ports"),
            ("docent-http", "docent-api"),
            ("docent-http", "docent-ports"),
            ("docent-http", "tera"),
            ("docent-api", "docent-web"),
            ("docent-api", "docent-server"),
            ("docent-web", "docent-api"),
            ("docent-web", "reqwest"),
            ("docent-http-client", "docent-domain"),
            ("docent-http-client", "tokio"),
            ("docent-sql", "docent-app"),
            ("docent-sql", "docent-index"),
            ("docent-sql", "docent-services"),
            ("docent-sql", "reqwest"),
            ("docent-index", "docent-models"),
            ("docent-index", "sea-orm"),
            ("docent-extraction", "docent-http-client"),
            ("docent-extraction", "docent-models"),
            ("docent-extraction", "qdrant-client"),
            ("docent-extraction", "reqwest"),
            ("docent-extraction", "sea-orm"),
            ("docent-models", "docent-extraction"),
            ("docent-models", "tantivy"),
            ("docent-services", "docent-server"),
            ("docent-services", "docent-sql"),
            ("docent-services", "actix-web"),
            ("docent-testkit", "docent-services"),
            ("docent-testkit", "docent-app"),
            ("docent-testkit", "docent-server"),
            ("docent-migration", "docent-domain"),
            ("docent", "docent-testkit"),
            ("docent", "xtask"),
        ] {
            let sample = if dependency == "xtask" {
                let ours = Dependency { name: "xtask".into(), is_dev: false, is_ours: true };
                vec![Package { name: package.into(), dependencies: vec![ours] }]
            } else {
                sample(package, dependency, None)
            };
            assert_eq!(check(&sample), [format!("{package}: must not depend on {dependency}")]);
        }
    }

    #[test]
    fn an_allowed_edge_is_not() {
        for (package, dependency, kind) in [
            ("docent-domain", "thiserror", None),
            ("docent-ports", "docent-domain", None),
            ("docent-app", "tokio", None),
            ("docent-app", "docent-testkit", Some("dev")),
            ("docent-sql", "sea-orm", None),
            ("docent-index", "tantivy", None),
            ("docent-models", "docent-http-client", None),
            ("docent-services", "docent-testkit", Some("dev")),
            ("docent-server", "actix-web", None),
            ("docent-web", "tera", None),
            ("docent-api", "docent-http", None),
            ("docent", "docent-sql", None),
        ] {
            assert_eq!(
                check(&sample(package, dependency, kind)),
                Vec::<String>::new(),
                "{package} {dependency}"
            );
        }
    }

    #[test]
    fn tests_may_see_more_of_ours_but_nothing_forbidden_from_outside() {
        assert_eq!(
            check(&sample("docent-app", "reqwest", Some("dev"))),
            ["docent-app: must not dev-depend on reqwest"]
        );
        assert_eq!(check(&sample("docent-domain", "tokio", Some("dev"))).len(), 1);
        assert_eq!(check(&sample("docent-sql", "docent-app", Some("dev"))).len(), 1);
        assert_eq!(check(&sample("docent-sql", "docent-services", Some("dev"))).len(), 1);
        assert_eq!(check(&sample("docent-app", "docent-testkit", Some("build"))).len(), 1);
        assert_eq!(check(&sample("docent-domain", "cc", Some("build"))).len(), 1);
    }

    #[test]
    fn a_package_without_a_rule_is_named() {
        assert_eq!(check(&sample("docent-extra", "serde", None)).len(), 1);
    }
}
