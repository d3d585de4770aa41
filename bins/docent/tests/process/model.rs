//! The service with a chat model behind an HTTP API.

use crate::client::{Client, fixture};
use crate::create_account;
use crate::program::{Serving, docent};
use crate::remote::{EMAIL, PASSWORD};
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::wire::{FakeLlm, Request};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const QUESTION: &str = "How long is the return period for pumps?";

/// Starts a service that uses `fake` and has ingested a document.
async fn serving(folder: &Path, fake: &FakeLlm) -> (Serving, Client) {
    create_account(folder, EMAIL, PASSWORD).await;
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]).env("DOCENT_LLM_BASE_URL", fake.base_url());
    let serving = Serving::start(command.env("DOCENT_LLM_MODEL", "scripted")).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    client.upload(&fixture("handbook.pdf")).await;
    client.settled().await;
    (serving, client)
}

/// The messages in the body of a request, byte by byte, without the brackets.
fn messages(request: &Request) -> String {
    let body = String::from_utf8(request.body.clone()).unwrap();
    let (_, messages) = body.split_once(r#""messages":["#).unwrap();
    messages.rsplit_once(r#"],"stream":true"#).unwrap().0.to_owned()
}

#[tokio::test]
async fn reranking_back_end_receives_title_and_page_with_each_passage() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    create_account(folder.path(), EMAIL, PASSWORD).await;
    let mut command = docent(folder.path());
    command.args(["dev", "--no-sample"]).env("DOCENT_RERANK_BASE_URL", fake.base_url());
    let serving = Serving::start(command.env("DOCENT_RERANK_MODEL", "test-reranker")).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    client.upload(&fixture("handbook.pdf")).await;
    let found = client.found(QUESTION).await;
    assert!(found.values().all(|chunks| !chunks.is_empty()), "{found:?}");
    let sent = fake.requests().pop().unwrap().json();
    assert_eq!(sent["query"], QUESTION);
    let documents = sent["documents"].as_array().unwrap();
    assert!(!documents.is_empty());
    for document in documents {
        let (header, text) = document.as_str().unwrap().split_once("\n\n").unwrap();
        assert!(header.starts_with("handbook | ") && header.contains("page"), "{header}");
        assert!(!header.contains('\n') && !text.trim().is_empty(), "{document}");
    }
}

// Invariant: The messages of a model call begin with those of the previous call of the answer, byte by byte.
#[tokio::test]
async fn messages_of_a_model_call_begin_with_those_of_the_previous_one() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let several = Turn::new()
        .text("I look again. ")
        .tool_call("call-2", "search_docs", r#"{"query":"pump \"return\""}"#)
        .tool_call("call-3", "search_docs", r#"{"query":"unicorn"}"#)
        .stop();
    let turns = [Turn::searching("return period"), several, Turn::searching("pumps"), Turn::saying("Done.")];
    fake.play(Arc::new(ScriptedChatModel::new(turns)));
    let (_serving, client) = serving(folder.path(), &fake).await;
    let (answer, sources) = client.ask(QUESTION).await;
    assert_eq!(answer, "I look again. Done.");
    assert!(!sources.is_empty());

    let requests = fake.requests();
    let sent: Vec<String> = requests.iter().map(messages).collect();
    assert_eq!(sent.len(), 4);
    for pair in sent.windows(2) {
        assert!(pair[1].starts_with(&format!("{},", pair[0])), "{}\n\n{}", pair[0], pair[1]);
    }
    // The tool outputs have only the texts; where these come from is in a message behind them.
    let last = requests[3].json();
    let roles: Vec<&str> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    let round = ["assistant", "tool", "system"];
    let two = ["assistant", "tool", "tool", "system"];
    assert_eq!(roles, [&["system", "user"][..], &round, &two, &round].concat());
    assert!(!last["messages"][3]["content"].as_str().unwrap().contains("handbook.pdf"), "{last}");
    assert!(last["messages"][4]["content"].as_str().unwrap().contains("\n1. handbook.pdf, page"), "{last}");
}
