//! Completions, manual pages and JSON output.

use crate::accounts::objects;
use crate::create_account;
use crate::maintenance::installation;
use crate::program::{Serving, docent, in_time, run};
use crate::remote::{EMAIL, PASSWORD, remote};
use docent_testkit::wire::{FakeLlm, Reply};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Runs a command with `--json`; returns the objects it prints.
async fn run_json(folder: &Path, args: &[&str]) -> Vec<Value> {
    let (status, printed, error) = run(docent(folder).args(args).arg("--json")).await;
    assert!(status.success(), "{args:?}: {error}");
    objects(&printed)
}

#[tokio::test]
async fn completions_are_valid_scripts() {
    let folder = TempDir::new().unwrap();
    let (status, printed, error) = run(docent(folder.path()).args(["completions", "bash"])).await;
    assert!(status.success(), "{error}");
    let mut bash = Command::new("bash");
    let words = "COMP_WORDS=(docent ing); COMP_CWORD=1; _docent docent ing docent; echo \"${COMPREPLY[@]}\"";
    let script = format!("{printed}\n{words}\n");
    bash.args(["--norc", "-s"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = bash.spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).await.unwrap();
    let output = in_time(child.wait_with_output()).await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "ingest", "{error}");
    assert!(!error.contains("syntax error"), "{error}");
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let (status, printed, _) = run(docent(folder.path()).args(["completions", shell])).await;
        assert!(status.success() && printed.contains("ingest"), "{shell}");
    }
    let (status, ..) = run(docent(folder.path()).args(["completions", "no-shell"])).await;
    assert_eq!(status.code(), Some(2));
}

#[tokio::test]
async fn man_writes_a_page_for_each_command() {
    let folder = TempDir::new().unwrap();
    let (status, printed, _) = run(docent(folder.path()).arg("man")).await;
    assert!(status.success() && printed.contains(".TH docent 1"), "{printed}");
    let pages = folder.path().join("share/man1");
    let (status, _, error) = run(docent(folder.path()).args(["man", "--out"]).arg(&pages)).await;
    assert!(status.success(), "{error}");
    for (page, words) in [
        ("docent.1", "Ask a running service"),
        ("docent-ingest.1", "several at once"),
        ("docent-documents-show.1", "Show a document"),
    ] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(words), "{page}: {text}");
    }
    let taken = folder.path().join("a file");
    std::fs::write(&taken, "").unwrap();
    let (status, _, error) = run(docent(folder.path()).args(["man", "--out"]).arg(&taken)).await;
    assert!(status.code() == Some(1) && error.contains("a file"), "{error}");
}

#[tokio::test]
async fn installation_commands_print_json() {
    let (folder, id) = installation().await;
    let (folder, other) = (folder.path(), TempDir::new().unwrap());
    let archive = folder.join("a.tar.gz");
    let archive = archive.to_str().unwrap();
    let saved = &run_json(folder, &["backup", "--dev", archive]).await[0];
    assert_eq!((&saved["documents"], &saved["files"]), (&json!(1), &json!(1)), "{saved}");
    let restored = &run_json(other.path(), &["restore", "--dev", archive]).await[0];
    assert_eq!((&restored["documents"], &restored["queued"]), (&json!(1), &json!(0)), "{restored}");
    let migrated = &run_json(folder, &["migrate", "--dev"]).await[0];
    assert_eq!(migrated["changed"], false, "{migrated}");
    let settings = run_json(folder, &["config", "--dev"]).await;
    let limit = settings.iter().find(|setting| setting["variable"] == "DOCENT_SEARCH_LIMIT").unwrap();
    assert_eq!((&limit["value"], &limit["source"]), (&json!("12"), &json!("environment")));
    assert!(settings.iter().all(|setting| setting["meaning"].is_string()), "{settings:?}");

    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    let address = serving.base.trim_start_matches("http://").to_owned();
    let healthy = &run_json(folder, &["healthcheck", "--address", &address]).await[0];
    assert_eq!((&healthy["ready"], &healthy["answer"]["status"]), (&json!(true), &json!("ok")), "{healthy}");

    let mut login = remote(folder, &serving.base, &["login", "--json", "--password-stdin", EMAIL]);
    let mut child = login.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{PASSWORD}\n").as_bytes()).await.unwrap();
    let output = in_time(child.wait_with_output()).await.unwrap();
    let logged_in = &objects(std::str::from_utf8(&output.stdout).unwrap())[0];
    assert_eq!((&logged_in["email"], &logged_in["server"]), (&json!(EMAIL), &json!(serving.base)));
    let (_, printed, _) =
        run(&mut remote(folder, &serving.base, &["documents", "show", &id, "--json"])).await;
    let shown = &objects(&printed)[0];
    assert_eq!((&shown["title"], &shown["status"]), (&json!("handbook.pdf"), &json!("ingested")), "{shown}");
    assert!(shown["coverage"]["pages"].is_number() && shown["vector_doc_id"] == id.as_str(), "{shown}");
    let (_, printed, _) = run(&mut remote(folder, &serving.base, &["documents", "show", &id])).await;
    assert!(printed.contains("title       handbook.pdf\nstatus      ingested\n"), "{printed}");
    let (_, printed, _) =
        run(&mut remote(folder, &serving.base, &["documents", "delete", &id, "--json"])).await;
    assert_eq!(objects(&printed), [json!({ "id": id, "done": true, "outcome": "deleted" })]);
    let (_, printed, _) = run(&mut remote(folder, &serving.base, &["logout", "--json"])).await;
    assert_eq!(objects(&printed), [json!({ "server": serving.base })]);

    serving.kill().await;
    let (status, printed, error) =
        run(docent(folder).args(["healthcheck", "--json", "--address", &address])).await;
    assert!(status.code() == Some(1) && error.contains(&address), "{error}");
    assert_eq!(objects(&printed)[0]["ready"], false);
}

