mod generated;
mod secrets;
mod sign_in;
mod values;

use super::*;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const KEY: (&str, &str) = ("DOCENT_SECRET_KEY", "Zq3vK0yJm8sW1tR7uX4bN6cF9hL2pD5g");
const DATABASE: (&str, &str) =
    ("DOCENT_DATABASE_URL", "postgresql+asyncpg://ada:hunter2@db/docent?sslmode=require");

fn dev(variables: &[(&str, &str)]) -> Result<Loaded, Problems> {
    Settings::load(Profile::Dev, &Environment::of(variables.iter().copied()))
}

fn serve(variables: &[(&str, &str)]) -> Result<Loaded, Problems> {
    Settings::load(Profile::Serve, &Environment::of(variables.iter().copied()))
}

fn variables(problems: Result<Loaded, Problems>) -> Vec<String> {
    problems.unwrap_err().0.into_iter().map(|problem| problem.variable).collect()
}

#[test]
fn dev_defaults_are_embedded_and_complete() {
    let loaded = dev(&[]).unwrap();
    let Settings { service, http, accounts, limits, storage, models, .. } = loaded.settings.clone();
    let Settings { ingestion, agent, telemetry, mail, webhooks, .. } = loaded.settings;
    assert_eq!((service.app_name.as_str(), service.debug), ("Docent", false));
    assert_eq!(service.data_dir, Path::new("./docent-data"));
    assert_eq!(http.bind_address, SocketAddr::from(([127, 0, 0, 1], 8000)));
    assert!(http.trusted_proxies.is_empty() && http.cors_allowed_origins.is_empty());
    assert_eq!(ingestion.max_upload_bytes, ByteSize(50 * 1024 * 1024));
    assert_eq!(accounts.secret_key, None);
    assert!(mail.smtp_url.is_none() && accounts.secret_key_previous.is_empty());
    assert_eq!(accounts.auth_backends, [AuthBackend::Jwt, AuthBackend::ApiKey]);
    assert_eq!(accounts.access_token_ttl, Duration::from_secs(15 * 60));
    assert_eq!(accounts.refresh_token_ttl, Duration::from_secs(30 * 86_400));
    assert_eq!((limits.login_max_failures, limits.login_failure_period), (10, Duration::from_secs(900)));
    assert_eq!((limits.rate_limit_requests, limits.rate_limit_period), (300, Duration::from_secs(60)));
    assert_eq!(storage.database_url, DatabaseUrl::Sqlite("./docent-data/docent.db".into()));
    assert_eq!(storage.redis_url, KeyValueUrl::Memory);
    assert_eq!(storage.blob_store, BlobStoreUrl::File("./docent-data/blobs".into()));
    assert_eq!(storage.vector_db, VectorDb::Embedded);
    assert_eq!(models.llm_base_url, None);
    assert_eq!(models.embedding_provider, EmbeddingProvider::Builtin);
    assert_eq!(
        (models.llm_timeout, models.embedding_timeout),
        (Duration::from_secs(60), Duration::from_secs(30))
    );
    assert!(ingestion.ingest_concurrency >= 1);
    assert_eq!((agent.agent_max_iterations, agent.search_limit), (10, 5));
    assert!(!telemetry.tracing_enabled && !telemetry.metrics_enabled);
    assert!(!webhooks.webhook_allow_private);
}

#[test]
fn serve_defaults_use_external_back_ends() {
    let settings = serve(&[KEY, DATABASE]).unwrap().settings;
    assert!(!settings.webhooks.webhook_allow_private);
    let storage = settings.storage;
    let DatabaseUrl::Postgres(url) = storage.database_url else { panic!("no server") };
    assert_eq!(url.expose(), "postgres://ada:hunter2@db/docent?sslmode=require");
    let KeyValueUrl::Redis(url) = storage.redis_url else { panic!("no server") };
    assert_eq!(url.expose(), "redis://127.0.0.1:6379/0");
    assert_eq!(storage.vector_db, VectorDb::Qdrant);
    assert_eq!(storage.qdrant_url.as_str(), "http://127.0.0.1:6333");
}

