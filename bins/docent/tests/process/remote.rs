//! Client commands against a running service.

use crate::client::{Client, fixture};
use crate::create_account;
use crate::program::{Serving, docent, in_time, run};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

pub(super) const EMAIL: &str = "ada@example.org";
pub(super) const PASSWORD: &str = "correct horse";

pub(super) fn remote(folder: &Path, server: &str, args: &[&str]) -> Command {
    let mut command = docent(folder);
    command
        .args(args)
        .env("DOCENT_SERVER", server)
        .env("DOCENT_CREDENTIALS", folder.join("credentials.json"));
    command
}

pub(super) async fn log_in(folder: &Path, server: &str, password: &str) -> (Option<i32>, String) {
    let mut command = remote(folder, server, &["login", "--password-stdin", EMAIL]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{password}\n").as_bytes()).await.unwrap();
    let output = in_time(child.wait_with_output()).await.unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Searches through `docent mcp`, as an assistant would.
async fn ask_over_mcp(folder: &Path, server: &str, query: &str) -> Value {
    let mut command = remote(folder, server, &["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    let client = json!({ "name": "test", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let search = json!({ "name": "search_docs", "arguments": { "query": query } });
    let mut answer = Value::Null;
    for (id, method, params) in
        [(0, "initialize", begin), (1, "tools/list", json!({})), (2, "tools/call", search)]
    {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        answer = serde_json::from_str(&in_time(answers.next_line()).await.unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]), (&json!(id), &Value::Null), "{answer}");
        if id == 0 {
            assert!(
                answer["result"]["instructions"].is_string(),
                "the instructions of the service: {answer}"
            );
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            input.write_all(format!("{ready}\n").as_bytes()).await.unwrap();
        }
    }
    drop(input);
    assert!(in_time(child.wait()).await.unwrap().success(), "the command ends with its input");
    answer
}

#[tokio::test]
async fn client_commands_list_search_retry_and_delete_documents() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, EMAIL, PASSWORD).await;
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    let server = serving.base.clone();
    let (status, _, error) = run(&mut remote(folder, &server, &["documents", "list"])).await;
    assert!(!status.success() && error.contains("docent login"), "{error}");
    let (status, printed, error) = run(&mut remote(folder, &server, &["mcp"])).await;
    assert!(!status.success() && printed.is_empty() && error.contains("docent login"), "{error}");
    let (code, error) = log_in(folder, &server, "wrong horse").await;
    assert!(code == Some(1) && error.contains("Invalid email or password"), "{error}");
    let (code, error) = log_in(folder, &server, PASSWORD).await;
    assert_eq!(code, Some(0), "{error}");

    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    let good = client.upload(&fixture("handbook.pdf")).await;
    let broken = folder.join("broken.pdf");
    std::fs::write(&broken, "no PDF").unwrap();
    let bad = client.upload(&broken).await;
    client.settled().await;

    // An expired access token is refreshed.
    let file = folder.join("credentials.json");
    let mut stored: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let entry = stored.as_object_mut().unwrap().values_mut().next().unwrap();
    entry["access_token"] = "an old one".into();
    std::fs::write(&file, stored.to_string()).unwrap();
    let listed =
        run(&mut remote(folder, &server, &["documents", "list", "--json", "--status", "failed"])).await;
    let document: Value = serde_json::from_str(listed.1.trim()).unwrap();
    assert_eq!(document["id"], bad.as_str(), "{listed:?}");

    let query = "How long is the return period for pumps?";
    let (status, printed, _) = run(&mut remote(folder, &server, &["search", query, "--limit", "1"])).await;
    assert!(status.success() && printed.contains("handbook.pdf, page"), "{printed}");
    let args = ["search", query, "--json", "--document", &good, "--document", &bad];
    let (_, printed, _) = run(&mut remote(folder, &server, &args)).await;
    let best: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    assert_eq!((&best["document_id"], &best["title"]), (&good.as_str().into(), &"handbook.pdf".into()));
    let (_, printed, _) = run(&mut remote(folder, &server, &["search", query, "--document", &bad])).await;
    assert_eq!(printed, "No results.\n");
    let (status, printed, _) = run(&mut remote(folder, &server, &["documents", "summary", &good])).await;
    assert!(
        status.success() && printed.contains("Key points:\n- ") && printed.contains("(page "),
        "{printed}"
    );
    let (status, _, error) = run(&mut remote(folder, &server, &["documents", "summary", &bad])).await;
    assert!(!status.success() && error.contains("has no summary: it is not ingested"), "{error}");
    let everyone = "00000000-0000-0000-0000-000000000001";
    for (limits, is_found) in [
        (&["--where", "file_name=handbook.pdf", "--where", "pages>=6"][..], true),
        (&["--where", "pages>1000"], false),
        (&["--collection", everyone], true),
    ] {
        let args = [&["search", query][..], limits].concat();
        let (_, printed, error) = run(&mut remote(folder, &server, &args)).await;
        assert_eq!(printed.contains("handbook.pdf"), is_found, "{limits:?}: {printed}{error}");
        let args = [&["ask", query][..], limits].concat();
        let (_, printed, error) = run(&mut remote(folder, &server, &args)).await;
        assert_eq!(printed.contains("handbook.pdf"), is_found, "{limits:?}: {printed}{error}");
    }
    manage_collections(folder, &server, &good).await;
    let args = ["search", query, "--collection", &good];
    let (status, _, error) = run(&mut remote(folder, &server, &args)).await;
    assert!(!status.success() && error.contains("Collection not found"), "{error}");
    let (status, _, error) = run(&mut remote(folder, &server, &["search", " "])).await;
    assert!(!status.success() && error.contains("query must not be empty"), "{error}");

    let found = ask_over_mcp(folder, &server, query).await;
    assert_eq!(found["result"]["structuredContent"]["results"][0]["document_id"], good.as_str(), "{found}");

    let (status, printed, _) = run(&mut remote(folder, &server, &["documents", "retry", &bad, &good])).await;
    assert_eq!(status.code(), Some(1), "one of them was not failed: {printed}");
    assert!(printed.contains(&format!("{bad}  queued again")), "{printed}");
    assert!(printed.contains(&format!("{good}  Only a failed document can be retried")), "{printed}");

    let (status, printed, _) = run(&mut remote(folder, &server, &["documents", "delete", &good, &bad])).await;
    assert!(status.success(), "{printed}");
    let (_, printed, _) = run(&mut remote(folder, &server, &["documents", "list"])).await;
    assert_eq!(printed, "");

    let (status, ..) = run(&mut remote(folder, &server, &["logout"])).await;
    assert!(status.success());
    let (status, _, error) = run(&mut remote(folder, &server, &["documents", "list"])).await;
    assert!(!status.success() && error.contains("not logged in"), "{error}");
    serving.terminate().await;
    let (status, _, error) =
        run(&mut remote(folder, &server, &["documents", "list", "--api-key", "dk_x"])).await;
    assert!(!status.success() && error.contains("cannot be reached"), "{error}");
}

