//! Traces, metrics and logs, and that none of them contains private data.

use crate::collector::{Collector, attribute, hex};
use crate::{Client, Serving, create_account, docent, fixture, in_time};
use docent_testkit::wire::FakeLlm;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, Command};

const EMAIL: &str = "ada.lovelace@example.org";
const PASSWORD: &str = "correct horse battery";
const API_KEY: &str = "sk-of-the-back-end";
const METRICS_TOKEN: &str = "of-the-metrics";
const QUESTION: &str = "How long is the return period for pumps?";
const FILE: &str = "handbook.pdf";
/// Data of people, questions, documents and secrets, which must not appear.
const PRIVATE: [&str; 9] = [
    EMAIL,
    "lovelace",
    PASSWORD,
    API_KEY,
    METRICS_TOKEN,
    "return period",
    "handbook",
    "According to the documents",
    "days",
];

const REMOTE_SPAN: &str = "b7ad6b7169203331";
const UPLOAD_TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CHAT_TRACE: &str = "1bf7651916cd43dd8448eb211c80319d";

fn traceparent(trace: &str) -> String {
    format!("00-{trace}-{REMOTE_SPAN}-01")
}

/// `docent dev` with model back ends, traces and metrics enabled.
fn observed(folder: &Path, llm: &FakeLlm, collector: &str) -> Command {
    let mut command = docent(folder);
    command
        .args(["dev", "--no-sample"])
        .env("DOCENT_LOG", "info")
        .env("DOCENT_LLM_BASE_URL", llm.base_url())
        .env("DOCENT_LLM_MODEL", "fake-model")
        .env("DOCENT_LLM_API_KEY", API_KEY)
        .env("DOCENT_EMBEDDING_PROVIDER", "openai")
        .env("DOCENT_EMBEDDING_BASE_URL", llm.base_url())
        .env("DOCENT_EMBEDDING_MODEL", "fake-embedder")
        .env("DOCENT_METRICS_ENABLED", "true")
        .env("DOCENT_METRICS_TOKEN", METRICS_TOKEN)
        .env("DOCENT_TRACING_ENABLED", "true")
        .env("DOCENT_OTEL_EXPORTER_ENDPOINT", collector);
    command
}

fn upload(client: &Client) -> RequestBuilder {
    let part = reqwest::multipart::Part::bytes(std::fs::read(fixture(FILE)).unwrap());
    let part = part.file_name(FILE).mime_str("application/pdf").unwrap();
    let form = reqwest::multipart::Form::new().part("file", part);
    client.http.post(format!("{}/documents/upload", client.base)).bearer_auth(&client.token).multipart(form)
}

fn chat(client: &Client) -> RequestBuilder {
    let body = json!({ "messages": [{ "role": "user", "content": QUESTION }] });
    client.http.post(format!("{}/agents/chat", client.base)).bearer_auth(&client.token).json(&body)
}

/// Sends a request and returns the complete body.
async fn send(request: RequestBuilder, status: u16) -> String {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), status);
    response.text().await.unwrap()
}

/// Stops a process and returns its log.
async fn log_of(mut serving: Serving) -> String {
    let mut log = String::new();
    let mut stderr = serving.child.stderr.take().unwrap();
    let (ended, _) = tokio::join!(serving.terminate(), in_time(stderr.read_to_string(&mut log)));
    assert!(ended.0.success(), "{log}");
    log
}

fn assert_private(text: &str, token: &str) {
    for private in PRIVATE.into_iter().chain([token]) {
        assert!(!text.contains(private), "{private:?} appears in {text}");
    }
}

fn named<'a>(trace: &'a [Span], name: &str) -> Vec<&'a Span> {
    trace.iter().filter(|span| span.name == name).collect()
}

fn one<'a>(trace: &'a [Span], name: &str) -> &'a Span {
    let found = named(trace, name);
    let names: Vec<_> = trace.iter().map(|span| &span.name).collect();
    assert_eq!(found.len(), 1, "{name} among {names:?}");
    found[0]
}

fn of(span: &Span, key: &str) -> String {
    attribute(&span.attributes, key)
}

/// Asserts that each span's parent is in the trace, except for the root, whose parent is the caller.
fn assert_connected(trace: &[Span], root: &Span) {
    let ids: HashSet<_> = trace.iter().map(|span| &span.span_id).collect();
    assert_eq!(ids.len(), trace.len(), "span IDs are unique");
    for span in trace {
        if span.span_id == root.span_id {
            assert_eq!(hex(&span.parent_span_id), REMOTE_SPAN);
        } else {
            assert!(ids.contains(&span.parent_span_id), "{} has no parent in the trace", span.name);
        }
    }
}

fn assert_child(child: &Span, parent: &Span) {
    assert_eq!(hex(&child.parent_span_id), hex(&parent.span_id), "{} below {}", child.name, parent.name);
}

