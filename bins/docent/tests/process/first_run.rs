//! The first start of `docent dev` with chat models and embedding back ends that do not work.

use crate::client::Client;
use crate::program::{Serving, docent, in_time, run};
use docent_testkit::wire::{FakeLlm, Reply};
use std::path::Path;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

/// More than the requests of two starts.
const MANY: usize = 50;
/// The account of the first start.
const ADMIN: &str = "admin@localhost";

/// The password that a start printed, if it did.
fn shown_password(printed: &str) -> Option<String> {
    let line = printed.lines().find(|line| line.ends_with("(shown once)"))?;
    line.split("password  ").nth(1)?.split_whitespace().next().map(str::to_owned)
}

/// The base URL of a back end that is not running.
async fn stopped() -> String {
    let fake = FakeLlm::start().await;
    let url = fake.base_url();
    fake.stop().await;
    url
}

fn dev(folder: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = docent(folder);
    command.arg("dev").envs(settings.iter().copied());
    command
}

/// Starts twice with these settings. The first start says what is wrong, and its password works both times.
async fn start_twice(settings: &[(&str, &str)], problem: &[&str]) {
    let folder = TempDir::new().unwrap();
    let first = Serving::start(&mut dev(folder.path(), settings)).await;
    let lines = first.printed.lines().filter(|line| problem.iter().all(|words| line.contains(words)));
    assert_eq!(lines.count(), 1, "{}", first.printed);
    assert!(!first.printed.contains("report this"), "{}", first.printed);
    let password = shown_password(&first.printed).unwrap();
    Client::log_in(&first, ADMIN, &password).await;
    let (status, _) = first.terminate().await;
    assert!(status.success());
    let second = Serving::start(&mut dev(folder.path(), settings)).await;
    assert!(
        !second.printed.contains("password") && !second.printed.contains("first start"),
        "{}",
        second.printed
    );
    let client = Client::log_in(&second, ADMIN, &password).await;
    assert_eq!(client.get("/documents").await.as_array().unwrap().len(), 1);
}

async fn start_twice_with_model(url: &str, problem: &str) {
    let settings =
        [("DOCENT_LLM_BASE_URL", url), ("DOCENT_LLM_MODEL", "scripted"), ("DOCENT_LLM_TIMEOUT", "1s")];
    start_twice(&settings, &[problem, "docent llm check --dev` to see what to change"]).await;
}

async fn start_twice_with_embeddings(url: &str, problem: &[&str]) {
    let settings = [
        ("DOCENT_EMBEDDING_PROVIDER", "openai"),
        ("DOCENT_EMBEDDING_BASE_URL", url),
        ("DOCENT_EMBEDDING_MODEL", "scripted"),
    ];
    start_twice(&settings, &[problem, &["docent llm check --dev` to see what to change"]].concat()).await;
}

#[tokio::test]
async fn model_that_calls_no_tool_does_not_stop_the_first_start() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.searches = false);
    start_twice_with_model(&fake.base_url(), "the documents were not searched").await;
}

#[tokio::test]
async fn model_that_is_down_does_not_stop_the_first_start() {
    start_twice_with_model(&stopped().await, "There is no complete answer: chat model: ").await;
}

#[tokio::test]
async fn model_with_a_wrong_key_does_not_stop_the_first_start() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.key = Some("right".to_owned()));
    start_twice_with_model(&fake.base_url(), "status 401").await;
}

#[tokio::test]
async fn unknown_model_does_not_stop_the_first_start() {
    let fake = FakeLlm::start().await;
    for _ in 0..MANY {
        fake.script(Reply::json(404, r#"{"error":{"message":"model 'scripted' not found"}}"#));
    }
    start_twice_with_model(&fake.base_url(), "model 'scripted' not found").await;
}

#[tokio::test]
async fn model_that_never_ends_its_reasoning_does_not_stop_the_first_start() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.quirks.reasons_forever = true);
    start_twice_with_model(&fake.base_url(), "There is no complete answer: chat model: ").await;
}

#[tokio::test]
async fn model_without_tools_answers_at_the_first_start() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.configure(|model| model.quirks.refuses_tools = Some((400, "scripted does not support tools")));
    let settings = [("DOCENT_LLM_BASE_URL", &*fake.base_url()), ("DOCENT_LLM_MODEL", "scripted")];
    let first = Serving::start(&mut dev(folder.path(), &settings)).await;
    assert!(first.printed.contains("You said: How long does an access token last?"), "{}", first.printed);
    assert!(first.printed.contains("search_docs gave for this question"), "{}", first.printed);
    assert!(!first.printed.contains("llm check"), "nothing is wrong: {}", first.printed);
    Client::log_in(&first, ADMIN, &shown_password(&first.printed).unwrap()).await;
}