#[test]
fn serve_with_sqlite_uses_embedded_back_ends_and_production_checks() {
    let sqlite = ("DOCENT_DATABASE_URL", "sqlite:///var/lib/docent/docent.db");
    let storage = serve(&[KEY, sqlite]).unwrap().settings.storage;
    assert_eq!(storage.database_url, DatabaseUrl::Sqlite("/var/lib/docent/docent.db".into()));
    assert_eq!((storage.redis_url, storage.vector_db), (KeyValueUrl::Memory, VectorDb::Embedded));
    assert_eq!(variables(serve(&[sqlite])), ["DOCENT_SECRET_KEY"]);
    assert_eq!(variables(serve(&[sqlite, ("DOCENT_SECRET_KEY", "short")])), ["DOCENT_SECRET_KEY"]);
}

#[test]
fn worker_needs_no_secret_key_but_refuses_a_weak_one() {
    let worker = |variables: &[(&str, &str)]| {
        Settings::load(Profile::Worker, &Environment::of(variables.iter().copied()))
    };
    let settings = worker(&[DATABASE]).unwrap().settings;
    assert_eq!((settings.accounts.secret_key, settings.storage.vector_db), (None, VectorDb::Qdrant));
    assert_eq!(variables(worker(&[DATABASE, ("DOCENT_SECRET_KEY", "short")])), ["DOCENT_SECRET_KEY"]);
}

#[test]
fn plaintext_connections_to_other_hosts_are_warned_about() {
    let warned = |database: &str, redis: &str| -> Vec<String> {
        let loaded = serve(&[KEY, ("DOCENT_DATABASE_URL", database), ("DOCENT_REDIS_URL", redis)]).unwrap();
        assert!(loaded.warnings.iter().all(|warning| !warning.to_string().contains("hunter2")));
        loaded.warnings.into_iter().map(|warning| warning.variable).collect()
    };
    let (local, remote) = ("postgres://ada:hunter2@localhost/docent", "postgres://ada:hunter2@db/docent");
    for database in [
        local,
        "postgres://127.0.0.1/docent",
        "postgres://[::1]/docent",
        "postgres://%2Fvar%2Frun%2Fpostgresql/docent",
        "postgres://db/docent?host=/var/run/postgresql",
        "postgres://ada:hunter2@db/docent?sslmode=require",
        "postgres://ada:hunter2@db/docent?sslmode=verify-full",
        "sqlite://docent.db",
    ] {
        assert!(warned(database, "rediss://:hunter2@cache/0").is_empty(), "{database}");
    }
    for database in [remote, "postgres://db/docent?sslmode=prefer", "postgres://localhost/docent?host=db"] {
        assert_eq!(warned(database, "memory://"), ["DOCENT_DATABASE_URL"], "{database}");
    }
    assert_eq!(warned(local, "redis://:hunter2@cache/0"), ["DOCENT_REDIS_URL"]);
    assert!(warned(local, "redis://127.0.0.1/0").is_empty());
    for (endpoint, is_warned) in
        [("http://minio:9000", true), ("http://127.0.0.1:9000", false), ("https://minio:9000", false)]
    {
        let url = format!("s3://b?endpoint={endpoint}");
        let loaded = dev(&[("DOCENT_BLOB_STORE", &url)]).unwrap();
        let warned = loaded.warnings.iter().any(|warning| warning.variable == "DOCENT_BLOB_STORE");
        assert_eq!(warned, is_warned, "{endpoint}");
    }
}

