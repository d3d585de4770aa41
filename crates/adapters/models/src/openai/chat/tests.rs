//! Tests of the chat model against a fake back end.

mod faults;
mod limits;

use super::*;
use crate::openai::backend;
use docent_domain::chat::{ToolCall, ToolOutput, ToolSpec};
use docent_domain::fault::FaultCause;
use docent_testkit::clock::TestClock;
use docent_testkit::fakes::trace::FakePropagator;
use docent_testkit::wire::{FakeLlm, Gate, Reply};
use std::time::Duration;

const KEY: &str = "sk-very-secret";
const QUESTION: &str = "How is the centrifugal pump primed before it is started?";
const WORD: &str = r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn settings(fake: &FakeLlm) -> BackendSettings {
    backend::tests::settings(&fake.base_url())
}

/// A model that repeats no failed call.
fn model_with(settings: &BackendSettings) -> OpenAiChatModel {
    OpenAiChatModel { attempts: 1, ..persistent_with(settings) }
}

/// A model that repeats failed calls, by a clock that does not wait.
fn persistent(fake: &FakeLlm) -> OpenAiChatModel {
    persistent_with(&settings(fake))
}

fn persistent_with(settings: &BackendSettings) -> OpenAiChatModel {
    OpenAiChatModel::new(settings, Arc::new(SkippingClock::default())).unwrap()
}

/// A clock whose sleeps end at once.
#[derive(Default)]
struct SkippingClock(TestClock);

#[async_trait]
impl Clock for SkippingClock {
    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.0.now()
    }

    async fn sleep(&self, duration: Duration) {
        self.0.advance(duration);
    }
}

fn model(fake: &FakeLlm) -> OpenAiChatModel {
    model_with(&settings(fake))
}

fn request() -> ChatRequest {
    ChatRequest { messages: vec![Message::User(QUESTION.to_owned())], ..ChatRequest::default() }
}

/// Reads the events of a response and the fault that ended it.
async fn read(mut stream: ChatStream) -> (Vec<ChatEvent>, Option<Fault>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(fault) => {
                assert!(stream.next().await.is_none(), "a fault is the last event");
                return (events, Some(fault));
            }
        }
    }
    (events, None)
}

async fn ask(model: &OpenAiChatModel) -> Vec<ChatEvent> {
    let (events, fault) = read(model.stream(request()).await.unwrap()).await;
    assert!(fault.is_none(), "{fault:?}");
    events
}

/// Returns the fault of a call that fails before the first event.
async fn first_fault(model: &OpenAiChatModel) -> Fault {
    model.stream(request()).await.err().expect("a fault before the first event")
}

fn word() -> ChatEvent {
    ChatEvent::Text("a".to_owned())
}

fn finished() -> ChatEvent {
    ChatEvent::Finished { reason: FinishReason::Stop, usage: None }
}

mod contract {
    use super::*;

    docent_testkit::chat_model_contract!(async {
        let fake = FakeLlm::start().await;
        (Arc::new(model(&fake)) as _, fake)
    });
}

#[tokio::test]
async fn turn_with_a_tool_call_succeeds() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    let tools = vec![ToolSpec { name: "search_docs", description: "Searches.", parameters: "{}" }];
    let mut request = ChatRequest { tools, ..request() };
    let (events, fault) = read(model.stream(request.clone()).await.unwrap()).await;
    assert!(fault.is_none());
    let [ChatEvent::ToolCall(call), ChatEvent::Finished { reason: FinishReason::ToolCalls, usage }] =
        &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!((call.id.as_str(), call.name.as_str()), ("call_search", "search_docs"));
    assert_eq!(*usage, Some(TokenUsage { prompt: 10, completion: 10 }));

    let output = ToolOutput { call_id: call.id.clone(), content: "Fill it.".into(), ..ToolOutput::default() };
    request.messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call.clone()] });
    request.messages.push(Message::Tool(output));
    let (events, fault) = read(model.stream(request).await.unwrap()).await;
    assert!(fault.is_none());
    let words: String = events
        .iter()
        .filter_map(|event| if let ChatEvent::Text(text) = event { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(words, "According to the documents: Fill it.");
    assert_eq!(model.model(), "test-model");
}

#[tokio::test]
async fn request_has_expected_url_headers_and_body() {
    let fake = FakeLlm::start().await;
    let base_url = format!("{}/?api-version=2", fake.base_url());
    ask(&model_with(&BackendSettings { base_url, ..settings(&fake) })).await;
    let request = fake.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(request.query, "api-version=2");
    assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("docent/")));
    assert_eq!(request.json()["stream"], true);
    assert_eq!(request.json()["stream_options"]["include_usage"], true);
}

