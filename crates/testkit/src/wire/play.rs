//! A [`ScriptedChatModel`] on the wire: its answers as a back end streams them.
//!
//! What a fault becomes is what back ends of the kind do: before the answer it is a status, in its
//! middle an error object or a broken connection. `Internal` is a fault of the service itself, which
//! no back end can cause; it becomes a fault of the back end.

use super::reply::{Step, Steps};
use super::{Reply, Request};
use crate::fakes::chat_model::ScriptedChatModel;
use docent_domain::chat::{FinishReason, Message, Sampling, ToolCall, ToolOutput, ToolSpec};
use docent_domain::fault::{FaultCause, FaultKind};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

/// The beginning of an event without an end.
const FRAGMENT: &str = "data: {\"choices\":[{\"index\":0,";

/// Hands a request to the script, as far as the wire has brought it; gives the beginning of what it
/// answers and the steps that follow.
pub(super) async fn play(script: &ScriptedChatModel, request: &Request) -> (Reply, Steps) {
    let body = request.json();
    let Some(read) = conversation(&body).filter(|_| body["stream"] == true) else {
        return whole(refusal(422, "this is no request for a streamed answer"));
    };
    let asked = Asked {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        wants_usage: body["stream_options"]["include_usage"] == true,
    };
    match script.stream(read).await {
        Ok(answer) => {
            let begin = asked.delta(json!({"role": "assistant", "content": ""}));
            (Reply::events(&[&begin]), steps(asked, answer))
        }
        Err(fault) if fault.known_cause() == Some(FaultCause::ToolsUnsupported) => {
            whole(refusal(400, "this model does not support tools"))
        }
        Err(fault) if fault.known_cause() == Some(FaultCause::ContentFilter) => {
            whole(refusal(400, "stopped by content_filter"))
        }
        // 400 and 422 would be taken for a word about the form of the request.
        Err(fault) => whole(match fault.kind() {
            FaultKind::Unavailable | FaultKind::InUse | FaultKind::Full => refusal(503, "overloaded"),
            FaultKind::Timeout => refusal(408, "too slow"),
            FaultKind::RateLimited => refusal(429, "too many requests"),
            FaultKind::Rejected | FaultKind::Unconfigured => refusal(403, "not allowed"),
            FaultKind::InvalidResponse => Reply::json(200, "{}"),
            FaultKind::Internal => refusal(500, &fault.report()),
        }),
    }
}

/// The list of the models that a script offers, each with its context length, as vLLM gives it.
pub(super) async fn list(script: &ScriptedChatModel) -> Reply {
    let length = script.context_length().await;
    let models = script.models().await.unwrap_or_default();
    let models = models.into_iter().map(|id| json!({"id": id, "object": "model", "max_model_len": length}));
    Reply::json(200, json!({"object": "list", "data": models.collect::<Vec<_>>()}).to_string())
}

/// A reply that is complete.
pub(super) fn whole(reply: Reply) -> (Reply, Steps) {
    (reply, stream::empty().boxed())
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::json(status, json!({"error": {"message": message}}).to_string())
}

/// What of a request shapes its answer.
struct Asked {
    model: String,
    wants_usage: bool,
}

impl Asked {
    fn chunk(&self, choices: &Value, usage: Option<TokenUsage>) -> String {
        let mut chunk = json!({
            "id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0,
            "model": self.model, "choices": choices,
        });
        if let Some(TokenUsage { prompt, completion }) = usage {
            chunk["usage"] = json!({
                "prompt_tokens": prompt, "completion_tokens": completion,
                "total_tokens": prompt + completion,
            });
        }
        chunk.to_string()
    }

    fn delta(&self, delta: Value) -> String {
        self.chunk(&json!([{"index": 0, "delta": delta, "finish_reason": null}]), None)
    }

