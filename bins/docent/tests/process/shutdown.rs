//! The end of a process after a signal.

use crate::client::{self, Client};
use crate::create_account;
use crate::program::{Serving, docent, in_time, rest};
use crate::remote::{EMAIL, PASSWORD};
use docent_testkit::wire::{FakeLlm, Gate, Reply};
use serde_json::json;
use std::path::Path;
use std::process::ExitStatus;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Longer than a test waits for any step.
const LONG: &str = "10m";

/// Starts a service with settings and a chat model.
async fn serving(folder: &Path, fake: &FakeLlm, settings: &[(&str, &str)]) -> (Serving, Client) {
    create_account(folder, EMAIL, PASSWORD).await;
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]).envs(settings.iter().copied());
    command.env("DOCENT_LLM_BASE_URL", fake.base_url()).env("DOCENT_LLM_MODEL", "scripted");
    let serving = Serving::start(&mut command).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    (serving, client)
}

async fn terminate(child: &Child) {
    let pid = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
}

async fn end(child: &mut Child) -> ExitStatus {
    in_time(child.wait()).await.unwrap()
}

fn text(text: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string()
}

/// Asks a question and reads the beginning of the answer.
async fn ask(client: &Client) -> reqwest::Response {
    let body = json!({ "messages": [{ "role": "user", "content": "q" }] });
    let request = client.http.post(format!("{}/agents/chat", client.base)).bearer_auth(&client.token);
    let mut answer = request.json(&body).send().await.unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "data: \"one\"\n\n");
    answer
}

async fn status(client: &Client, path: &str) -> Option<u16> {
    let response = client::client().get(format!("{}{path}", client.base)).send().await.ok()?;
    Some(response.status().as_u16())
}

async fn until_refused(client: &Client) {
    in_time(async { while status(client, "/health/live").await.is_some() {} }).await;
}

#[tokio::test]
async fn open_stream_is_finished_after_the_signal() {
    let (folder, fake, gate) = (TempDir::new().unwrap(), FakeLlm::start().await, Gate::default());
    let end_of_answer = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let reply = Reply::events(&[&text("one")]).wait(&gate);
    fake.script(reply.event(&text(" two")).event(&end_of_answer.to_string()).event("[DONE]"));
    let (mut serving, client) = serving(folder.path(), &fake, &[("DOCENT_SHUTDOWN_TIMEOUT", LONG)]).await;
    let answer = ask(&client).await;
    terminate(&serving.child).await;
    until_refused(&client).await;
    gate.open();
    let rest = in_time(answer.text()).await.unwrap();
    assert!(rest.starts_with("data: \" two\"\n\n") && !rest.contains("event: error"), "{rest}");
    assert!(end(&mut serving.child).await.success());
}

#[tokio::test]
async fn stream_longer_than_the_timeout_ends_with_a_reason() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.script(Reply::events(&[&text("one")]).stall());
    let (mut serving, client) = serving(folder.path(), &fake, &[("DOCENT_SHUTDOWN_TIMEOUT", "200ms")]).await;
    let answer = ask(&client).await;
    terminate(&serving.child).await;
    let rest = in_time(answer.text()).await.unwrap();
    assert_eq!(rest, "event: error\ndata: {\"detail\":\"The service is stopping\"}\n\n");
    assert!(end(&mut serving.child).await.success());
}

#[tokio::test]
async fn requests_are_served_during_the_drain_and_a_second_signal_ends_at_once() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let settings = [("DOCENT_SHUTDOWN_DRAIN", LONG), ("DOCENT_SHUTDOWN_TIMEOUT", LONG)];
    let (mut serving, client) = serving(folder.path(), &fake, &settings).await;
    fake.script(Reply::events(&[&text("one")]).stall());
    let _open = ask(&client).await;
    assert_eq!(status(&client, "/health/ready").await, Some(200));
    terminate(&serving.child).await;
    in_time(async { while status(&client, "/health/ready").await != Some(503) {} }).await;
    assert_eq!(status(&client, "/health/live").await, Some(200));
    assert!(client.get("/documents").await.is_array());
    terminate(&serving.child).await;
    assert!(!end(&mut serving.child).await.success());
    let errors = rest(&mut serving.child).await;
    assert!(errors.contains("stopped immediately"), "{errors}");
}

#[tokio::test]
async fn process_ends_after_the_drain() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let (mut serving, client) = serving(folder.path(), &fake, &[("DOCENT_SHUTDOWN_DRAIN", "300ms")]).await;
    terminate(&serving.child).await;
    until_refused(&client).await;
    assert!(end(&mut serving.child).await.success());
}