#[test]
fn public_url_with_tls_but_no_trusted_proxy_is_warned_about() {
    let warned = |variables: &[(&str, &str)]| -> Vec<String> {
        let variables = [&[KEY, ("DOCENT_DATABASE_URL", "sqlite://x.db")][..], variables].concat();
        serve(&variables).unwrap().warnings.into_iter().map(|warning| warning.variable).collect()
    };
    let (tls, plain) = ("https://docs.example.org", "http://docs.example.org");
    assert_eq!(warned(&[("DOCENT_PUBLIC_URL", tls)]), ["DOCENT_TRUSTED_PROXIES"]);
    assert!(warned(&[("DOCENT_PUBLIC_URL", plain)]).is_empty());
    assert!(warned(&[("DOCENT_PUBLIC_URL", tls), ("DOCENT_TRUSTED_PROXIES", "10.0.0.0/24")]).is_empty());
}

#[test]
fn path_of_the_public_url_must_differ_from_those_of_the_service() {
    let refused = |url: &str| dev(&[("DOCENT_PUBLIC_URL", url)]).is_err();
    for url in
        ["https://docs.example.org/", "https://example.org/docent", "http://[::1]:8000/tools/docent-1.0/"]
    {
        assert!(!refused(url), "{url}");
    }
    for url in [
        "https://example.org/chat",
        "https://example.org/v1/docent",
        "https://example.org/a//b",
        "https://example.org/a%20b",
        "https://example.org/a&b",
        "https://example.org/a'b",
    ] {
        assert!(refused(url), "{url}");
    }
}

#[test]
fn single_settings_override_profile_defaults() {
    let here = [("DOCENT_REDIS_URL", "redis://cache:6379/2"), ("DOCENT_VECTOR_DB", "qdrant")];
    let storage = dev(&here).unwrap().settings.storage;
    assert!(matches!(storage.redis_url, KeyValueUrl::Redis(_)));
    assert_eq!(storage.vector_db, VectorDb::Qdrant);
    let there = [KEY, ("DOCENT_DATABASE_URL", "sqlite://x.db"), ("DOCENT_REDIS_URL", "memory://")];
    let storage = serve(&there).unwrap().settings.storage;
    assert_eq!(storage.database_url, DatabaseUrl::Sqlite("x.db".into()));
    assert_eq!(storage.redis_url, KeyValueUrl::Memory);
}

#[test]
fn default_paths_are_in_data_dir() {
    let storage = dev(&[("DOCENT_DATA_DIR", "/srv/docent")]).unwrap().settings.storage;
    assert_eq!(storage.database_url, DatabaseUrl::Sqlite("/srv/docent/docent.db".into()));
    assert_eq!(storage.blob_store, BlobStoreUrl::File("/srv/docent/blobs".into()));
}

#[test]
fn s3_access_key_needs_both_halves() {
    let bucket = ("DOCENT_BLOB_STORE", "s3://docs/blobs");
    let (id, secret) = (("DOCENT_S3_ACCESS_KEY_ID", "id"), ("DOCENT_S3_SECRET_ACCESS_KEY", "secret"));
    assert_eq!(variables(dev(&[bucket, id])), [secret.0]);
    assert_eq!(variables(dev(&[bucket, secret])), [id.0]);
    assert!(dev(&[bucket]).is_ok(), "AWS's credential chain needs no settings");
    assert!(dev(&[bucket, id, secret]).is_ok());
}

#[test]
fn sentinels_are_hosts_with_ports() {
    let sentinels = |list| dev(&[("DOCENT_REDIS_URL", &format!("redis://docent/0?sentinels={list}"))]);
    let storage = sentinels("sentinel-1:26379,[::1]:26379").unwrap().settings.storage;
    let KeyValueUrl::Redis(url) = storage.redis_url else { panic!("no server") };
    assert_eq!(url.sentinels().unwrap(), ["sentinel-1:26379", "[::1]:26379"]);
    for wrong in ["", "sentinel-1", ":26379", "sentinel-1:26379,sentinel-2:port", "sentinel-1:99999"] {
        assert_eq!(variables(sentinels(wrong)), ["DOCENT_REDIS_URL"], "{wrong}");
    }
}

