//! Accounts and API keys on the command line.

use crate::client::client;
use crate::program::{Serving, docent, in_time, run};
use crate::{create, create_account};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

const ADA: &str = "ada@example.org";

/// Runs a command that succeeds; returns its output.
async fn run_ok(folder: &Path, arguments: &[&str]) -> String {
    let (status, printed, error) = run(docent(folder).args(arguments).arg("--dev")).await;
    assert!(status.success(), "{arguments:?}: {error}");
    printed
}

/// Runs a command that does not; what it error.
async fn run_error(folder: &Path, arguments: &[&str]) -> String {
    let (status, _, error) = run(docent(folder).args(arguments).arg("--dev")).await;
    assert!(!status.success(), "{arguments:?}");
    error
}

/// Parses one JSON object per line.
pub(super) fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn log_in(serving: &Serving, password: &str) -> u16 {
    let body = json!({ "email": ADA, "password": password });
    let url = format!("{}/auth/token", serving.base);
    in_time(client().post(url).json(&body).send()).await.unwrap().status().as_u16()
}

async fn list_documents(serving: &Serving, key: &str) -> u16 {
    let url = format!("{}/documents", serving.base);
    in_time(client().get(url).bearer_auth(key).send()).await.unwrap().status().as_u16()
}

async fn change_password(folder: &Path, password: &str) -> bool {
    let mut command = docent(folder);
    command.args(["changepassword", "--dev", "--password-stdin", ADA]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await.unwrap();
    in_time(child.wait()).await.unwrap().success()
}

#[tokio::test]
async fn password_and_account_changes_apply_to_running_service() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create(folder, &["users", "create"], ADA, "correct horse").await;
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    assert_eq!(log_in(&serving, "correct horse").await, 200);
    assert!(!change_password(folder, "short").await);
    assert!(change_password(folder, "battery staple").await);
    assert_eq!(log_in(&serving, "correct horse").await, 401);
    assert_eq!(log_in(&serving, "battery staple").await, 200);

    assert!(run_ok(folder, &["users", "deactivate", "ADA@example.org"]).await.contains("Deactivated ada@"));
    assert!(run_ok(folder, &["users", "deactivate", ADA]).await.contains("is already inactive"));
    assert_eq!(log_in(&serving, "battery staple").await, 401);
    let [listed] = objects(&run_ok(folder, &["users", "list", "ADA@", "--json"]).await).try_into().unwrap();
    assert_eq!((&listed["email"], &listed["is_active"]), (&json!(ADA), &json!(false)));
    assert!(listed["last_login_at"].is_string());
    assert!(run_ok(folder, &["users", "list"]).await.contains("inactive"));
    assert!(run_ok(folder, &["users", "activate", ADA]).await.contains("Activated"));
    assert_eq!(log_in(&serving, "battery staple").await, 200);
    for arguments in
        [["users", "deactivate", "unknown@example.org"], ["users", "activate", "unknown@example.org"]]
    {
        assert!(run_error(folder, &arguments).await.contains("no account has the email address"));
    }
}

#[tokio::test]
async fn last_active_superuser_cannot_be_deactivated() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, "first@example.org", "correct horse").await;
    create(folder, &["users", "create", "--staff"], ADA, "correct horse").await;
    let last = "this is the last active superuser; create another one first";
    assert!(run_error(folder, &["users", "deactivate", "first@example.org"]).await.contains(last));
    create_account(folder, "second@example.org", "correct horse").await;
    for (email, is_last) in [("first@example.org", false), ("second@example.org", true), (ADA, false)] {
        if is_last {
            assert!(run_error(folder, &["users", "deactivate", email]).await.contains(last));
        } else {
            assert!(run_ok(folder, &["users", "deactivate", email]).await.contains("Deactivated"));
        }
    }
}

#[tokio::test]
async fn api_keys_are_created_used_listed_and_revoked() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, ADA, "correct horse").await;
    let mut command = docent(folder);
    let serving = Serving::start(command.args(["dev", "--no-sample"])).await;
    let create = ["apikeys", "create", ADA, "--name", "Nightly import", "--scopes", "read,ingest"];
    let key = run_ok(folder, &create).await;
    let key = key.trim();
    assert_eq!(list_documents(&serving, key).await, 200);

    let json = run_ok(folder, &[&create[..], &["--expires-in-days", "30", "--json"]].concat()).await;
    let [other] = objects(&json).try_into().unwrap();
    assert_eq!(other["scopes"], json!(["read", "ingest"]));
    assert!(other["expires_at"].is_string());
    let other_key = other["key"].as_str().unwrap();
    assert_eq!(list_documents(&serving, other_key).await, 200);

    let listed = run_ok(folder, &["apikeys", "list"]).await;
    assert_eq!(
        listed.lines().filter(|line| line.contains("active") && line.contains("Nightly import")).count(),
        2
    );
    assert!(!listed.contains(key.rsplit_once('_').unwrap().1), "secrets are hidden");
    let prefix = &key[..key.rfind('_').unwrap()];
    assert!(run_ok(folder, &["apikeys", "revoke", prefix]).await.contains("Revoked"));
    assert!(run_ok(folder, &["apikeys", "revoke", prefix]).await.contains("was revoked on"));
    assert_eq!(list_documents(&serving, key).await, 401);
    assert_eq!(list_documents(&serving, other_key).await, 200);
    let id = other["id"].as_str().unwrap();
    run_ok(folder, &["apikeys", "revoke", id]).await;
    assert_eq!(list_documents(&serving, other_key).await, 401);
    let listed = objects(&run_ok(folder, &["apikeys", "list", ADA, "--json"]).await);
    assert!(listed.iter().all(|key| key["revoked_at"].is_string() && key["email"] == ADA), "{listed:?}");
    assert!(listed.iter().all(|key| key["last_used_at"].is_string() && key["key"].is_null()), "{listed:?}");
}

