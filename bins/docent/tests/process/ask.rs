//! `docent ask`, against a running service and a scripted one.

use crate::accounts::objects;
use crate::client::{Client, fixture};
use crate::create_account;
use crate::ingest::interrupt;
use crate::program::{Serving, docent, in_time, rest, run};
use crate::remote::{EMAIL, PASSWORD, log_in, remote};
use docent_testkit::wire::{FakeLlm, Gate, Reply};
use serde_json::json;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdout, Command};

const UNKNOWN: &str = "067e6162-3b6f-4ae2-a171-2470b63dff00";
const QUESTION: &str = "How long is the return period for pumps?";

#[tokio::test]
async fn ask_prints_answer_and_sources() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, EMAIL, PASSWORD).await;
    let serving = Serving::start(docent(folder).args(["dev", "--no-sample"])).await;
    log_in(folder, &serving.base, PASSWORD).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    let id = client.upload(&fixture("handbook.pdf")).await;
    client.settled().await;

    let (status, printed, error) = run(&mut remote(folder, &serving.base, &["ask", QUESTION])).await;
    assert!(status.success(), "{error}");
    let (answer, sources) = printed.split_once("\n\nSources:\n").unwrap();
    assert!(!answer.is_empty() && sources.starts_with("  handbook.pdf, page"), "{printed}");
    assert!(sources.ends_with(&format!("   (document {id})\n")), "{printed}");

    let explain = |args: &[&str]| {
        let args = [&["ask", QUESTION, "--explain"], args].concat();
        remote(folder, &serving.base, &args)
    };
    let (status, explained, error) = run(&mut explain(&[])).await;
    assert!(status.success() && explained.starts_with(printed.trim_end()), "{explained}{error}");
    let table = explained.split_once("Units: an answer from 0.").unwrap().1;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[2].starts_with(" probability subject context document"), "{explained}");
    assert!(lines[3].ends_with("(constant and weights)"), "{explained}");
    assert!(lines[4].contains("handbook.pdf, page 2: ") && lines[4].contains("45 days"), "{explained}");
    let (_, object, _) = run(&mut explain(&["--json"])).await;
    let units = &objects(&object)[0]["explanation"]["units"];
    assert_eq!(units[0]["document_id"], id.as_str(), "{object}");
    let (status, printed, error) =
        run(&mut remote(folder, &serving.base, &["ask", "Hello", "--explain"])).await;
    assert_eq!(status.code(), Some(1), "{printed}");
    assert!(
        printed.starts_with("Hello!") && error.contains("nothing was searched for it"),
        "{printed}{error}"
    );

    let mut from_stdin = remote(folder, &serving.base, &["ask", "-", "--json", "--continue"]);
    let mut child = from_stdin.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(QUESTION.as_bytes()).await.unwrap();
    let output = in_time(child.wait_with_output()).await.unwrap();
    let first = &objects(std::str::from_utf8(&output.stdout).unwrap())[0];
    assert_eq!(
        (&first["complete"], &first["error"], &first["agent"]),
        (&json!(true), &json!(null), &json!("chat"))
    );
    assert!(answer.starts_with(first["answer"].as_str().unwrap().trim_end()), "{first}");
    assert_eq!(first["sources"][0]["document_id"], id.as_str());

    let args = ["ask", "--json", "--continue", "And who pays for it?"];
    let (_, printed, _) = run(&mut remote(folder, &serving.base, &args)).await;
    let conversation = first["conversation_id"].as_str().unwrap();
    assert_eq!(objects(&printed)[0]["conversation_id"], conversation);
    let args = ["ask", "--conversation", conversation, "And when?"];
    assert!(run(&mut remote(folder, &serving.base, &args)).await.0.success());
    let conversation = client.get(&format!("/conversations/{conversation}")).await;
    assert_eq!(conversation["messages"].as_array().unwrap().len(), 6, "{conversation}");

    for (args, words) in [
        (&["ask", " "][..], "the question is empty"),
        (&["ask", "--agent", "unknown", "Who?"], "Agent not found"),
        (&["ask", "--document", "nope", "Who?"], "not an ID such as"),
        (&["ask", "--document", UNKNOWN, "Who?"], "cannot be searched: Document not found"),
        (&["ask", "--api-key", "dk_x", "Who?"], "Could not validate credentials"),
        (&["ask", "--server", "http://127.0.0.1:1", "--api-key", "dk_x", "Who?"], "cannot be reached"),
    ] {
        let (status, printed, error) = run(&mut remote(folder, &serving.base, args)).await;
        assert_eq!(status.code(), Some(2), "{args:?}: {error}");
        assert!(printed.is_empty() && error.contains(words), "{args:?}: {error}");
    }
}