#[tokio::test]
async fn account_and_key_commands_print_json() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, EMAIL, PASSWORD).await;
    for (args, is_active) in
        [(["users", "create"], true), (["users", "deactivate"], false), (["users", "activate"], true)]
    {
        let mut command = docent(folder);
        command.args(args).args(["--dev", "--json", "bob@example.org"]).stdin(Stdio::piped());
        if args[1] == "create" {
            command.arg("--password-stdin");
        }
        let mut child = command.spawn().unwrap();
        // Commands without a password may end before it is written.
        let _ = child.stdin.take().unwrap().write_all(b"correct horse\n").await;
        let output = in_time(child.wait_with_output()).await.unwrap();
        let object = &objects(std::str::from_utf8(&output.stdout).unwrap())[0];
        assert_eq!((&object["email"], &object["is_active"]), (&json!("bob@example.org"), &json!(is_active)));
    }
    let create = ["apikeys", "create", "--dev", EMAIL, "--name", "n", "--scopes", "read"];
    let made = &run_json(folder, &create).await[0];
    let prefix = made["prefix"].as_str().unwrap();
    let revoked = &run_json(folder, &["apikeys", "revoke", "--dev", prefix]).await[0];
    assert!(revoked["revoked_at"].is_string() && revoked["key"].is_null(), "{revoked}");
    assert_eq!((&revoked["id"], &revoked["email"]), (&made["id"], &json!(EMAIL)));
}

#[tokio::test]
async fn documents_list_follows_cursors() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let access = json!({ "owner_email": "ada@example.org", "collection_ids": ["7"] });
    let page = |id: &str| {
        let created = "2026-01-02T03:04:05.000000Z";
        let document =
            json!({ "id": id, "title": "t", "status": "failed", "created_at": created, "access": access });
        Reply::json(200, json!([document]).to_string())
    };
    fake.script(page("1").header("X-Next-Cursor", "a.b"));
    fake.script(Reply::json(200, json!([{ "id": "7", "name": "Legal" }]).to_string()));
    fake.script(page("2"));
    let server = format!("http://{}", fake.address());
    let args = ["documents", "list", "--status", "failed", "--title", "a b", "--api-key", "dk_x"];
    let (status, printed, error) = run(&mut remote(folder.path(), &server, &args)).await;
    assert!(status.success(), "{error}");
    let rest = "failed    2026-01-02  -  ada@example.org  Legal  t";
    assert_eq!(printed, format!("1  {rest}\n2  {rest}\n"));
    let queries: Vec<String> = fake.requests().into_iter().map(|request| request.query).collect();
    let first = "limit=1000&include=details&status=failed&q=a+b";
    assert_eq!(queries, [first.to_owned(), String::new(), format!("{first}&cursor=a.b")]);

    // Colours only on request: standard output is no terminal.
    for (options, variable, is_colored) in
        [(&["--color", "always"][..], "1", true), (&["--color=never"], "", false), (&[], "", false)]
    {
        fake.script(page("1"));
        fake.script(Reply::json(200, "[]"));
        let args = [options, &["documents", "list", "--api-key", "dk_x"]].concat();
        let (_, printed, error) = run(remote(folder.path(), &server, &args).env("NO_COLOR", variable)).await;
        assert_eq!(
            printed.contains("\x1b[31mfailed  \x1b[0m"),
            is_colored,
            "{options:?}: {printed:?}{error}"
        );
    }
}

#[tokio::test]
async fn help_is_colored_on_request() {
    let folder = TempDir::new().unwrap();
    for (choice, is_colored) in [("always", true), ("never", false)] {
        let (status, printed, _) = run(docent(folder.path()).args(["--color", choice, "--help"])).await;
        assert!(status.success() && printed.contains('\x1b') == is_colored, "{choice}: {printed:?}");
    }
    let (status, _, error) = run(docent(folder.path()).args(["--color", "blue", "openapi"])).await;
    assert!(status.code() == Some(2) && error.contains("auto, always, never"), "{error}");
}