#[test]
fn settings_are_inspected_in_spite_of_problems() {
    let environment = [
        ("DOCENT_SEARCH_LIMIT", "9"),
        ("DOCENT_RATE_LIMIT_REQUESTS", "many"),
        ("DOCENT_LLM_BASE_URL", "http://m/v1"),
    ];
    let inspected = Settings::inspect(Profile::Serve, &Environment::of(environment));
    let problems: Vec<&str> = inspected.problems.0.iter().map(|problem| problem.variable.as_str()).collect();
    for missing in
        ["DOCENT_RATE_LIMIT_REQUESTS", "DOCENT_DATABASE_URL", "DOCENT_SECRET_KEY", "DOCENT_LLM_MODEL"]
    {
        assert!(problems.contains(&missing), "{missing}: {problems:?}");
    }
    let shown = |variable: &str| {
        let value = inspected.effective.iter().find(|value| value.variable == variable);
        value.map(|value| value.shown.as_str())
    };
    assert_eq!((shown("DOCENT_SEARCH_LIMIT"), shown("DOCENT_RATE_LIMIT_REQUESTS")), (Some("9"), None));
    assert_eq!(shown("DOCENT_LLM_BASE_URL"), Some("http://m/v1"));
}

#[test]
fn embedding_url_needs_its_provider() {
    let url = ("DOCENT_EMBEDDING_BASE_URL", "http://127.0.0.1:8080/v1");
    let problems = dev(&[url]).unwrap_err().to_string();
    assert!(
        problems.contains("DOCENT_EMBEDDING_PROVIDER must be set with DOCENT_EMBEDDING_BASE_URL"),
        "{problems}"
    );
    assert!(
        dev(&[url, ("DOCENT_EMBEDDING_PROVIDER", "builtin")]).is_ok(),
        "for an index of an earlier model"
    );
    assert!(dev(&[("DOCENT_EMBEDDING_PROVIDER", "openai"), url, ("DOCENT_EMBEDDING_MODEL", "m")]).is_ok());
}

#[test]
fn uploads_larger_than_can_be_read_are_warned_about() {
    let warned = |size: &str| dev(&[("DOCENT_MAX_UPLOAD_BYTES", size)]).unwrap().warnings.len();
    assert_eq!((warned("256MiB"), warned("257MiB")), (0, 1));
}

#[test]
fn all_problems_are_reported_with_accepted_values() {
    let problems = serve(&[
        ("DOCENT_RATE_LIMIT_REQUESTS", "many"),
        ("DOCENT_RATE_LIMIT_PERIOD", "0"),
        ("DOCENT_SEARCH_LIMIT", "51"),
        ("DOCENT_BIND_ADDRESS", "8000"),
        ("DOCENT_LLM_BASE_URL", "ftp://models"),
        ("DOCENT_EMBEDDING_PROVIDER", "openai"),
        ("DOCENT_RERANK_BASE_URL", "http://localhost:8012/v1"),
        ("DOCENT_DEBUG", "maybe"),
    ]);
    let text = problems.clone().unwrap_err().to_string();
    assert_eq!(
        variables(problems),
        [
            "DOCENT_DEBUG",
            "DOCENT_BIND_ADDRESS",
            "DOCENT_SECRET_KEY",
            "DOCENT_RATE_LIMIT_REQUESTS",
            "DOCENT_RATE_LIMIT_PERIOD",
            "DOCENT_DATABASE_URL",
            "DOCENT_LLM_BASE_URL",
            "DOCENT_LLM_MODEL",
            "DOCENT_RERANK_MODEL",
            "DOCENT_EMBEDDING_BASE_URL",
            "DOCENT_EMBEDDING_MODEL",
            "DOCENT_SEARCH_LIMIT",
        ]
    );
    let line = r#"DOCENT_RATE_LIMIT_REQUESTS is "many", which is not a whole number from 0 to 4294967295; accepted: a whole number"#;
    assert!(text.contains(line), "{text}");
    assert!(text.contains("DOCENT_SEARCH_LIMIT is 51; accepted: a whole number from 1 to 50"), "{text}");
    assert!(text.contains("DOCENT_DATABASE_URL must be set; accepted: sqlite://"), "{text}");
}

