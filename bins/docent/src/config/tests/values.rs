//! Values: lists, files and texts of any kind.

use super::*;
use std::ffi::OsString;

#[test]
fn lists_accept_json_and_commas() {
    for text in [r#"["jwt", "api_key"]"#, "jwt,api_key", " JWT , api_key, "] {
        let accounts = dev(&[("DOCENT_AUTH_BACKENDS", text)]).unwrap().settings.accounts;
        assert_eq!(accounts.auth_backends, [AuthBackend::Jwt, AuthBackend::ApiKey], "{text}");
    }
    let http = dev(&[("DOCENT_TRUSTED_PROXIES", "10.0.0.0/8,192.168.1.7,fd00::/8")]).unwrap().settings.http;
    let shown: Vec<String> = http.trusted_proxies.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["10.0.0.0/8", "192.168.1.7/32", "fd00::/8"]);
    let origins = dev(&[("DOCENT_CORS_ALLOWED_ORIGINS", "https://a.example/,http://b.example:3000")]);
    let origins = origins.unwrap().settings.http.cors_allowed_origins;
    let origins: Vec<&str> = origins.iter().map(Origin::as_str).collect();
    assert_eq!(origins, ["https://a.example", "http://b.example:3000"]);
    for (variable, text) in [
        ("DOCENT_AUTH_BACKENDS", "[]"),
        ("DOCENT_AUTH_BACKENDS", "[\"jwt\""),
        ("DOCENT_AUTH_BACKENDS", "[1]"),
        ("DOCENT_AUTH_BACKENDS", "ldap"),
        ("DOCENT_TRUSTED_PROXIES", "10.0.0.0/33"),
        ("DOCENT_CORS_ALLOWED_ORIGINS", "https://a.example/path"),
        ("DOCENT_CORS_ALLOWED_ORIGINS", "*"),
    ] {
        assert_eq!(variables(dev(&[(variable, text)])), [variable], "{text}");
    }
}

#[test]
fn values_can_be_read_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, format!("{}\n", KEY.1)).unwrap();
    let path = path.to_str().unwrap();
    let loaded = serve(&[("DOCENT_SECRET_KEY_FILE", path), DATABASE]).unwrap();
    assert_eq!(loaded.settings.accounts.secret_key.unwrap().expose(), KEY.1);
    assert!(loaded.warnings.is_empty());
    let effective = loaded.effective.iter().find(|setting| setting.variable == "DOCENT_SECRET_KEY").unwrap();
    assert_eq!((effective.source, effective.shown.as_str()), (Source::File, "[hidden]"));

    // An empty file is an error: treating it as unset could disable protection.
    fs::write(path, "\n").unwrap();
    assert_eq!(variables(dev(&[("DOCENT_METRICS_TOKEN_FILE", path)])), ["DOCENT_METRICS_TOKEN"]);

    let both = serve(&[KEY, ("DOCENT_SECRET_KEY_FILE", path), DATABASE]);
    assert_eq!(variables(both), ["DOCENT_SECRET_KEY"]);
    let missing = serve(&[("DOCENT_SECRET_KEY_FILE", "/no/such/file"), DATABASE]).unwrap_err();
    assert!(missing.to_string().contains("cannot be read from /no/such/file"), "{missing}");
}

#[test]
fn endless_file_is_rejected() {
    let endless = dev(&[("DOCENT_METRICS_TOKEN_FILE", "/dev/zero")]).unwrap_err();
    assert!(endless.to_string().contains("the file has more than 65536 bytes"), "{endless}");
}

#[test]
fn prefix_can_be_empty_end_with_a_space_and_have_line_breaks() {
    let prefix = |text: &str| {
        let loaded = dev(&[("DOCENT_EMBEDDING_QUERY_PREFIX", text)]).unwrap();
        let of = |setting: &&Effective| setting.variable == "DOCENT_EMBEDDING_QUERY_PREFIX";
        let shown = loaded.effective.iter().find(of).unwrap().shown.clone();
        (loaded.settings.models.embedding_query_prefix.unwrap().0, shown)
    };
    assert_eq!(prefix(""), (String::new(), String::new()));
    assert_eq!(prefix("query: "), ("query: ".to_owned(), "query: ".to_owned()));
    assert_eq!(prefix(r"Instruct: a\nQuery: ").0, "Instruct: a\nQuery: ");
    assert_eq!(prefix(r"Instruct: a\nQuery: ").1, r"Instruct: a\nQuery: ");
    assert_eq!(dev(&[]).unwrap().settings.models.embedding_query_prefix, None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prefix");
    fs::write(&file, "passage: \n").unwrap();
    let loaded = dev(&[("DOCENT_EMBEDDING_DOCUMENT_PREFIX_FILE", file.to_str().unwrap())]).unwrap();
    assert_eq!(loaded.settings.models.embedding_document_prefix, Some(TextPrefix("passage: ".to_owned())));
    assert_eq!(
        variables(dev(&[("DOCENT_EMBEDDING_QUERY_PREFIX", "a\nb")])),
        ["DOCENT_EMBEDDING_QUERY_PREFIX"]
    );
}

#[test]
fn arbitrary_values_give_settings_or_problems() {
    let odd = [
        "0",
        "-1",
        "9".repeat(40).as_str(),
        "[",
        "[[]]",
        "{}",
        "://",
        "@",
        "\n",
        "é",
        "a\0b",
        "😀",
        "1h",
        "x,y",
    ]
    .map(str::to_owned);
    for setting in all() {
        for text in &odd {
            let environment = Environment::of([(setting.variable(), text)]);
            if let Err(problems) = Settings::load(Profile::Dev, &environment) {
                assert!(problems.0.iter().all(|problem| !problem.accepted.is_empty()));
                assert!(!problems.0.is_empty());
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn non_utf8_value_is_a_problem() {
    use std::os::unix::ffi::OsStringExt;
    let environment = Environment::of([("DOCENT_APP_NAME", OsString::from_vec(vec![0xff]))]);
    assert_eq!(variables(Settings::load(Profile::Dev, &environment)), ["DOCENT_APP_NAME"]);
}

#[test]
fn password_in_list_item_is_hidden() {
    let origins = ("DOCENT_CORS_ALLOWED_ORIGINS", "https://a.example, rediss://:hunter2@[::");
    let message = serve(&[KEY, DATABASE, origins]).unwrap_err().to_string();
    assert!(message.contains("DOCENT_CORS_ALLOWED_ORIGINS") && !message.contains("hunter2"), "{message}");
    let origins = ("DOCENT_CORS_ALLOWED_ORIGINS", "https://a.example, nowhere");
    assert!(serve(&[KEY, DATABASE, origins]).unwrap_err().to_string().contains("\"nowhere\""));
}
