//! Secrets: which are refused, and that none is shown.

use super::*;

// Invariant: `docent serve` does not start with a weak key.
#[test]
fn serve_rejects_weak_secret_key_unless_debug() {
    for (key, wrong) in [
        ("", "must be set"),
        ("Zq3vK0yJm8sW1tR7uX4bN6cF9hL2pD5", "has fewer than 32 characters"),
        ("change-me-change-me-change-me-change-me", "is an example from the documentation"),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "has fewer than 10 different characters"),
        ("correct horse!1correct horse!1correct horse!1", "repeats a short text"),
    ] {
        let key = ("DOCENT_SECRET_KEY", key);
        let problems = serve(&[key, DATABASE]).unwrap_err();
        assert_eq!(problems.0.len(), 1);
        assert_eq!((problems.0[0].variable.as_str(), problems.0[0].wrong.as_str()), (key.0, wrong));
        assert!(serve(&[key, DATABASE, ("DOCENT_DEBUG", "true")]).is_ok());
        assert!(dev(&[key]).is_ok());
    }
    assert_eq!(serve(&[KEY, DATABASE]).unwrap().settings.accounts.secret_key.unwrap().expose(), KEY.1);
}

#[test]
fn serve_rejects_weak_previous_secret_keys() {
    let (good, other) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let keys = format!("[\"{good}\", \"{other},\"]");
    let database = ("DOCENT_DATABASE_URL", "sqlite://d.db");
    let good_ones = [database, ("DOCENT_SECRET_KEY", good), ("DOCENT_SECRET_KEY_PREVIOUS", &keys)];
    let loaded = serve(&good_ones).unwrap();
    let previous: Vec<_> =
        loaded.settings.accounts.secret_key_previous.iter().map(|key| key.expose().to_owned()).collect();
    assert_eq!(previous, [good.to_owned(), format!("{other},")]);
    let weak = [database, ("DOCENT_SECRET_KEY", good), ("DOCENT_SECRET_KEY_PREVIOUS", "short")];
    assert_eq!(variables(serve(&weak)), ["DOCENT_SECRET_KEY_PREVIOUS"]);
}

#[test]
fn secret_of_librechat_is_neither_public_nor_that_of_the_service() {
    let shared = |secret| dev(&[KEY, ("DOCENT_LIBRECHAT_JWT_SECRET", secret)]);
    assert!(shared("a secret of LibreChat with 32 bytes").is_ok());
    let example = "16f8c0ef4a5d391b26034086c628469d3f9f497f08163ab9b40137092f2909ef";
    for (secret, wrong) in [
        ("short", "has fewer than 32 bytes"),
        (example, "is the example of LibreChat"),
        (KEY.1, "is a secret key"),
    ] {
        let problems = shared(secret).unwrap_err().to_string();
        assert!(problems.contains(wrong) && !problems.contains(secret), "{problems}");
    }
}

// Invariant: Secrets in the settings are never shown.
#[test]
fn secrets_are_hidden_in_settings_and_problems() {
    const SECRET: &str = "hunter2-Zq3vK0yJm8sW1tR7uX4bN6cF9";
    let url = |scheme: &str| format!("{scheme}://ada:{SECRET}@host/0");
    let (database, smtp) = (url("postgres"), format!("smtps://ada:{SECRET}@host"));
    let redis = format!("{}?sentinels=sentinel:26379&sentinel_password={SECRET}", url("redis"));
    let secrets = [
        ("DOCENT_SECRET_KEY", SECRET),
        ("DOCENT_LLM_API_KEY", SECRET),
        ("DOCENT_EMBEDDING_API_KEY", SECRET),
        ("DOCENT_QDRANT_API_KEY", SECRET),
        ("DOCENT_S3_ACCESS_KEY_ID", "id"),
        ("DOCENT_S3_SECRET_ACCESS_KEY", SECRET),
        ("DOCENT_METRICS_TOKEN", SECRET),
        ("DOCENT_LIBRECHAT_JWT_SECRET", "hunter2-of-LibreChat-Zq3vK0yJm8sW1tR7"),
        ("DOCENT_SECRET_KEY_PREVIOUS", SECRET),
        ("DOCENT_SMTP_URL", &smtp),
        ("DOCENT_MAIL_FROM", "docent@example.org"),
        ("DOCENT_PUBLIC_URL", "https://docs.example.org"),
        ("DOCENT_DATABASE_URL", &database),
        ("DOCENT_REDIS_URL", &redis),
    ];
    let loaded = serve(&secrets).unwrap();
    assert!(!format!("{loaded:?}").contains("hunter2"), "{loaded:?}");

    let (database, redis, model) = (url("mysql"), url("http"), url("https"));
    let wrong = [
        ("DOCENT_SECRET_KEY", "hunter2"),
        ("DOCENT_LIBRECHAT_JWT_SECRET", "hunter2"),
        ("DOCENT_DATABASE_URL", &database),
        ("DOCENT_REDIS_URL", &redis),
        ("DOCENT_LLM_BASE_URL", &model),
        ("DOCENT_LLM_MODEL", "m"),
    ];
    let problems = serve(&wrong).unwrap_err();
    assert_eq!(problems.0.len(), 5, "{problems}");
    assert!(!format!("{problems} {problems:?}").contains("hunter2"), "{problems}");
}