#[test]
fn smtp_url_requires_sender_and_public_url() {
    let alone = dev(&[("DOCENT_SMTP_URL", "smtp://relay")]);
    assert_eq!(variables(alone), ["DOCENT_MAIL_FROM", "DOCENT_PUBLIC_URL"]);
    let mut all = vec![
        ("DOCENT_SMTP_URL", "smtp://relay"),
        ("DOCENT_MAIL_FROM", "Docent <docent@example.org>"),
        ("DOCENT_PUBLIC_URL", "https://docs.example.org/"),
    ];
    let http = dev(&all).unwrap().settings.http;
    assert_eq!(http.public_url.unwrap().as_str(), "https://docs.example.org");
    all[1].1 = "Docent";
    assert_eq!(variables(dev(&all)), ["DOCENT_MAIL_FROM"]);
}

#[test]
fn log_format_is_read_from_invalid_environment() {
    let format = |text: &str| {
        LogFormat::from_environment(&Environment::of([("DOCENT_LOG_FORMAT", text), ("DOCENT_DEBUG", "?")]))
    };
    assert_eq!(["json", " json ", "human", "xml", ""].map(format), {
        use LogFormat::{Human, Json};
        [Json, Json, Human, Human, Human]
    });
}

#[test]
fn unknown_variable_warning_names_nearest_setting() {
    let unknown = [
        ("DOCENT_RATE_LIMIT_REQUEST", "1"),
        ("DOCENT_SECRETKEY", "x"),
        ("PATH", "/bin"),
        ("DOCENTX", "1"),
        ("DOCENT_KEY", "x"),
    ];
    let warnings = dev(&unknown).unwrap().warnings;
    let named: Vec<_> = warnings.iter().map(|w| (w.variable.as_str(), w.advice.as_str())).collect();
    assert_eq!(
        named,
        [
            // A variable of the user's own scripts is no misspelling of a setting.
            ("DOCENT_KEY", "`docent config` lists the settings"),
            ("DOCENT_RATE_LIMIT_REQUEST", "did you mean DOCENT_RATE_LIMIT_REQUESTS?"),
            ("DOCENT_SECRETKEY", "did you mean DOCENT_SECRET_KEY?"),
        ]
    );
    assert!(!warnings[2].to_string().contains('x'), "values of unknown variables may be secrets");
}

#[test]
fn embedding_key_falls_back_to_llm_key() {
    let key = |variables: &[(&str, &str)]| {
        let models = dev(variables).unwrap().settings.models;
        models.embedding_key().map(|key| key.expose().to_owned())
    };
    assert_eq!(key(&[]), None);
    assert_eq!(key(&[("DOCENT_LLM_API_KEY", "a")]).as_deref(), Some("a"));
    assert_eq!(key(&[("DOCENT_LLM_API_KEY", "a"), ("DOCENT_EMBEDDING_API_KEY", "b")]).as_deref(), Some("b"));
}

#[test]
fn effective_settings_follow_reference_order() {
    let loaded = dev(&[("DOCENT_SEARCH_LIMIT", "7"), ("DOCENT_MAX_UPLOAD_BYTES", "1048576")]).unwrap();
    let listed: Vec<_> = loaded.effective.iter().map(|setting| setting.variable.clone()).collect();
    let declared: Vec<_> = all().iter().map(Setting::variable).collect();
    assert_eq!(listed, declared);
    let of = |name: &str| loaded.effective.iter().find(|setting| setting.variable == name).unwrap().clone();
    assert_eq!(
        (of("DOCENT_SEARCH_LIMIT").shown, of("DOCENT_SEARCH_LIMIT").source),
        ("7".into(), Source::Environment)
    );
    assert_eq!(of("DOCENT_MAX_UPLOAD_BYTES").shown, "1MiB");
    assert_eq!(of("DOCENT_ACCESS_TOKEN_TTL").source, Source::Default);
}