// Invariant: Traces and logs contain no messages and no document text.
#[tokio::test]
async fn chat_and_ingestion_are_connected_traces_without_content() {
    let (folder, llm, collector) = (TempDir::new().unwrap(), FakeLlm::start().await, Collector::start());
    create_account(folder.path(), EMAIL, PASSWORD).await;
    let serving = Serving::start(&mut observed(folder.path(), &llm, &collector.url())).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    send(upload(&client).header("traceparent", traceparent(UPLOAD_TRACE)), 202).await;
    assert!(client.settled().await.iter().all(|(_, state)| state == "ingested"));
    let answer = send(chat(&client).header("traceparent", traceparent(CHAT_TRACE)), 200).await;
    assert!(answer.contains("According"), "{answer}");

    let metrics = client.http.get(format!("{}/metrics", client.base));
    send(metrics.try_clone().unwrap(), 401).await;
    let metrics = send(metrics.bearer_auth(METRICS_TOKEN), 200).await;
    assert!(metrics.contains(r#"docent_jobs_ended_total{outcome="ingested",code=""} 1"#), "{metrics}");
    assert_private(&metrics, &client.token);

    assert_private(&log_of(serving).await, &client.token);
    assert_private(&collector.dump(), &client.token);
    assert!(!collector.dump().contains("/metrics"), "metrics requests are not traced");
    assert_eq!(attribute(&collector.resource(), "service.name"), "docent");
    assert_eq!(attribute(&collector.resource(), "service.instance.id").len(), 32);
    assert_ingestion(&collector.trace(UPLOAD_TRACE));
    assert_chat(&collector.trace(CHAT_TRACE));
    // The trace context is sent to the back ends.
    for (trace, path) in [
        (CHAT_TRACE, "/v1/chat/completions"),
        (CHAT_TRACE, "/v1/embeddings"),
        (UPLOAD_TRACE, "/v1/embeddings"),
    ] {
        let calls: HashSet<_> = collector.trace(trace).iter().map(|span| hex(&span.span_id)).collect();
        let is_propagated = |request: &docent_testkit::wire::Request| {
            let header = request.header("traceparent").unwrap_or_default().to_owned();
            request.path == path && header.contains(trace) && calls.contains(&header[36..52])
        };
        assert!(llm.requests().iter().any(is_propagated), "{path} has the trace {trace}");
    }
}

fn assert_ingestion(trace: &[Span]) {
    let request = one(trace, "POST /documents/upload");
    assert_connected(trace, request);
    assert_eq!(request.kind(), SpanKind::Server);
    for (key, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/documents/upload"),
        ("http.response.status_code", "202"),
        ("url.scheme", "http"),
    ] {
        assert_eq!(of(request, key), value, "{key}");
    }
    let ingest = one(trace, "ingest");
    assert_child(ingest, request);
    assert_eq!((ingest.kind(), of(ingest, "docent.job.outcome").as_str()), (SpanKind::Consumer, "ingested"));
    for stage in ["extract", "chunk", "embed", "index", "settle"] {
        assert_child(one(trace, stage), ingest);
    }
    let call = one(trace, "embeddings fake-embedder");
    assert_child(call, one(trace, "embed"));
    assert_eq!((call.kind(), of(call, "gen_ai.operation.name").as_str()), (SpanKind::Client, "embeddings"));
    assert_child(one(trace, "upsert"), one(trace, "index"));
}

fn assert_chat(trace: &[Span]) {
    let request = one(trace, "POST /agents/{name}");
    assert_connected(trace, request);
    let agent = one(trace, "invoke_agent chat");
    assert_child(agent, request);
    assert_eq!(of(agent, "gen_ai.agent.name"), "chat");
    assert!(!of(agent, "gen_ai.usage.input_tokens").is_empty());
    let calls = named(trace, "chat fake-model");
    assert_eq!(calls.len(), 2, "one for the search, one for the answer");
    for (call, reason) in calls.iter().zip(["tool_calls", "stop"]) {
        assert_child(call, agent);
        assert_eq!(call.kind(), SpanKind::Client);
        assert_eq!(of(call, "gen_ai.request.model"), "fake-model");
        assert_eq!(of(call, "gen_ai.response.finish_reasons"), reason);
        assert!(!of(call, "gen_ai.usage.output_tokens").is_empty());
    }
    let tool = one(trace, "execute_tool search_docs");
    assert_child(tool, agent);
    assert_eq!(of(tool, "gen_ai.tool.name"), "search_docs");
    assert_child(one(trace, "embeddings fake-embedder"), tool);
    let queries = named(trace, "query");
    assert_eq!(queries.len(), 2, "one for rare words of the question, which may be misspelled");
    for query in queries {
        assert_child(query, tool);
        assert_eq!(of(query, "db.operation.name"), "query");
        assert!(!of(query, "db.system.name").is_empty());
    }
    assert!(trace.iter().all(|span| span.status.as_ref().is_none_or(|s| s.code() != StatusCode::Error)));
}

#[tokio::test]
async fn failed_calls_are_marked_in_the_trace() {
    let (folder, llm, collector) = (TempDir::new().unwrap(), FakeLlm::start().await, Collector::start());
    llm.configure(|model| model.key = Some("another key".to_owned()));
    create_account(folder.path(), EMAIL, PASSWORD).await;
    let serving = Serving::start(&mut observed(folder.path(), &llm, &collector.url())).await;
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    send(chat(&client).header("traceparent", traceparent(CHAT_TRACE)), 502).await;
    assert_private(&log_of(serving).await, &client.token);
    let trace = collector.trace(CHAT_TRACE);
    for name in ["POST /agents/{name}", "invoke_agent chat", "chat fake-model"] {
        let span = one(&trace, name);
        assert_eq!(span.status.as_ref().map(|status| status.code()), Some(StatusCode::Error), "{name}");
        assert_eq!(of(span, "error.type"), "rejected", "{name}");
    }
    assert_private(&collector.dump(), &client.token);
}

// Invariant: Traces and logs contain no messages and no document text.
#[tokio::test]
async fn log_has_one_line_per_request_and_no_private_data() {
    for format in ["human", "json"] {
        let (folder, llm, collector) = (TempDir::new().unwrap(), FakeLlm::start().await, Collector::start());
        create_account(folder.path(), EMAIL, PASSWORD).await;
        let mut command = observed(folder.path(), &llm, &collector.url());
        let serving = Serving::start(command.env("DOCENT_LOG_FORMAT", format)).await;
        let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
        let login = |password| {
            let body = json!({ "email": EMAIL, "password": password });
            client.http.post(format!("{}/auth/token", client.base)).json(&body)
        };
        let mistyped = client.http.get(format!("{}/{EMAIL}?token={PASSWORD}", client.base));
        for (id, request, status) in [
            ("id-1", login(PASSWORD), 200),
            ("id-2", login("correct horse battery?"), 401),
            ("id-3", upload(&client), 202),
            ("id-4", chat(&client).header("traceparent", traceparent(CHAT_TRACE)), 200),
            ("id-5", mistyped, 404),
        ] {
            send(request.header("X-Request-Id", id), status).await;
        }
        client.settled().await;
        let token = client.token.clone();
        drop(client);
        let log = log_of(serving).await;
        assert_private(&log, &token);
        for id in ["id-1", "id-2", "id-3", "id-4", "id-5"] {
            let lines: Vec<_> = log.lines().filter(|line| is_of_request(format, line, id)).collect();
            assert_eq!(lines.len(), 1, "{id} in {log}");
            assert!(id != "id-4" || lines[0].contains(CHAT_TRACE), "{}", lines[0]);
        }
        let ingested: Vec<_> = log.lines().filter(|line| line.contains("document ingested")).collect();
        assert_eq!(ingested.len(), 1, "{log}");
        assert!(!log.contains("gen_ai") && !log.contains("http.route") && !log.contains("db."), "{log}");
    }
}

/// Whether this is the log line of the request with this ID.
fn is_of_request(format: &str, line: &str, id: &str) -> bool {
    if format == "human" {
        return line.contains(&format!("request{{id=\"{id}\" ")) && line.contains("}: request method=");
    }
    let line: Value = serde_json::from_str(line).unwrap();
    line["message"] == "request" && line["span"]["id"] == id
}

const WARNING: &str = "the trace collector is unreachable";

// Invariant: An unavailable collector causes one warning.
#[tokio::test]
async fn unreachable_collector_logs_one_warning() {
    let (folder, llm) = (TempDir::new().unwrap(), FakeLlm::start().await);
    // A port that was free a moment ago, so that nothing listens on it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    create_account(folder.path(), EMAIL, PASSWORD).await;
    let mut command = observed(folder.path(), &llm, &format!("http://127.0.0.1:{port}"));
    let mut serving = Serving::start(command.env("DOCENT_LOG", "debug")).await;
    let mut log = BufReader::new(serving.child.stderr.take().unwrap());
    let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
    let first = read_until_warning(&mut log).await;
    // These spans cannot be sent either, at the latest when the process ends.
    send(upload(&client), 202).await;
    send(chat(&client), 200).await;
    let mut rest = String::new();
    let (ended, _) = tokio::join!(serving.terminate(), in_time(log.read_to_string(&mut rest)));
    assert!(ended.0.success());
    let log = first + &rest;
    assert_eq!(log.lines().filter(|line| line.contains(WARNING)).count(), 1, "{log}");
    let from_library = |line: &&str| line.contains("opentelemetry") || line.contains("BatchSpanProcessor");
    assert_eq!(log.lines().filter(from_library).count(), 0, "{log}");
}

async fn read_until_warning(log: &mut BufReader<ChildStderr>) -> String {
    let mut read = String::new();
    while !read.contains(WARNING) {
        assert!(in_time(log.read_line(&mut read)).await.unwrap() > 0, "{read}");
    }
    read
}
