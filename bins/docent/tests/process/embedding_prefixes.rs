//! Prefixes of the embedding model in an index, at the start and in a new index.

use crate::client::{Client, client, fixture};
use crate::create_account;
use crate::program::{Serving, docent, rest, run};
use crate::remote::{EMAIL, PASSWORD};
use docent_testkit::wire::FakeLlm;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

const QUESTION: &str = "How long is the return period for pumps?";
const MODEL: &str = "nomic-embed-text";

/// A command with the model, and without prefixes if they are switched off.
fn command(folder: &Path, fake: &FakeLlm, has_prefixes: bool, args: &[&str]) -> Command {
    let mut command = docent(folder);
    command.args(args).env("DOCENT_EMBEDDING_PROVIDER", "openai");
    command.env("DOCENT_EMBEDDING_BASE_URL", fake.base_url()).env("DOCENT_EMBEDDING_MODEL", MODEL);
    if !has_prefixes {
        command.env("DOCENT_EMBEDDING_QUERY_PREFIX", "").env("DOCENT_EMBEDDING_DOCUMENT_PREFIX", "");
    }
    command
}

async fn serve(folder: &Path, fake: &FakeLlm, has_prefixes: bool) -> (Serving, Client) {
    let mut command = command(folder, fake, has_prefixes, &["dev", "--no-sample"]);
    let serving = Serving::start(&mut command).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    (serving, client)
}

/// Stops a process and returns what it logged.
async fn stop(mut serving: Serving) -> String {
    serving.child.start_kill().unwrap();
    format!("{}{}", serving.printed, rest(&mut serving.child).await)
}

/// The texts that were sent since the last call.
fn sent(fake: &FakeLlm, seen: &mut usize) -> Vec<String> {
    let requests = fake.requests();
    let texts = requests[*seen..].iter().flat_map(|request| {
        let body = request.json();
        assert_eq!(body["model"], MODEL);
        body["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    });
    let texts = texts.collect();
    *seen = requests.len();
    texts
}

#[tokio::test]
async fn index_keeps_its_prefixes_until_it_is_rebuilt() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let mut seen = 0;
    create_account(folder.path(), EMAIL, PASSWORD).await;
    // As an earlier release built it.
    let (serving, client) = serve(folder.path(), &fake, false).await;
    client.upload(&fixture("handbook.pdf")).await;
    client.settled().await;
    let found = client.found(QUESTION).await;
    let texts = sent(&fake, &mut seen);
    assert!(texts.contains(&QUESTION.to_owned()) && !texts.iter().any(|text| text.starts_with("search_")));
    serving.terminate().await;

    let (serving, client) = serve(folder.path(), &fake, true).await;
    assert_eq!(client.found(QUESTION).await, found, "the index is used as before");
    let texts = sent(&fake, &mut seen);
    assert!(!texts.is_empty() && texts.iter().all(|text| text == QUESTION), "{texts:?}");
    let log = stop(serving).await;
    assert!(log.contains("other prefixes") && log.contains("docent reindex"), "{log}");

    let (status, printed, error) = run(&mut command(folder.path(), &fake, true, &["reindex", "--dev"])).await;
    assert!(status.success(), "{printed}{error}");
    let texts = sent(&fake, &mut seen);
    assert!(texts.len() > 1 && texts[0].starts_with("search_query: "), "{texts:?}");
    assert!(texts[1..].iter().all(|text| text.starts_with("search_document: ")), "no cached vector is used");

    let (serving, client) = serve(folder.path(), &fake, true).await;
    assert!(client.found(QUESTION).await.values().any(|chunks| !chunks.is_empty()));
    let texts = sent(&fake, &mut seen);
    assert!(!texts.is_empty() && texts.iter().all(|text| *text == format!("search_query: {QUESTION}")));
    // Clients of the embeddings API put prefixes before their texts themselves.
    let request = client_request(&client).json(&json!({ "model": MODEL, "input": "pumps" }));
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["data"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(sent(&fake, &mut seen), ["pumps"]);
    let log = stop(serving).await;
    assert!(!log.contains("other prefixes"), "{log}");

    let (status, printed, _) = run(&mut command(folder.path(), &fake, false, &["doctor", "--dev"])).await;
    assert_eq!(status.code(), Some(1), "{printed}");
    assert!(
        printed.contains("nomic-embed-text?query=search_query:%20&document=search_document:%20"),
        "{printed}"
    );
    assert!(printed.contains("DOCENT_EMBEDDING_QUERY_PREFIX"), "{printed}");
}

fn client_request(by: &Client) -> reqwest::RequestBuilder {
    client().post(format!("{}/v1/embeddings", by.base)).bearer_auth(&by.token)
}
