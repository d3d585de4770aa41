//! Contract of every chat model, whatever it is asked.

use crate::retrieval::found;
use docent_domain::chat::{FinishReason, Message, ToolCall, ToolOutput, ToolSpec};
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest};
use futures::StreamExt;
use std::sync::Arc;

const SEARCH: ToolSpec = ToolSpec {
    name: "search_docs",
    description: "Search uploaded documents for information relevant to the query.",
    parameters: r#"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}"#,
};

fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User(text.to_owned())],
        tools: vec![SEARCH],
        ..ChatRequest::default()
    }
}

/// A question whose search has been answered.
fn searched(text: &str) -> ChatRequest {
    let call = ToolCall {
        id: "call-1".to_owned(),
        name: SEARCH.name.to_owned(),
        arguments: r#"{"query":"pump"}"#.to_owned(),
    };
    let passages = vec![found(1, 0, "The pump is serviced every six months.")];
    let output = ToolOutput {
        call_id: "call-1".to_owned(),
        content: passages[0].text.clone(),
        passages,
        ..ToolOutput::default()
    };
    let mut request = ask(text);
    request.messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] });
    request.messages.push(Message::Tool(output));
    request
}

/// Reads an answer to its end and checks what holds for all of them.
async fn whole(model: &Arc<dyn ChatModel>, request: ChatRequest) -> Vec<ChatEvent> {
    let tools = request.tools.clone();
    let mut stream = model.stream(request).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    let Some((ChatEvent::Finished { reason, .. }, before)) = events.split_last() else {
        panic!("an answer ends with Finished: {events:?}");
    };
    let mut calls = 0;
    for event in before {
        match event {
            ChatEvent::Text(text) => assert!(!text.is_empty(), "text deltas are never empty"),
            ChatEvent::Reasoning(text) => assert!(!text.is_empty(), "pieces of reasoning are never empty"),
            ChatEvent::Choices(choices) => assert!(!choices.is_empty(), "choices are never empty"),
            ChatEvent::ToolCall(call) => {
                calls += 1;
                assert!(!call.id.is_empty());
                assert!(tools.iter().any(|tool| tool.name == call.name), "only tools that were offered");
            }
            ChatEvent::Finished { .. } => panic!("Finished comes last, and once"),
        }
    }
    assert_eq!(calls > 0, *reason == FinishReason::ToolCalls);
    events
}

crate::battery! {
    chat_model_contract in chat_model (Arc<dyn ChatModel>);

    /// Every answer has content and an end.
    async fn answer_ends_with_finished(model) {
        for request in [ask("When is the pump serviced?"), searched("When is the pump serviced?")] {
            assert!(whole(&model, request).await.len() > 1);
        }
    }

    /// Without offered tools there are no tool calls.
    async fn answer_without_offered_tools_has_no_tool_call(model) {
        let request = ChatRequest { tools: Vec::new(), ..ask("When is the pump serviced?") };
        whole(&model, request).await;
    }

    /// Unusual conversations are answered.
    async fn unusual_conversation_is_answered(model) {
        for text in ["", " ", "?", "🚰", "水泵", "Hello"] {
            whole(&model, ask(text)).await;
        }
        let mut request = searched("pump");
        request.messages.insert(0, Message::System("Be brief.".to_owned()));
        request.messages.push(Message::Assistant { content: "Twice a year.".to_owned(), tool_calls: Vec::new() });
        request.messages.push(Message::User("And for valves?".to_owned()));
        whole(&model, request).await;
    }

    /// Dropping an answer does not affect other answers.
    async fn dropped_answer_does_not_affect_others(model) {
        for _ in 0..3 {
            let mut stream = model.stream(searched("When is the pump serviced?")).await.unwrap();
            assert!(stream.next().await.is_some());
            drop(stream);
        }
        let waiting = model.stream(searched("When is the pump serviced?")).await.unwrap();
        whole(&model, searched("When is the pump serviced?")).await;
        drop(waiting);
    }

    async fn model_has_name(model) {
        assert!(!model.model().is_empty());
    }
}
