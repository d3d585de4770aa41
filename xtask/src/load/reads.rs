//! Concurrent callers of each read whose size depends on stored data.

use super::attack::Bounds;
use super::installation::{Statuses, Target, all, ask, closing, closing_json, exchange};
use crate::bench::wire::upload;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, timeout_at};

/// Questions of the large conversation, and their length in characters.
const QUESTIONS: usize = 24;
const QUESTION: usize = 900_000;
/// Documents of the long list, and the length of their titles.
const DOCUMENTS: usize = 6_000;
const TITLE: usize = 480;
/// Pages of the long document, and words per page.
const PAGES: usize = 2_000;
const WORDS: usize = 600;
/// Concurrent requests that prepare the data.
const LANES: usize = 4;
const PREPARATION: Duration = Duration::from_secs(600);
const CONVERSATION: &str = "01900000-0000-7000-8000-000000000001";

pub(super) async fn run(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    let document = prepare(&target).await?;
    let passage = passage(&target).await?;
    let mut target = target;
    for name in ["conversation", "panel page", "history", "MCP page", "GET /documents", "page images"] {
        target = target.restart().await?;
        let cookie = if name == "panel page" { target.panel_cookie().await? } else { String::new() };
        let quiet = target.quiet().await?;
        let token = target.token.clone();
        let requests: Vec<Vec<u8>> = (0..bounds.clients)
            .map(|n| match name {
                "conversation" => get(&format!("/conversations/{CONVERSATION}?limit=1000"), &token),
                "panel page" => {
                    let path = format!("/admin/conversations/{CONVERSATION}");
                    closing("GET", &path, &format!("Cookie: {cookie}\r\n"), "")
                }
                "history" => close(&ask(&token, "And then?", Some(CONVERSATION))),
                "MCP page" => {
                    let arguments = json!({ "document_id": document, "page": 1 });
                    let params = json!({ "name": "get_document_page", "arguments": arguments });
                    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
                    closing_json("POST", "/mcp", &token, &call.to_string())
                }
                "GET /documents" => get("/documents", &token),
                // Each another image, so that none is in the cache.
                _ => {
                    get(&format!("/documents/{document}/pages/1?passage={passage}&width={}", 100 + n), &token)
                }
            })
            .collect();
        attack(&target, name, bounds, quiet, requests).await?;
    }
    Ok(())
}

/// Sends each request once, all at the same time.
async fn attack(
    target: &Target,
    name: &str,
    bounds: Bounds,
    quiet: super::sampler::Sample,
    requests: Vec<Vec<u8>>,
) -> Result<()> {
    let (statuses, address) = (Statuses::default(), target.peer.address);
    // Slow machines need more time than an attack on other routes has.
    let longest = bounds.duration * 6;
    let (began, end) = (Instant::now(), Instant::now() + longest);
    let callers = requests.into_iter().map(|request| {
        let statuses = statuses.clone();
        spawn_local(async move {
            let response = timeout_at(end, exchange(address, &request)).await;
            statuses.add(response.ok().and_then(Result::ok).map_or(0, |response| response.status));
        })
    });
    let sample = target.measure(longest, all(callers.collect())).await?;
    let details = format!("{}; {:.1} s", statuses.print(), began.elapsed().as_secs_f64());
    sample.print(&format!("{} callers: {name}", bounds.clients), &quiet, &details);
    Ok(())
}

fn get(path: &str, token: &str) -> Vec<u8> {
    closing("GET", path, &format!("Authorization: Bearer {token}\r\n"), "")
}

/// Adds the header that ends the connection to a request.
fn close(request: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(request).replacen("\r\n", "\r\nConnection: close\r\n", 1).into_bytes()
}

/// Creates the data; returns the ID of the long document.
async fn prepare(target: &Target) -> Result<String> {
    let address = target.peer.address;
    let page: String =
        (0..WORDS).map(|n| format!("word{n}{}", if n % 10 == 9 { "\n" } else { " " })).collect();
    let pages: Vec<String> = (0..PAGES).map(|n| format!("Page {n} of the zebra.\n{page}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let pdf = docent_testkit::pdf::pdf(&pages);
    let mut client = target.client().await?;
    let size = client.exchange(&upload("long.pdf", &pdf, &target.token)).await?;
    let document: Value = serde_json::from_slice(&client.received()[size.head..])?;
    let id = document["id"].as_str().context("a document without ID")?.to_owned();
    // The answers of the built-in model to long questions are short.
    let question = "word ".repeat(QUESTION / 5);
    for n in 0..QUESTIONS {
        let response = exchange(address, &close(&ask(&target.token, &question, Some(CONVERSATION)))).await?;
        ensure!(response.status == 200, "question {n}: {}", response.text);
    }
    let title = Rc::new("t".repeat(TITLE));
    let lanes = (0..LANES).map(|lane| {
        let (token, title) = (target.token.clone(), Rc::clone(&title));
        spawn_local(async move {
            let Ok(mut client) = crate::bench::wire::Client::connect(address).await else { return };
            for n in (lane..DOCUMENTS).step_by(LANES) {
                let body = json!({ "title": format!("{title}{n}") }).to_string();
                let _ = client.json("POST", "/documents", Some(&token), &body).await;
            }
        })
    });
    all(lanes.collect()).await;
    let began = Instant::now();
    loop {
        let document = target.json("GET", &format!("/documents/{id}"), &Value::Null).await?;
        match document["status"].as_str() {
            Some("ingested") => return Ok(id),
            Some("pending") if began.elapsed() < PREPARATION => sleep(Duration::from_millis(200)).await,
            other => anyhow::bail!("the long document is {other:?}"),
        }
    }
}

/// The ID of a chunk of the long document.
async fn passage(target: &Target) -> Result<String> {
    let found = target.json("POST", "/search", &json!({ "query": "zebra", "limit": 1 })).await?;
    Ok(found["results"][0]["chunk_id"].as_str().context("nothing was found")?.to_owned())
}
