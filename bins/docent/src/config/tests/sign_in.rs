//! Sign-in at identity providers and with passwords.

use super::*;

#[test]
fn identity_providers_are_read_with_and_without_names() {
    assert!(dev(&[]).unwrap().settings.identity_providers.is_empty());
    let loaded = dev(&[
        ("DOCENT_OIDC_ISSUER", "https://id.example.org/realms/main/"),
        ("DOCENT_OIDC_CLIENT_ID", "docent"),
        ("DOCENT_OIDC_GROUPS", "/eng:Engineers, urn:x:law:Legal team"),
        ("DOCENT_OIDC_PROVIDERS", "entra-2"),
        ("DOCENT_OIDC_ENTRA_2_ISSUER", "http://127.0.0.1:9000"),
        ("DOCENT_OIDC_ENTRA_2_CLIENT_ID", "other"),
        ("DOCENT_OIDC_ENTRA_2_CLIENT_SECRET", "hunter2"),
        ("DOCENT_OIDC_ENTRA_2_TRUST_EMAIL", "yes"),
    ])
    .unwrap();
    assert_eq!(loaded.warnings, []);
    let [first, second] = &loaded.settings.identity_providers[..] else { panic!("not two") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("sso", "entra-2"));
    assert_eq!(first.issuer, "https://id.example.org/realms/main/", "the slash belongs to it");
    let groups: Vec<_> = first.settings.oidc_groups.iter().map(|mapped| &mapped.0).collect();
    assert_eq!((groups[1].claim.as_str(), groups[1].group.as_str()), ("urn:x:law", "Legal team"));
    assert!(second.settings.oidc_trust_email && !first.settings.oidc_trust_email);
    assert_eq!(second.settings.oidc_client_secret, Some(Secret::new("hunter2".to_owned())));
    let secret = loaded.effective.iter().find(|one| one.variable == "DOCENT_OIDC_ENTRA_2_CLIENT_SECRET");
    assert_eq!(secret.unwrap().shown, "[hidden]");
}

#[test]
fn incomplete_and_insecure_identity_providers_are_refused() {
    let refused = |settings: &[(&str, &str)]| variables(dev(settings));
    let issuer = ("DOCENT_OIDC_ISSUER", "https://id.example.org");
    assert_eq!(refused(&[issuer]), ["DOCENT_OIDC_CLIENT_ID"]);
    assert_eq!(refused(&[("DOCENT_OIDC_CLIENT_ID", "x")]), ["DOCENT_OIDC_ISSUER"]);
    assert_eq!(refused(&[("DOCENT_OIDC_PROVIDERS", "entra")]), ["DOCENT_OIDC_ENTRA_ISSUER"]);
    let client = ("DOCENT_OIDC_CLIENT_ID", "x");
    for url in ["http://id.example.org", "id.example.org", "https://id.example.org?x=y", "file:///x"] {
        assert_eq!(refused(&[("DOCENT_OIDC_ISSUER", url), client]), ["DOCENT_OIDC_ISSUER"], "{url}");
    }
    assert_eq!(refused(&[issuer, client, ("DOCENT_OIDC_GROUPS", "none")]), ["DOCENT_OIDC_GROUPS"]);
    let domains = ("DOCENT_OIDC_EMAIL_DOMAINS", "example.com,@example.org");
    assert_eq!(refused(&[issuer, client, domains]), ["DOCENT_OIDC_EMAIL_DOMAINS"]);
    let entra = [("DOCENT_OIDC_ENTRA_ISSUER", issuer.1), ("DOCENT_OIDC_ENTRA_CLIENT_ID", "x")];
    let twice = [&entra[..], &[("DOCENT_OIDC_PROVIDERS", "entra,entra")]].concat();
    assert_eq!(refused(&twice), ["DOCENT_OIDC_PROVIDERS"]);
    assert_eq!(variables(serve(&[KEY, DATABASE, issuer, client])), ["DOCENT_PUBLIC_URL"]);
}

#[test]
fn password_login_is_on_off_or_for_named_accounts() {
    let provider = [("DOCENT_OIDC_ISSUER", "https://id.example.org"), ("DOCENT_OIDC_CLIENT_ID", "docent")];
    let read = |value: &str| {
        dev(&[&[("DOCENT_PASSWORD_LOGIN", value)][..], &provider].concat())
            .map(|loaded| loaded.settings.accounts.password_login)
    };
    assert_eq!(variables(dev(&[("DOCENT_PASSWORD_LOGIN", "off")])), ["DOCENT_PASSWORD_LOGIN"]);
    assert_eq!(read("on").unwrap(), PasswordLogin::On);
    assert_eq!(read("off").unwrap(), PasswordLogin::Off);
    let PasswordLogin::Only(emails) = read("Root@example.org, b@example.org").unwrap() else {
        panic!("no list")
    };
    assert_eq!(
        emails.iter().map(|email| email.as_str()).collect::<Vec<_>>(),
        ["root@example.org", "b@example.org"]
    );
    assert!(read("sometimes").is_err());
}