#[tokio::test]
async fn authorization_header_is_omitted_without_a_key() {
    let fake = FakeLlm::start().await;
    for key in [None, Some(String::new())] {
        ask(&model_with(&BackendSettings { api_key: key, ..settings(&fake) })).await;
    }
    assert!(fake.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test]
async fn trace_context_is_added_to_every_request() {
    let fake = FakeLlm::start().await;
    let traces = Arc::new(FakePropagator::adding([("traceparent", "00-1-2-01")]));
    let model = model_with(&BackendSettings { traces: Some(traces), ..settings(&fake) });
    ask(&model).await;
    ask(&model).await;
    let headers: Vec<_> =
        fake.requests().iter().map(|r| r.header("traceparent").map(str::to_owned)).collect();
    assert_eq!(headers, [Some("00-1-2-01".to_owned()), Some("00-1-2-01".to_owned())]);
}

#[tokio::test]
async fn text_is_passed_on_immediately() {
    let fake = FakeLlm::start().await;
    let gate = Gate::default();
    fake.script(Reply::events(&[WORD]).wait(&gate).piece(format!("data: {STOP}\n\ndata: [DONE]\n\n")));
    let mut stream = model(&fake).stream(request()).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), word());
    gate.reached(1).await;
    gate.open();
    assert_eq!(stream.next().await.unwrap().unwrap(), finished());
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn connection_is_reused_after_a_complete_response() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    for _ in 0..3 {
        // Like the agent, stops reading at the last event.
        let mut stream = model.stream(request()).await.unwrap();
        while !matches!(stream.next().await, Some(Ok(ChatEvent::Finished { .. }))) {}
    }
    assert_eq!((fake.counts().chats, fake.counts().connections), (3, 1));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::events(&[WORD]).stall());
    let mut stream = model(&fake).stream(request()).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), word());
    drop(stream);
    fake.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn cancelling_before_the_first_event_closes_the_connection() {
    let fake = FakeLlm::start().await;
    let gate = Gate::default();
    fake.script(Reply::raw("").wait(&gate));
    let model = model(&fake);
    tokio::select! {
        _ = model.stream(request()) => panic!("unexpected response"),
        () = gate.reached(1) => {}
    }
    fake.until(|counts| counts.hang_ups == 1).await;
}

#[tokio::test]
async fn unstreamed_response_and_close_delimited_body_are_accepted() {
    let fake = FakeLlm::start().await;
    let whole = r#"{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}"#;
    fake.script(Reply::json(200, whole));
    fake.script(Reply::json(200, whole).until_close());
    fake.script(Reply::events(&[WORD, STOP]).until_close());
    let model = model(&fake);
    for _ in 0..3 {
        assert_eq!(ask(&model).await, [word(), finished()]);
    }
}

#[tokio::test]
async fn back_end_without_stream_options_is_called_without_them() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.script(Reply::json(400, r#"{"error":{"message":"unknown field stream_options"}}"#));
    for _ in 0..2 {
        fake.script(Reply::events(&[WORD, STOP, "[DONE]"]));
        assert_eq!(ask(&model).await, [word(), finished()]);
    }
    let sent: Vec<bool> = fake.requests().iter().map(|r| r.json().get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, false, false], "the supported form is remembered");
}