#[tokio::test]
async fn api_key_create_shows_a_request_that_works() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, ADA, "correct horse").await;
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    let address = serving.base.trim_start_matches("http://");
    for (scope, answer) in [("read", "[]"), ("ingest", ""), ("chat", "data: ")] {
        let mut command = docent(folder);
        command.args(["apikeys", "create", "--dev", ADA, "--name", scope, "--scopes", scope]);
        let (_, key, error) = run(command.env("DOCENT_BIND_ADDRESS", address)).await;
        let request = error.lines().find(|line| line.trim_start().starts_with("curl ")).unwrap().trim();
        assert!(request.contains(key.trim()) && request.contains(&serving.base), "{request}");
        let mut shell = tokio::process::Command::new("bash");
        let (status, printed, error) = run(shell.args(["-c", &format!("{request} --fail")])).await;
        assert!(status.success() && printed.contains(answer), "{request}: {printed}{error}");
    }
    // The address that clients use is not the one that the service listens on.
    let public = ("DOCENT_PUBLIC_URL", "https://docent.example.org");
    let mut command = docent(folder);
    command
        .args(["apikeys", "create", "--dev", ADA, "--name", "p", "--scopes", "read"])
        .env(public.0, public.1);
    let (_, _, error) = run(&mut command).await;
    assert!(error.contains(" https://docent.example.org/documents\n"), "{error}");
}

/// The first start creates the database and recognises by that that it is the first.
#[tokio::test]
async fn listing_accounts_creates_no_database() {
    let folder = TempDir::new().unwrap();
    for arguments in [["users", "list"], ["users", "list"], ["apikeys", "list"]] {
        let error = run_error(folder.path(), &arguments).await;
        assert!(error.contains("there is no database at"), "{error}");
    }
}

#[tokio::test]
async fn api_key_create_rejects_unknown_account_name_and_scope() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, ADA, "correct horse").await;
    for (arguments, expected) in [
        (["apikeys", "create", "unknown@example.org", "--name", "n", "--scopes", "read"], "no account has"),
        (["apikeys", "create", ADA, "--name", " ", "--scopes", "read"], "must not be empty"),
        (["apikeys", "create", ADA, "--name", "n", "--scopes", "read,write"], "read, ingest, chat and admin"),
    ] {
        let error = run_error(folder, &arguments).await;
        assert!(error.contains(expected), "{error}");
    }
    assert!(
        run_error(folder, &["apikeys", "revoke", "dk_abcdefghijkm"])
            .await
            .contains("no API key has this prefix")
    );
    assert!(run_error(folder, &["apikeys", "revoke", "x"]).await.contains("neither"));
    let arguments = ["apikeys", "create", "--dev", ADA, "--name", "n", "--scopes", "read"];
    let (_, _, error) = run(docent(folder).args(arguments).env("DOCENT_AUTH_BACKENDS", "jwt")).await;
    assert!(error.contains("DOCENT_AUTH_BACKENDS") && !error.contains("curl"), "{error}");
}

#[tokio::test]
async fn invited_person_creates_an_account_by_the_printed_link() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, ADA, "correct horse").await;
    let team = folder.join("team.csv");
    std::fs::write(&team, "name,email\nBob,bob@example.org\n").unwrap();
    let from = team.to_str().unwrap();
    let arguments = [
        "users",
        "invite",
        "ada@example.org",
        "new@example.org",
        "--from",
        from,
        "--collection",
        "Everyone=viewer",
        "--json",
    ];
    let lines = objects(&run_ok(folder, &arguments).await);
    let invited: Vec<_> = lines.iter().map(|line| line["is_invited"].as_bool().unwrap()).collect();
    assert_eq!(invited, [false, true, true], "{lines:?}");
    let link = lines[1]["link"].as_str().unwrap();
    let token = link.split_once("/account/invitation?token=").unwrap().1;
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    let accept = async || {
        let request = client()
            .post(format!("{}/account/invitation", serving.base))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("token={token}&name=Grace+Hopper&password=correct+horse"));
        in_time(request.send()).await.unwrap().status().as_u16()
    };
    assert_eq!((accept().await, accept().await), (200, 400));
    let [listed] = objects(&run_ok(folder, &["users", "list", "new@", "--json"]).await).try_into().unwrap();
    assert_eq!(listed["name"], "Grace Hopper");
    assert!(run_ok(folder, &["users", "list", "new@"]).await.contains("Grace Hopper"));
    let again = run_ok(folder, &["users", "invite", "new@example.org"]).await;
    assert!(again.contains("new@example.org has an account already."), "{again}");
    for (arguments, error) in [
        (&["users", "invite", "x@example.org", "--group", "Unknown"][..], "no group is named `Unknown`"),
        (&["users", "invite", "x@example.org", "--collection", "Everyone=owner"], "the role is not viewer"),
        (&["users", "invite", "x@example.org", "--collection", "Unknown=viewer"], "is named `Unknown`"),
        (&["users", "invite", "x@example.org", "--send"], "--send needs a mail server"),
        (&["users", "invite", "x"], "must be an email address"),
    ] {
        let printed = run_error(folder, arguments).await;
        assert!(printed.contains(error), "{arguments:?}: {printed}");
    }
}
