//! Tries suggested questions with a model that answers by quoting.

use super::Reader;
use crate::error::Result;
use crate::search::{self, SearchRequest, search_docs};
use docent_domain::chat::{FinishReason, Message, ToolCall};
use docent_domain::selection::Selection;
use docent_ports::chat_model::{ChatEvent, ChatRequest};
use futures::StreamExt;

/// Maximum number of model calls for one question. Answers to suggested questions need two or three.
const CALLS_MAX: usize = 4;

/// Whether the model answers a question from these documents instead of declining it. It gets the same passages as in the
/// chat; nothing is recorded.
///
/// # Errors
/// When the model or a search fails.
pub(super) async fn is_answered(reader: &Reader<'_>, selection: &Selection, question: &str) -> Result<bool> {
    let mut messages = vec![Message::User(question.to_owned())];
    for _ in 0..CALLS_MAX {
        let request = ChatRequest {
            messages: messages.clone(),
            tools: vec![search_docs::SPEC],
            ..ChatRequest::default()
        };
        let mut stream = reader.app.model.stream(request).await?;
        let mut tool_calls: Vec<ToolCall> = Vec::new();
        let mut is_declined = false;
        while let Some(event) = stream.next().await {
            match event? {
                ChatEvent::Text(_) | ChatEvent::Reasoning(_) | ChatEvent::Choices(_) => {}
                ChatEvent::ToolCall(call) => tool_calls.push(call),
                ChatEvent::Finished { reason, .. } => is_declined = reason == FinishReason::Declined,
            }
        }
        if tool_calls.is_empty() {
            return Ok(!is_declined);
        }
        messages.push(Message::Assistant { content: String::new(), tool_calls: tool_calls.clone() });
        for call in tool_calls {
            let Some(query) = search_docs::whole_query(&call) else { return Ok(false) };
            let limit = reader.app.settings.search_limit;
            let request = SearchRequest { query: &query, scope: reader.scope, selection, limit };
            let found = search::search(reader.app, reader.grant, request).await?;
            messages.push(Message::Tool(search_docs::result(found).into_output(call.id)));
        }
    }
    Ok(false)
}
