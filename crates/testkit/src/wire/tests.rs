//! The fake itself, asked over a plain socket.

use super::{FakeLlm, Gate, Reply};
use crate::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_domain::chat::Message;
use docent_domain::fault::FaultKind;
use docent_domain::usage::TokenUsage;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn connect(fake: &FakeLlm) -> TcpStream {
    TcpStream::connect(fake.address()).await.unwrap()
}

async fn post(socket: &mut TcpStream, path: &str, body: &Value) {
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", body.len());
    socket.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
}

/// Asks once, for an answer whose end is that of the connection.
async fn ask(fake: &FakeLlm, path: &str, body: &Value) -> String {
    let mut socket = connect(fake).await;
    post(&mut socket, path, body).await;
    let mut answer = Vec::new();
    // Without a second request the server would wait for one.
    socket.shutdown().await.unwrap();
    socket.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

fn question(tools: bool) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "What is a pump?"}]});
    if tools {
        body["tools"] = json!([{"type": "function", "function": {"name": "search_docs"}}]);
    }
    body
}

#[tokio::test]
async fn it_searches_then_answers_from_what_was_found() {
    let fake = FakeLlm::start().await;
    let asked = ask(&fake, "/v1/chat/completions", &question(true)).await;
    assert!(asked.contains(r#""arguments":"{\"query\":\"What is a pump?\"}""#), "{asked}");
    let mut body = question(true);
    let tool = json!({"role": "tool", "tool_call_id": "call_search", "content": "A pump moves water."});
    body["messages"].as_array_mut().unwrap().push(tool);
    let answer = ask(&fake, "/v1/chat/completions", &body).await;
    assert!(answer.contains("According to the documents: A pump moves water."), "{answer}");
    assert_eq!(fake.counts().chats, 2);
    assert_eq!(fake.requests()[0].json(), question(true));
}

#[tokio::test]
async fn it_streams_as_many_tokens_as_it_is_told() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.answer_tokens = Some(200));
    let mut body = question(false);
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let answer = ask(&fake, "/v1/chat/completions", &body).await;
    assert_eq!(answer.matches(r#"{"content":"t"#).count(), 200);
    assert!(answer.contains(r#""completion_tokens":200"#));
    assert!(answer.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn equal_words_give_equal_unit_vectors_in_either_encoding() {
    let fake = FakeLlm::start().await;
    let body = json!({"model": "m", "input": ["Pump, valve", "valve pump", "crane"]});
    let answer = ask(&fake, "/v1/embeddings", &body).await;
    let json: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let vector = |n: usize| json["data"][n]["embedding"].as_array().unwrap().clone();
    assert_eq!(vector(0), vector(1));
    assert_ne!(vector(0), vector(2));
    let length: f64 = vector(0).iter().map(|number| number.as_f64().unwrap().powi(2)).sum();
    assert!((length - 1.0).abs() < 1e-5);
    let empty = ask(&fake, "/v1/embeddings", &json!({"model": "m", "input": [""]})).await;
    assert!(empty.starts_with("HTTP/1.1 400 "), "{empty}");
}

#[tokio::test]
async fn scripted_replies_come_first_and_in_order() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(429, "{}").header("Retry-After", "1").close());
    fake.script(Reply::raw("HTTP/1.1 200 OK\r\n\r\nold"));
    let answer = ask(&fake, "/v1/embeddings", &Value::Null).await;
    let head = "Content-Type: application/json\r\nRetry-After: 1\r\nContent-Length: 2\r\nConnection: close";
    assert_eq!(answer, format!("HTTP/1.1 429 Scripted\r\n{head}\r\n\r\n{{}}"));
    assert_eq!(ask(&fake, "/v1/embeddings", &Value::Null).await, "HTTP/1.1 200 OK\r\n\r\nold");
    assert!(ask(&fake, "/v1/nothing", &Value::Null).await.starts_with("HTTP/1.1 404 "));
    assert_eq!(fake.unused(), 0);
}

#[tokio::test]
async fn a_connection_serves_several_requests() {
    let fake = FakeLlm::start().await;
    let mut socket = connect(&fake).await;
    for n in 0..3 {
        fake.script(Reply::json(200, format!("{{\"n\": {n}}}")));
        post(&mut socket, "/v1/chat/completions", &Value::Null).await;
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            assert_ne!(socket.read_buf(&mut answer).await.unwrap(), 0);
        }
    }
    assert_eq!((fake.counts().connections, fake.counts().chats), (1, 3));
}

#[tokio::test]
async fn gates_hold_replies_and_hang_ups_are_seen() {
    let fake = FakeLlm::start().await;
    let gate = Gate::default();
    fake.script(Reply::events(&["a"]).wait(&gate).piece("data: b\n\n"));
    fake.script(Reply::events(&["a"]).wait(&gate));
    fake.script(Reply::events(&["a"]).stall());
    let mut patient = connect(&fake).await;
    post(&mut patient, "/v1/chat/completions", &Value::Null).await;
    gate.reached(1).await;
    for arrivals in [2, 2] {
        let mut hasty = connect(&fake).await;
        post(&mut hasty, "/v1/chat/completions", &Value::Null).await;
        gate.reached(arrivals).await;
    }
    fake.until(|counts| counts.hang_ups == 2).await;
    gate.open();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n0\r\n\r\n") {
        assert_ne!(patient.read_buf(&mut answer).await.unwrap(), 0);
    }
    assert!(String::from_utf8(answer).unwrap().contains("data: b\n\n"));
}

#[tokio::test]
async fn a_reset_is_one_and_a_cut_body_has_no_end() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::events(&["a"]).cut());
    let cut = ask(&fake, "/v1/chat/completions", &Value::Null).await;
    assert!(cut.ends_with("data: a\n\n\r\n"), "{cut}");

    fake.script(Reply::events(&[]).reset());
    let mut socket = connect(&fake).await;
    post(&mut socket, "/v1/chat/completions", &Value::Null).await;
    let error = socket.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_stopped_one_frees_its_port_and_its_clients() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::events(&["a"]).stall());
    let mut socket = connect(&fake).await;
    post(&mut socket, "/v1/chat/completions", &Value::Null).await;
    fake.until(|counts| counts.chats == 1).await;
    let address = fake.stop().await;
    // However the connection ends, it does.
    let _ = socket.read_to_end(&mut Vec::new()).await;
    let again = FakeLlm::start_on(&address.to_string()).await;
    assert_eq!(again.counts().connections, 0);
}

