//! Accounts and API keys on the command line.

use crate::{
    client::client,
    create, create_account,
    program::{Serving, docent, in_time, run},
};
use serde_json::{Value, json};
use std::{path::Path, process::Stdio};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

const ADA: &str = "ada@example.org";

/// Runs a command that works out; what it printed.
async fn printed(folder: &Path, arguments: &[&str]) -> String {
    let (status, printed, error) = run(docent(folder).args(arguments).arg("--dev")).await;
    assert!(status.success(), "{arguments:?}: {error}");
    printed
}

/// Runs a command that does not; what it said.
async fn refused(folder: &Path, arguments: &[&str]) -> String {
    let (status, _, error) = run(docent(folder).args(arguments).arg("--dev")).await;
    assert!(!status.success(), "{arguments:?}");
    error
}

/// The objects that stand on these lines.
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
async fn passwords_and_accounts_change_beside_a_running_service() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create(folder, &["users", "create"], ADA, "correct horse").await;
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    assert_eq!(log_in(&serving, "correct horse").await, 200);
    assert!(!change_password(folder, "short").await);
    assert!(change_password(folder, "battery staple").await);
    assert_eq!(log_in(&serving, "correct horse").await, 401);
    assert_eq!(log_in(&serving, "battery staple").await, 200);

    assert!(printed(folder, &["users", "deactivate", "ADA@example.org"]).await.contains("Deactivated ada@"));
    assert!(printed(folder, &["users", "deactivate", ADA]).await.contains("already"));
    assert_eq!(log_in(&serving, "battery staple").await, 401);
    let [listed] = objects(&printed(folder, &["users", "list", "ADA@", "--json"]).await).try_into().unwrap();
    assert_eq!((&listed["email"], &listed["is_active"]), (&json!(ADA), &json!(false)));
    assert!(listed["last_login_at"].is_string());
    assert!(printed(folder, &["users", "list"]).await.contains("inactive"));
    assert!(printed(folder, &["users", "activate", ADA]).await.contains("Activated"));
    assert_eq!(log_in(&serving, "battery staple").await, 200);
    for arguments in
        [["users", "deactivate", "nobody@example.org"], ["users", "activate", "nobody@example.org"]]
    {
        assert!(refused(folder, &arguments).await.contains("no account has the address"));
    }
}

#[tokio::test]
async fn the_last_active_superuser_is_not_shut_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, "first@example.org", "correct horse").await;
    create(folder, &["users", "create", "--staff"], ADA, "correct horse").await;
    let last = "this is the last active superuser; create another one first";
    assert!(refused(folder, &["users", "deactivate", "first@example.org"]).await.contains(last));
    create_account(folder, "second@example.org", "correct horse").await;
    for (email, is_last) in [("first@example.org", false), ("second@example.org", true), (ADA, false)] {
        if is_last {
            assert!(refused(folder, &["users", "deactivate", email]).await.contains(last));
        } else {
            assert!(printed(folder, &["users", "deactivate", email]).await.contains("Deactivated"));
        }
    }
}

#[tokio::test]
async fn keys_are_made_used_listed_and_revoked() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, ADA, "correct horse").await;
    let mut command = docent(folder);
    let serving =
        Serving::start(command.args(["dev", "--no-sample"]).env("DOCENT_AUTH_BACKENDS", "jwt,api_key")).await;
    let create = ["apikeys", "create", ADA, "--name", "Nightly import", "--scopes", "read,ingest"];
    let key = printed(folder, &create).await;
    let key = key.trim();
    assert_eq!(list_documents(&serving, key).await, 200);

    let json = printed(folder, &[&create[..], &["--expires-in-days", "30", "--json"]].concat()).await;
    let [other] = objects(&json).try_into().unwrap();
    assert_eq!(other["scopes"], json!(["read", "ingest"]));
    assert!(other["expires_at"].is_string());
    let other_key = other["key"].as_str().unwrap();
    assert_eq!(list_documents(&serving, other_key).await, 200);

    let listed = printed(folder, &["apikeys", "list"]).await;
    assert_eq!(
        listed.lines().filter(|line| line.contains("good") && line.contains("Nightly import")).count(),
        2
    );
    assert!(!listed.contains(key.rsplit_once('_').unwrap().1), "secrets are not shown");
    let prefix = &key[..key.rfind('_').unwrap()];
    assert!(printed(folder, &["apikeys", "revoke", prefix]).await.contains("Revoked"));
    assert!(printed(folder, &["apikeys", "revoke", prefix]).await.contains("was revoked on"));
    assert_eq!(list_documents(&serving, key).await, 401);
    assert_eq!(list_documents(&serving, other_key).await, 200);
    let id = other["id"].as_str().unwrap();
    printed(folder, &["apikeys", "revoke", id]).await;
    assert_eq!(list_documents(&serving, other_key).await, 401);
    let listed = objects(&printed(folder, &["apikeys", "list", ADA, "--json"]).await);
    assert!(listed.iter().all(|key| key["revoked_at"].is_string() && key["email"] == ADA), "{listed:?}");
    assert!(listed.iter().all(|key| key["last_used_at"].is_string() && key["key"].is_null()), "{listed:?}");
}

/// The first start makes the database, and knows by that that it is the first.
#[tokio::test]
async fn looking_for_accounts_makes_no_database() {
    let folder = TempDir::new().unwrap();
    for arguments in [["users", "list"], ["users", "list"], ["apikeys", "list"]] {
        let error = refused(folder.path(), &arguments).await;
        assert!(error.contains("there is no database at"), "{error}");
    }
}

#[tokio::test]
async fn keys_need_an_account_a_name_and_scopes_that_there_are() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, ADA, "correct horse").await;
    for (arguments, said) in [
        (["apikeys", "create", "nobody@example.org", "--name", "n", "--scopes", "read"], "no account has"),
        (["apikeys", "create", ADA, "--name", " ", "--scopes", "read"], "must not be empty"),
        (["apikeys", "create", ADA, "--name", "n", "--scopes", "read,write"], "read, ingest, chat and admin"),
    ] {
        let error = refused(folder, &arguments).await;
        assert!(error.contains(said), "{error}");
    }
    assert!(refused(folder, &["apikeys", "revoke", "dk_abcdefghijkm"]).await.contains("no key begins"));
    assert!(refused(folder, &["apikeys", "revoke", "x"]).await.contains("neither"));
    let arguments = ["apikeys", "create", "--dev", ADA, "--name", "n", "--scopes", "read"];
    let (_, _, said) = run(docent(folder).args(arguments)).await;
    assert!(said.contains("DOCENT_AUTH_BACKENDS"), "{said}");
}