#[tokio::test]
async fn failing_model_does_not_stop_the_first_start() {
    let text = r#"{"choices":[{"index":0,"delta":{"content":"An access"},"finish_reason":null}]}"#;
    let page = Reply::json(200, "<html></html>").header("Content-Type", "text/html");
    for reply in [Reply::json(500, "{}"), page, Reply::events(&[]).stall(), Reply::events(&[text]).stall()] {
        let fake = FakeLlm::start().await;
        for _ in 0..MANY {
            fake.script(reply.clone());
        }
        start_twice_with_model(&fake.base_url(), "There is no complete answer: chat model: ").await;
    }
}

#[tokio::test]
async fn embedding_back_end_that_is_down_does_not_stop_the_first_start() {
    let problem = ["sample guide    pending: the embedding back end cannot be reached"];
    start_twice_with_embeddings(&stopped().await, &problem).await;
}

#[tokio::test]
async fn embedding_back_end_with_a_wrong_key_does_not_stop_the_first_start() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.key = Some("right".to_owned()));
    let problem = ["sample guide    ", "the embedding back end "];
    start_twice_with_embeddings(&fake.base_url(), &problem).await;
}

#[tokio::test]
async fn embedding_back_end_that_refuses_texts_does_not_stop_the_first_start() {
    let fake = FakeLlm::start().await;
    let refusal = Reply::json(400, r#"{"error":{"message":"scripted is not an embedding model"}}"#);
    fake.configure(|model| model.refusals.always = Some(refusal));
    start_twice_with_embeddings(&fake.base_url(), &["sample guide    ", "the embedding back end "]).await;
}

#[tokio::test]
async fn interrupted_first_run_is_repeated_with_the_password_that_was_shown() {
    let folder = TempDir::new().unwrap();
    let fake = FakeLlm::start().await;
    fake.script(Reply::events(&[]).stall());
    let settings = [("DOCENT_LLM_BASE_URL", &*fake.base_url()), ("DOCENT_LLM_MODEL", "scripted")];
    let mut child = dev(folder.path(), &settings).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("  > ") {
        assert!(in_time(stdout.read_line(&mut printed)).await.unwrap() > 0, "{printed}");
    }
    child.kill().await.unwrap();
    let password = shown_password(&printed).unwrap();

    let second = Serving::start(&mut dev(folder.path(), &[])).await;
    assert!(second.printed.contains("as shown before (`") && shown_password(&second.printed).is_none());
    assert!(second.printed.contains("lasts **15 minutes**"), "{}", second.printed);
    let client = Client::log_in(&second, ADMIN, &password).await;
    assert_eq!(client.get("/documents").await.as_array().unwrap().len(), 1, "one sample, not two");
    second.terminate().await;
    let third = Serving::start(&mut dev(folder.path(), &[])).await;
    assert!(!third.printed.contains("first start"), "{}", third.printed);
}

#[tokio::test]
async fn first_run_interrupted_before_its_password_was_shown_shows_a_new_one() {
    let folder = TempDir::new().unwrap();
    let mut child = dev(folder.path(), &[]).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("first start") {
        assert!(in_time(stdout.read_line(&mut printed)).await.unwrap() > 0, "{printed}");
    }
    child.kill().await.unwrap();
    in_time(stdout.read_to_string(&mut printed)).await.unwrap();
    let serving = Serving::start(&mut dev(folder.path(), &[])).await;
    assert!(serving.printed.contains("lasts **15 minutes**"), "{}", serving.printed);
    // The process may have shown the password before it was killed.
    let password = shown_password(&serving.printed).or_else(|| shown_password(&printed)).unwrap();
    Client::log_in(&serving, ADMIN, &password).await;
}

#[tokio::test]
async fn unusable_settings_still_stop_the_start() {
    let folder = TempDir::new().unwrap();
    let (status, _, error) =
        run(&mut dev(folder.path(), &[("DOCENT_LLM_BASE_URL", "http://127.0.0.1:1")])).await;
    assert_eq!(status.code(), Some(1));
    assert!(error.contains("DOCENT_LLM_MODEL"), "{error}");
}