#[tokio::test]
async fn program_without_command_prints_the_first_steps() {
    let folder = TempDir::new().unwrap();
    let (status, printed, error) = run(&mut docent(folder.path())).await;
    assert!(status.success() && error.is_empty(), "{error}");
    let program = env!("CARGO_BIN_EXE_docent");
    for arguments in
        ["dev", "login admin@localhost", "ingest --wait YOUR.pdf", "ask \"YOUR QUESTION\"", "--help"]
    {
        assert!(printed.contains(&format!("{program} {arguments}")), "{arguments}: {printed}");
    }
    let mut other = docent(folder.path());
    let (_, printed, _) =
        run(other.env("DOCENT_BIND_ADDRESS", "0.0.0.0:9000").env("CARGO_PKG_NAME", "docent")).await;
    let server = "--server http://127.0.0.1:9000";
    for line in
        ["dev", &format!("login {server} admin@localhost"), &format!("ask {server} \"YOUR QUESTION\"")]
    {
        assert!(printed.contains(&format!("     cargo run -- {line}\n")), "{line}: {printed}");
    }
    assert!(!folder.path().join("data").exists(), "nothing is created");
}

#[tokio::test]
async fn config_prints_settings_in_spite_of_problems() {
    let folder = TempDir::new().unwrap();
    let command = |arguments: &[&str]| {
        let mut command = docent(folder.path());
        command.args(arguments).env("DOCENT_RATE_LIMIT_PERIOD", "often");
        command
    };
    let (status, printed, error) = run(&mut command(&["config"])).await;
    assert_eq!(status.code(), Some(1), "{error}");
    assert!(
        error.contains("DOCENT_DATABASE_URL must be set") && error.contains("DOCENT_SECRET_KEY must be set")
    );
    assert!(printed.contains("\nDOCENT_SEARCH_LIMIT=12   (from the environment)\n"), "{printed}");
    let missing = "# Problem: DOCENT_DATABASE_URL must be set; accepted: sqlite://";
    assert!(printed.contains(missing) && printed.contains("\nDOCENT_DATABASE_URL=\n"), "{printed}");
    let (status, printed, _) = run(&mut command(&["config", "--dev", "--json"])).await;
    assert_eq!(status.code(), Some(1));
    let settings = objects(&printed);
    let period = settings.iter().find(|setting| setting["variable"] == "DOCENT_RATE_LIMIT_PERIOD").unwrap();
    assert!(period["value"].is_null() && period["problem"].as_str().unwrap().contains("often"), "{period}");
    assert!(settings.iter().filter(|setting| setting["problem"].is_string()).count() == 1, "{settings:?}");
}

/// Completes a line in bash; returns the candidates.
async fn complete(folder: &Path, server: &str, line: &str) -> String {
    let (_, script, _) = run(docent(folder).args(["completions", "bash"])).await;
    let program = env!("CARGO_BIN_EXE_docent");
    let words = format!(
        "COMP_LINE='{program} {line}'; COMP_POINT=${{#COMP_LINE}}; read -ra COMP_WORDS <<<\"$COMP_LINE \"; \
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _docent '{program}' \"${{COMP_WORDS[COMP_CWORD]}}\" ''; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &format!("{script}\n{words}")]).stdin(Stdio::null()).env_clear();
    bash.env("PATH", "/usr/bin:/bin").env("DOCENT_SERVER", server).env("DOCENT_API_KEY", "dk_x");
    let (_, printed, error) = run(bash.stdout(Stdio::piped()).stderr(Stdio::piped())).await;
    assert!(!error.contains("syntax error"), "{error}");
    printed
}

#[tokio::test]
async fn completions_know_documents_and_collections() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let server = format!("http://{}", fake.address());
    let documents = json!([{ "id": "01a", "title": "Handbook.pdf" }, { "id": "01b", "title": "Letter.pdf" }]);
    let collections = json!([{ "id": "7", "name": "Legal" }, { "id": "8", "name": "Sales team" }]);
    for (line, list, expected) in [
        ("documents show hand", &documents, "01a\n"),
        ("documents delete 01a 01", &documents, "01a\n01b\n"),
        ("search pumps --collection Le", &collections, "Legal\n"),
        ("search pumps --collection sales", &collections, "Sales\\ team\n"),
    ] {
        fake.script(Reply::json(200, list.to_string()));
        assert_eq!(complete(folder.path(), &server, line).await, expected, "{line}");
    }
    let asked = fake.requests().len();
    assert!(complete(folder.path(), &server, "documents sh").await.contains("show"));
    assert_eq!(fake.requests().len(), asked, "the service does not know names of commands");
    // Without a service, the line that is being typed stays as it is.
    let nowhere = "http://127.0.0.1:1";
    assert_eq!(complete(folder.path(), nowhere, "documents show hand").await.trim(), "");
}