fn ask(folder: &Path, fake: &FakeLlm, args: &[&str]) -> Command {
    let server = format!("http://{}", fake.address());
    let mut command = remote(folder, &server, &["ask", "Why?"]);
    command.args(args).env("DOCENT_API_KEY", "dk_x");
    command
}

async fn read(stdout: &mut ChildStdout, length: usize) -> String {
    let mut bytes = vec![0; length];
    in_time(stdout.read_exact(&mut bytes)).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn ask_streams_text_across_any_chunk_boundary() {
    let (folder, fake, gate) = (TempDir::new().unwrap(), FakeLlm::start().await, Gate::default());
    let sources = json!({ "results": [
        { "document_id": "7", "title": "Terms.pdf", "page_start": 3, "page_end": 4, "text": "…", "score": 1.5 },
    ] });
    let reply = Reply::events(&["\"Five \""])
        .wait(&gate)
        .piece(": ping\r\n\r\nda")
        .piece("ta: \"y\\u001b[2Jears.\\n\"\r")
        .piece("\n\r\nevent: sources\r\ndata: ")
        .piece(format!("{sources}\n\n"));
    fake.script(reply);
    let mut child = ask(folder.path(), &fake, &[]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    assert_eq!(read(&mut stdout, 5).await, "Five ");
    gate.open();
    let mut printed = String::new();
    in_time(stdout.read_to_string(&mut printed)).await.unwrap();
    assert_eq!(printed, "y [2Jears.\n\nSources:\n  Terms.pdf, pages 3 to 4   (document 7)\n");
    assert!(in_time(child.wait()).await.unwrap().success());
    let request = &fake.requests()[0];
    assert_eq!(
        (request.path.as_str(), request.json()["include_sources"].as_bool()),
        ("/agents/chat", Some(true))
    );
}

#[tokio::test]
async fn incomplete_answer_has_exit_code_and_reason() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let start = || Reply::events(&["\"Five \""]);
    let error_event = "event: error\ndata: {\"detail\": \"The chat model did not answer in time\"}\n\n";
    for (reply, why) in [
        (start().piece(error_event), "The chat model did not answer in time"),
        (start().cut(), "the connection was lost"),
        (start(), "the stream ended early"),
        (start().piece(vec![b'x'; 2 * 1024 * 1024]), "an event of the stream is too long"),
    ] {
        fake.script(reply.clone());
        let (status, printed, error) = run(&mut ask(folder.path(), &fake, &[])).await;
        assert_eq!(status.code(), Some(1), "{why}: {error}");
        assert!(error.contains(&format!("the answer is incomplete: {why}")), "{why}: {error}");
        assert_eq!(printed, "Five \n", "{why}");
        fake.script(reply);
        let (status, printed, _) = run(&mut ask(folder.path(), &fake, &["--json"])).await;
        assert_eq!(status.code(), Some(1));
        let object = &objects(&printed)[0];
        assert_eq!((&object["complete"], &object["error"]), (&json!(false), &json!(why)));
        assert_eq!(object["answer"], "Five ");
    }
    fake.script(Reply::json(502, "{\"detail\": \"The chat model failed\"}"));
    let (status, printed, error) = run(&mut ask(folder.path(), &fake, &[])).await;
    assert_eq!((status.code(), printed.as_str()), (Some(2), ""), "{error}");
    assert!(error.contains("The chat model failed"), "{error}");
}

#[tokio::test]
async fn interrupted_ask_closes_connection() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.script(Reply::events(&["\"Five \""]).stall());
    let mut child = ask(folder.path(), &fake, &[]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    read(&mut stdout, 5).await;
    interrupt(&child).await;
    let status = in_time(child.wait()).await.unwrap();
    let error = rest(&mut child).await;
    assert!(status.code() == Some(130) && error.contains("interrupted"), "{status}: {error}");
    in_time(fake.until(|counts| counts.hang_ups == 1)).await;
}

#[tokio::test]
async fn closed_stdout_is_not_an_error() {
    let (folder, fake, gate) = (TempDir::new().unwrap(), FakeLlm::start().await, Gate::default());
    fake.script(Reply::events(&["\"Five \""]).wait(&gate).event("\"years.\"").stall());
    let mut child = ask(folder.path(), &fake, &[]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    read(&mut stdout, 5).await;
    drop(stdout);
    gate.open();
    let status = in_time(child.wait()).await.unwrap();
    let error = rest(&mut child).await;
    assert!(status.success() && error.is_empty(), "{error}");
}
