//! Token limits and context lengths of back ends.

use super::*;
use docent_ports::chat_model::OptionalPart;
use docent_testkit::wire::{ContextLimit, Quirks};
use serde_json::Value;

fn limited() -> ChatRequest {
    ChatRequest { max_tokens: Some(9), ..request() }
}

async fn ask_limited(model: &OpenAiChatModel) {
    let (_, fault) = read(model.stream(limited()).await.unwrap()).await;
    assert!(fault.is_none(), "{fault:?}");
}

/// The limits of the requests so far, under both names.
fn limits(fake: &FakeLlm) -> Vec<[Option<u64>; 2]> {
    let names = ["max_tokens", "max_completion_tokens"];
    let limits = |body: Value| names.map(|name| body[name].as_u64());
    fake.requests().iter().map(|request| limits(request.json())).collect()
}

#[tokio::test]
async fn token_limit_has_the_name_that_the_back_end_knows() {
    let (first, second, none) = ([Some(9), None], [None, Some(9)], [None, None]);
    for (refused, sent) in [
        (vec![], vec![first, first]),
        (vec!["max_tokens"], vec![first, second, second]),
        (vec!["max_tokens", "max_completion_tokens"], vec![first, second, none, none]),
    ] {
        let fake = FakeLlm::start().await;
        let model = model(&fake);
        let is_refused = refused.len() == 2;
        fake.configure(|model| model.quirks = Quirks { refused_fields: refused, ..Quirks::default() });
        ask_limited(&model).await;
        ask_limited(&model).await;
        assert_eq!(limits(&fake), sent);
        assert_eq!(model.refused_parts(), Vec::from_iter(is_refused.then_some(OptionalPart::MaxTokens)));
        ask(&model).await;
        assert_eq!(limits(&fake).last(), Some(&none), "only requests with a limit have one");
    }
}

#[tokio::test]
async fn conversation_that_is_too_long_is_refused_once_and_names_the_context() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    let refusal = r#"{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (8991 in the messages, 9 in max_tokens)."}}"#;
    fake.script(Reply::json(400, refusal));
    let fault = model.stream(limited()).await.err().unwrap();
    assert_eq!((fault.known_cause(), fault.max_tokens()), (Some(FaultCause::ContextLength), Some(4096)));
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn refused_parts_of_requests_are_known() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.configure(|model| model.quirks.refuses_later_system_messages = true);
    ask(&model).await;
    assert!(model.refused_parts().is_empty());
    assert!(read(model.stream(with_provenance()).await.unwrap()).await.1.is_none());
    assert_eq!(model.refused_parts(), [OptionalPart::LaterSystemMessages]);
}

#[tokio::test]
async fn context_length_is_read_from_the_list_or_from_resources_beside_the_api() {
    let fake = FakeLlm::start().await;
    let model = model_with(&BackendSettings { model: "fake-model".to_owned(), ..settings(&fake) });
    assert_eq!(model.context_length().await, None);
    let paths: Vec<String> = fake.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(paths, ["/v1/models", "/props", "/api/ps", "/api/v0/models", "/info"]);
    fake.script(Reply::json(404, "{}"));
    fake.script(Reply::json(200, r#"{"default_generation_settings":{"n_ctx":2048}}"#));
    assert_eq!(model.context_length().await, Some(2048));
    fake.configure(|model| model.quirks.context = Some((4096, ContextLimit::Listed)));
    assert_eq!(model.context_length().await, Some(4096));
    fake.stop().await;
    assert_eq!(model.context_length().await, None);
}