    /// A call in fragments: its name, then its arguments in two pieces.
    fn call(&self, index: usize, call: &ToolCall) -> Vec<String> {
        let begin = json!({
            "index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        let (first, second) =
            call.arguments.split_at(call.arguments.floor_char_boundary(call.arguments.len() / 2));
        let pieces = [first, second].map(|piece| json!({"index": index, "function": {"arguments": piece}}));
        std::iter::once(begin).chain(pieces).map(|call| self.delta(json!({"tool_calls": [call]}))).collect()
    }

    fn end(&self, reason: FinishReason, usage: Option<TokenUsage>) -> Vec<String> {
        let reason = match reason {
            FinishReason::Stop | FinishReason::Declined => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Other => "other",
        };
        let stop = self.chunk(&json!([{"index": 0, "delta": {}, "finish_reason": reason}]), None);
        let usage = usage.filter(|_| self.wants_usage).map(|usage| self.chunk(&json!([]), Some(usage)));
        std::iter::once(stop).chain(usage).chain(["[DONE]".to_owned()]).collect()
    }
}

/// Where an answer is.
struct Playing {
    asked: Asked,
    answer: ChatStream,
    calls: usize,
    is_over: bool,
}

/// The steps of an answer, made as the script goes on. Dropping them drops the answer.
fn steps(asked: Asked, answer: ChatStream) -> Steps {
    let playing = Playing { asked, answer, calls: 0, is_over: false };
    let steps = stream::unfold(playing, |mut playing| async {
        if playing.is_over {
            return None;
        }
        let steps = playing.next().await;
        Some((stream::iter(steps), playing))
    });
    steps.flatten().boxed()
}

impl Playing {
    async fn next(&mut self) -> Vec<Step> {
        let event = self.answer.next().await;
        self.is_over =
            !matches!(event, Some(Ok(ChatEvent::Text(_) | ChatEvent::Reasoning(_) | ChatEvent::ToolCall(_))));
        let data = match event {
            Some(Ok(ChatEvent::Text(text))) => vec![self.asked.delta(json!({"content": text}))],
            Some(Ok(ChatEvent::Reasoning(text))) => {
                vec![self.asked.delta(json!({"reasoning_content": text}))]
            }
            Some(Ok(ChatEvent::ToolCall(call))) => {
                self.calls += 1;
                self.asked.call(self.calls - 1, &call)
            }
            Some(Ok(ChatEvent::Choices(_))) => panic!("servers of models offer no choices"),
            Some(Ok(ChatEvent::Finished { reason, usage })) => self.asked.end(reason, usage),
            Some(Err(fault)) => match fault.kind() {
                FaultKind::Unavailable | FaultKind::InUse | FaultKind::Full => return vec![Step::Cut],
                FaultKind::Timeout => vec![broken_off(408)],
                FaultKind::RateLimited => vec![broken_off(429)],
                FaultKind::Rejected | FaultKind::Unconfigured => vec![broken_off(403)],
                FaultKind::InvalidResponse => vec!["<html>".to_owned()],
                FaultKind::Internal => vec![broken_off(500)],
            },
            // A script that just ends; the body does so too, but in the middle of an event.
            None => return vec![Step::Piece(FRAGMENT.into())],
        };
        data.into_iter().map(|data| Step::Piece(format!("data: {data}\n\n").into())).collect()
    }
}

fn broken_off(code: u16) -> String {
    json!({"error": {"message": "a scripted fault", "code": code}}).to_string()
}

/// What a request asks; `None` when it is not of the format.
fn conversation(body: &Value) -> Option<ChatRequest> {
    let messages = body["messages"].as_array()?.iter().map(message).collect::<Option<_>>()?;
    let tools = body["tools"].as_array().into_iter().flatten().map(tool).collect::<Option<_>>()?;
    let number = |name: &str| body[name].as_f64();
    let sampling = Sampling { temperature: number("temperature"), top_p: number("top_p") };
    Some(ChatRequest { messages, tools, sampling, ..ChatRequest::default() })
}

fn message(message: &Value) -> Option<Message> {
    let content = message["content"].as_str().map(str::to_owned);
    Some(match message["role"].as_str()? {
        "system" => Message::System(content?),
        "user" => Message::User(content?),
        "assistant" => {
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let tool_calls = calls.map(call).collect::<Option<_>>()?;
            Message::Assistant { content: content.unwrap_or_default(), tool_calls }
        }
        "tool" => {
            let call_id = message["tool_call_id"].as_str()?.to_owned();
            Message::Tool(ToolOutput { call_id, content: content?, ..ToolOutput::default() })
        }
        _ => return None,
    })
}

fn call(call: &Value) -> Option<ToolCall> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let function = &call["function"];
    Some(ToolCall {
        id: text(&call["id"])?,
        name: text(&function["name"])?,
        arguments: text(&function["arguments"])?,
    })
}

fn tool(tool: &Value) -> Option<ToolSpec> {
    // A specification is part of the program, so its texts live for ever; the few that a test reads may too.
    let text = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let function = &tool["function"];
    Some(ToolSpec {
        name: text(function["name"].as_str()?),
        description: text(function["description"].as_str().unwrap_or_default()),
        parameters: text(&function["parameters"].to_string()),
    })
}