/// Manages a collection by its name, moves a document into it, and lists it there.
async fn manage_collections(folder: &Path, server: &str, document: &str) {
    let done = async |args: &[&str]| {
        let (status, printed, error) = run(&mut remote(folder, server, args)).await;
        assert!(status.success(), "{args:?}: {printed}{error}");
        printed
    };
    let refused = async |args: &[&str], reason: &str| {
        let (status, printed, error) = run(&mut remote(folder, server, args)).await;
        assert!(status.code() == Some(1) && error.contains(reason), "{args:?}: {printed}{error}");
    };
    let created = done(&["collections", "create", "Legal", "--description", "Contracts", "--json"]).await;
    let created: Value = serde_json::from_str(&created).unwrap();
    let id = created["id"].as_str().unwrap();
    assert_eq!(created["role"], "manager", "{created}");
    assert!(done(&["collections", "show", "Legal"]).await.contains(&format!("id          {id}")));
    assert!(done(&["collections", "list", "--name", "leg"]).await.starts_with(id));
    done(&["collections", "create", "Twice"]).await;
    done(&["collections", "create", "Twice"]).await;
    refused(&["collections", "show", "Twice"], "2 collections are named \"Twice\"; use an ID").await;
    refused(&["collections", "show", "Third"], "no collection is named \"Third\"").await;
    let changed = done(&["collections", "change", "Legal", "--role-of-all", "viewer"]).await;
    assert!(changed.contains("role of all viewer"), "{changed}");
    assert!(done(&["collections", "change", id, "--role-of-all", "none"]).await.contains("role of all none"));

    refused(&["collections", "members", "set", "Legal", "eve@example.org", "--role", "viewer"], "not found")
        .await;
    refused(&["collections", "members", "set", "Legal", EMAIL, "--role", "viewer"], "owns the collection")
        .await;
    let set = done(&["collections", "members", "set", "Legal", EMAIL, "--role", "manager"]).await;
    assert!(set.contains("manager") && set.contains(EMAIL), "{set}");
    assert_eq!(done(&["collections", "members", "list", "Legal"]).await, set);
    refused(&["collections", "members", "remove", "Legal", "--group", "none"], "is not a member").await;
    done(&["collections", "members", "remove", "Legal", "ADA@example.org"]).await;
    assert_eq!(done(&["collections", "members", "list", "Legal"]).await, "");

    let labelled = done(&[
        "documents",
        "label",
        document,
        "--add",
        "Legal",
        "--set",
        "year=2025",
        "--set",
        "kind=lease",
    ])
    .await;
    for line in
        [format!("collection  {id}"), "attribute   year=2025".to_owned(), format!("owner       {EMAIL}")]
    {
        assert!(labelled.lines().any(|other| other == line), "{line}: {labelled}");
    }
    for (args, is_listed) in [
        (&["--collection", "Legal"][..], true),
        (&["--collection", "Personal"], false),
        (&["--where", "year>=2025", "--where", "kind=lease"], true),
        (&["--where", "year>2025"], false),
    ] {
        let listed = done(&[&["documents", "list"], args].concat()).await;
        assert_eq!(listed.contains(document), is_listed, "{args:?}: {listed}");
    }
    let found = done(&["search", "pumps", "--collection", "Legal"]).await;
    assert!(found.contains("handbook.pdf") || found == "No results.\n", "{found}");
    let unset = done(&["documents", "label", document, "--unset", "kind", "--json"]).await;
    let unset: Value = serde_json::from_str(&unset).unwrap();
    assert_eq!(unset["attributes"], json!({ "year": 2025 }));
    refused(&["documents", "label", document, "--unset", "kind"], "has no attribute \"kind\"").await;
    refused(&["collections", "delete", "Everyone"], "cannot be deleted").await;
    done(&["documents", "label", document, "--remove", "Legal"]).await;
    assert!(done(&["collections", "delete", "Legal", "--json"]).await.contains("\"deleted\":true"));
}