/// A fake that plays these turns.
async fn playing(turns: impl IntoIterator<Item = Turn>) -> (FakeLlm, Arc<ScriptedChatModel>) {
    let (fake, script) = (FakeLlm::start().await, Arc::new(ScriptedChatModel::new(turns)));
    fake.play(Arc::clone(&script));
    (fake, script)
}

fn streamed_question() -> Value {
    let mut body = question(true);
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    body
}

/// The chunks of an answer.
fn chunks(answer: &str) -> Vec<Value> {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| data.starts_with('{')).map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test]
async fn a_script_is_played_with_its_tool_calls_in_fragments() {
    const ARGUMENTS: &str = r#"{"query":"水泵"}"#;
    let usage = TokenUsage { prompt: 3, completion: 4 };
    let turn = Turn::new().text("Well").tool_call("a", "search_docs", ARGUMENTS).finished(Some(usage));
    let (fake, script) = playing([turn]).await;
    let answer = ask(&fake, "/v1/chat/completions", &streamed_question()).await;
    let chunks = chunks(&answer);
    let delta = |n: usize| &chunks[n]["choices"][0]["delta"];
    let function = |n: usize| &delta(n)["tool_calls"][0]["function"];
    assert_eq!(delta(1), &json!({"content": "Well"}), "{answer}");
    assert_eq!(function(2), &json!({"name": "search_docs", "arguments": ""}));
    let pieces = [3, 4].map(|n| function(n)["arguments"].as_str().unwrap());
    assert!(pieces.concat() == ARGUMENTS && pieces.iter().all(|piece| !piece.is_empty()), "{pieces:?}");
    assert_eq!(chunks[5]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(chunks[6]["usage"]["total_tokens"], 7);
    assert!(answer.contains("data: [DONE]\n\n"), "{answer}");
    let requests = script.requests();
    assert_eq!(requests[0].messages, [Message::User("What is a pump?".to_owned())]);
    assert_eq!(requests[0].tools[0].name, "search_docs");
    assert!(script.is_done() && script.cut_short() == 0);
}

#[tokio::test]
async fn faults_of_a_script_are_those_of_a_back_end() {
    let kinds = [
        (FaultKind::Unavailable, "503", ""),
        (FaultKind::Timeout, "408", r#""code":408"#),
        (FaultKind::RateLimited, "429", r#""code":429"#),
        (FaultKind::Rejected, "403", r#""code":403"#),
        (FaultKind::InvalidResponse, "200", "data: <html>"),
        (FaultKind::Internal, "500", r#""code":500"#),
    ];
    for (kind, status, within) in kinds {
        let (fake, _) = playing([Turn::refused(kind), Turn::new().text("Well").fault(kind)]).await;
        let refused = ask(&fake, "/v1/chat/completions", &streamed_question()).await;
        assert!(refused.starts_with(&format!("HTTP/1.1 {status} ")), "{refused}");
        let broken = ask(&fake, "/v1/chat/completions", &streamed_question()).await;
        assert!(broken.contains("Well") && broken.contains(within) && !broken.contains("[DONE]"), "{broken}");
        assert_eq!(broken.ends_with("\r\n0\r\n\r\n"), kind != FaultKind::Unavailable, "{broken}");
    }
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_dropped() {
    let (fake, script) = playing([Turn::new().text("Well").stall()]).await;
    let mut socket = connect(&fake).await;
    post(&mut socket, "/v1/chat/completions", &streamed_question()).await;
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("Well") {
        assert_ne!(socket.read_buf(&mut answer).await.unwrap(), 0);
    }
    assert_eq!(script.cut_short(), 0);
    drop(socket);
    fake.until(|counts| counts.hang_ups == 1).await;
    assert_eq!(script.cut_short(), 1);
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_embeddings_need_no_script() {
    let (fake, script) = playing([]).await;
    for body in [json!({}), question(true), json!({"stream": true, "messages": [{"role": "robot"}]})] {
        let refused = ask(&fake, "/v1/chat/completions", &body).await;
        assert!(refused.starts_with("HTTP/1.1 422 "), "{refused}");
    }
    let vectors = ask(&fake, "/v1/embeddings", &json!({"model": "m", "input": ["pump"]})).await;
    assert!(vectors.starts_with("HTTP/1.1 200 ") && script.requests().is_empty());
}