#[tokio::test]
async fn request_rejected_in_both_forms_keeps_stream_options() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    for _ in 0..2 {
        fake.script(Reply::json(400, r#"{"error":{"message":"too long"}}"#));
    }
    assert_eq!(first_fault(&model).await.to_string(), "chat model: status 400: too long");
    ask(&model).await;
    // Once the options have been accepted, an error has another cause.
    fake.script(Reply::json(400, r#"{"error":{"message":"too long"}}"#));
    assert_eq!(first_fault(&model).await.kind(), FaultKind::Rejected);
    let sent: Vec<bool> = fake.requests().iter().map(|r| r.json().get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, false, true, true]);
}

#[tokio::test]
async fn field_that_a_refusal_names_is_left_out_from_then_on() {
    for (status, body) in [
        (400, r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#),
        (422, r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#),
        (400, "unknown field: include_usage"),
    ] {
        let fake = FakeLlm::start().await;
        let model = model(&fake);
        // Another model behind the same address accepted it before.
        ask(&model).await;
        fake.script(Reply::json(status, body));
        for _ in 0..2 {
            ask(&model).await;
        }
        let sent: Vec<bool> =
            fake.requests().iter().map(|r| r.json().get("stream_options").is_some()).collect();
        assert_eq!(sent, [true, true, false, false], "{body}");
    }
}

#[tokio::test]
async fn back_end_that_refuses_to_stream_is_called_without_it() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.script(Reply::json(400, r#"{"error":{"message":"Cannot use tools with stream"}}"#));
    for _ in 0..2 {
        assert!(matches!(
            &ask(&model).await[..],
            [ChatEvent::Text(_), ChatEvent::Finished { usage: Some(_), .. }]
        ));
    }
    let sent: Vec<bool> = fake.requests().iter().map(|request| request.json()["stream"] == true).collect();
    assert_eq!(sent, [true, false, false]);
    assert!(fake.requests()[1].json().get("stream_options").is_none());
}

#[tokio::test]
async fn transient_fault_before_the_first_event_is_repeated() {
    let fake = FakeLlm::start().await;
    let model = persistent(&fake);
    for failed in [
        Reply::json(429, r#"{"error":{"message":"slow down"}}"#).header("Retry-After", "1"),
        Reply::json(429, "{}").header("Retry-After", "Thu, 01 Jan 2026 00:00:30 GMT"),
        Reply::json(503, r#"{"error":{"message":"Loading model","type":"unavailable_error"}}"#),
        Reply::json(500, r#"{"error":"oops"}"#),
        Reply::raw("").reset(),
        Reply::events(&[]).reset(),
        Reply::events(&[r#"{"error":{"message":"overloaded","code":503}}"#]),
    ] {
        fake.script(failed.clone());
        fake.script(failed);
        fake.script(Reply::events(&[WORD, STOP, "[DONE]"]));
        assert_eq!(ask(&model).await, [word(), finished()]);
        assert_eq!(fake.unused(), 0);
    }
}

#[tokio::test]
async fn fault_after_text_and_permanent_fault_are_not_repeated() {
    let fake = FakeLlm::start().await;
    let model = persistent(&fake);
    fake.script(Reply::events(&[WORD]).reset());
    let (events, fault) = read(model.stream(request()).await.unwrap()).await;
    assert_eq!((events, fault.unwrap().known_cause()), (vec![word()], Some(FaultCause::Interrupted)));
    fake.script(Reply::json(404, "{}"));
    assert_eq!(first_fault(&model).await.kind(), FaultKind::Rejected);
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn pause_beyond_the_time_limit_is_not_waited_for() {
    let fake = FakeLlm::start().await;
    let model = persistent_with(&BackendSettings { timeout: Duration::from_secs(60), ..settings(&fake) });
    fake.script(Reply::json(429, "{}").header("Retry-After", "61"));
    let fault = first_fault(&model).await;
    assert_eq!((fault.kind(), fault.retry_after()), (FaultKind::RateLimited, Some(Duration::from_secs(61))));
}

#[tokio::test]
async fn cause_is_named_in_the_public_message_from_every_form_of_an_error() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    for (reply, message) in [
        (Reply::json(400, r#"{"error":"gemma:latest does not support tools"}"#), "does not support tools"),
        (
            Reply::json(400, "This model's maximum context length is 512 tokens"),
            "cannot read this much text: the context length is exceeded",
        ),
        (Reply::json(500, r#"{"detail":"CUDA out of memory"}"#), "is out of memory"),
        (Reply::events(&[r#"{"error":{"message":"CUDA out of memory","code":500}}"#]), "is out of memory"),
        (
            Reply::events(&[r#"{"error":{"message":"tensor mismatch","type":"server_error"}}"#]),
            "reported an error",
        ),
    ] {
        fake.script(reply);
        assert_eq!(first_fault(&model).await.public_message(), format!("the chat model {message}"));
    }
    fake.script(Reply::events(&[
        WORD,
        r#"{"error":{"message":"CUDA out of memory, key sk-proj-AbCd1234EFGH"}}"#,
    ]));
    let (_, fault) = read(model.stream(request()).await.unwrap()).await;
    let fault = fault.unwrap();
    assert_eq!(fault.public_message(), "the chat model is out of memory");
    assert!(fault.report().ends_with("CUDA out of memory, key [redacted]"), "{fault}");
}

#[tokio::test]
async fn reasoning_that_begins_in_the_prompt_is_not_shown_once_it_is_known() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    let pieces: [&str; 3] = ["SECRET", "</think>", "Five."];
    let chunks = pieces.map(|piece| format!(r#"{{"choices":[{{"delta":{{"content":"{piece}"}}}}]}}"#));
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).chain([STOP]).collect();
    let mut texts = Vec::new();
    for _ in 0..2 {
        fake.script(Reply::events(&chunks));
        let events = ask(&model).await;
        let text =
            |event: &ChatEvent| if let ChatEvent::Text(text) = event { Some(text.clone()) } else { None };
        texts.push(events.iter().filter_map(text).collect::<String>());
    }
    assert_eq!(texts, ["SECRETFive.", "Five."]);
    // A response without reasoning is shown, and the next one as it arrives.
    fake.script(Reply::events(&[WORD, STOP]));
    assert_eq!(ask(&model).await, [word(), finished()]);
    assert!(!model.begins_in_reasoning.load(Ordering::Relaxed));
}

#[tokio::test]
async fn call_of_a_tool_that_is_not_offered_is_no_event_and_no_text() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    let call = ToolCall { id: "a".into(), name: "search_docs".into(), arguments: "{}".into() };
    let mut request = request();
    request.messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] });
    request.messages.push(Message::Tool(ToolOutput { call_id: "a".into(), ..ToolOutput::default() }));
    let written = r#"{"choices":[{"delta":{"content":"{\"name\": \"search_docs\", \"arguments\": {}}"}}]}"#;
    let called = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"search_docs","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    for chunk in [written, called] {
        fake.script(Reply::events(&[chunk, "[DONE]"]));
        let (events, fault) = read(model.stream(request.clone()).await.unwrap()).await;
        let end = ChatEvent::Finished { reason: FinishReason::Other, usage: None };
        assert_eq!((events, fault.is_none()), (vec![end], true));
    }
}

/// The conversation of the second model call of an answer.
fn with_provenance() -> ChatRequest {
    let system = |text: &str| Message::System(text.to_owned());
    let messages =
        vec![system("Be good."), Message::User(QUESTION.to_owned()), system("Where they come from")];
    ChatRequest { messages, ..ChatRequest::default() }
}

fn roles(fake: &FakeLlm) -> Vec<String> {
    let role = |message: &serde_json::Value| message["role"].as_str().unwrap()[..1].to_owned();
    let roles = |body: serde_json::Value| body["messages"].as_array().unwrap().iter().map(role).collect();
    fake.requests().iter().map(|request| roles(request.json())).collect()
}

#[tokio::test]
async fn refused_later_system_message_is_moved_to_the_beginning_from_then_on() {
    for (status, words) in [
        (400, "Error rendering prompt with jinja template"),
        (422, "Conversation roles must alternate"),
        (500, "System message must be at the beginning."),
    ] {
        let fake = FakeLlm::start().await;
        let model = model(&fake);
        // The first call has shown that stream_options are supported.
        ask(&model).await;
        fake.script(Reply::json(status, serde_json::json!({ "error": { "message": words } }).to_string()));
        for _ in 0..2 {
            assert!(read(model.stream(with_provenance()).await.unwrap()).await.1.is_none(), "{words}");
        }
        assert_eq!(roles(&fake), ["u", "sus", "su", "su"], "{words}");
        let system = &fake.requests()[3].json()["messages"][0]["content"];
        assert_eq!(*system, "Be good.\n\nWhere they come from");
    }
}

#[tokio::test]
async fn later_system_message_is_not_moved_for_other_reasons() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    ask(&model).await;
    fake.script(Reply::json(500, r#"{"error":{"message":"out of memory"}}"#));
    assert_eq!(model.stream(with_provenance()).await.err().unwrap().kind(), FaultKind::Unavailable);
    assert!(read(model.stream(with_provenance()).await.unwrap()).await.1.is_none());
    // Once it has been accepted, a rejection has another cause.
    fake.script(Reply::json(400, r#"{"error":{"message":"too long"}}"#));
    assert_eq!(model.stream(with_provenance()).await.err().unwrap().kind(), FaultKind::Rejected);
    assert_eq!(roles(&fake), ["u", "sus", "sus", "sus"]);
}

#[tokio::test]
async fn models_are_listed_with_the_key() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    assert_eq!(model.models().await.unwrap(), ["fake-model"]);
    let request = fake.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/v1/models"));
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let address = format!("http://{}/v1", fake.address());
    assert_eq!(model.address(), Some(address.clone()));
    let secret = model_with(&BackendSettings {
        base_url: address.replace("http://", "http://user:password@") + "/?key=1",
        ..settings(&fake)
    });
    assert_eq!(secret.address(), Some(address), "without credentials");
}

#[tokio::test]
async fn faults_of_the_list_of_models_have_kind_and_status() {
    let fake = FakeLlm::start().await;
    let model = model_with(&BackendSettings { timeout: Duration::from_millis(200), ..settings(&fake) });
    for (reply, kind, status) in [
        (Reply::json(401, r#"{"error":"no"}"#), FaultKind::Rejected, Some(401)),
        (Reply::json(404, ""), FaultKind::Rejected, Some(404)),
        (Reply::json(500, ""), FaultKind::Unavailable, Some(500)),
        (Reply::json(200, "<html>"), FaultKind::InvalidResponse, None),
        (Reply::json(200, "{}"), FaultKind::InvalidResponse, None),
        (Reply::json(200, format!("[{}]", " ".repeat(4 << 20))), FaultKind::InvalidResponse, None),
        (Reply::raw("").reset(), FaultKind::Unavailable, None),
        (Reply::raw("").stall(), FaultKind::Timeout, None),
    ] {
        fake.script(reply);
        let fault = model.models().await.unwrap_err();
        assert_eq!((fault.kind(), fault.status()), (kind, status), "{fault}");
    }
}
