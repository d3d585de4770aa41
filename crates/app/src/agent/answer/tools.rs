//! The tools of the agent that the model calls while it answers.

use super::{Generation, Progress, RequestInProgress};
use crate::agent::events::{AnswerEvent, AnswerMetadata, FoundPassages, answer_panicked};
use crate::agent::registry::Agent;
use crate::agent::{first_search, prompt, tool};
use crate::search::search_docs;
use docent_domain::chat::{Message, ToolCall, ToolOutput};
use docent_domain::fault::Fault;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// Maximum number of tool calls that are run for one model call; the others get an error message.
const MAX_CALLS: usize = 16;

impl Generation {
    /// Runs tools and adds the calls and their outputs to the conversation.
    pub(super) async fn use_tools(&mut self, text: String, calls: Vec<ToolCall>) -> Result<(), Fault> {
        let Progress { conversation, .. } = &mut self.progress;
        conversation.push(Message::Assistant { content: text, tool_calls: calls.clone() });
        let outputs = self.run_tools(calls).await?;
        let Progress { transcript, conversation, .. } = &mut self.progress;
        let found: Vec<_> = outputs.iter().flat_map(|output| transcript.add_output(output)).collect();
        // Without a system prompt the model receives the tool outputs only.
        let provenance = self.author.agent.system_prompt.as_ref().and_then(|_| prompt::provenance(&found));
        conversation.extend(outputs.into_iter().map(Message::Tool).chain(provenance));
        Ok(())
    }

    /// Searches for the question before the model is called. A model that knows no tools receives the result
    /// with the question.
    pub(super) async fn search_first(&mut self, knows_tools: bool) -> Result<(), Fault> {
        if !self.author.agent.has_search() {
            return Ok(());
        }
        let Some(query) = first_search::query(&self.progress.conversation) else { return Ok(()) };
        let call = first_search::call(&query);
        if knows_tools {
            return self.use_tools(String::new(), vec![call]).await;
        }
        let outputs = self.run_tools(vec![call]).await?;
        let Progress { transcript, conversation, .. } = &mut self.progress;
        for output in &outputs {
            let found = transcript.add_output(output);
            first_search::add_to_question(conversation, output, &found);
        }
        Ok(())
    }

    /// Repeats the searches of the earlier answers to the question, the last ones if there are too many.
    pub(super) async fn repeat_searches(&mut self) -> Result<(), Fault> {
        if !self.author.agent.has_search() {
            return Ok(());
        }
        let queries = &self.asked.request.earlier_searches;
        let last = queries.iter().skip(queries.len().saturating_sub(MAX_CALLS)).enumerate();
        let calls = last.map(|(n, query)| first_search::numbered_call(n, query)).collect();
        self.use_tools(String::new(), calls).await
    }

    async fn run_tools(&mut self, calls: Vec<ToolCall>) -> Result<Vec<ToolOutput>, Fault> {
        self.progress.has_used_tools = true;
        let run = calls.iter().take(MAX_CALLS);
        for query in run.clone().filter_map(search_docs::query) {
            self.events.push(AnswerMetadata::Searched { query }.into());
        }
        let queries: Vec<_> = match self.asked.request.includes_passages {
            true => run.map(search_docs::whole_query).collect(),
            false => Vec::new(),
        };
        let outputs = run_tools(&self.asked, &self.author.agent, calls).await?;
        for (query, output) in queries.into_iter().zip(&outputs) {
            let passages = output.scores.iter().copied().zip(output.passages.iter().cloned()).collect();
            let found = |query| FoundPassages { query, passages, is_failed: output.is_error };
            let found = query.map(|query| AnswerEvent::Found(found(query)));
            found.into_iter().for_each(|event| self.events.push(event));
        }
        Ok(outputs)
    }
}

/// Runs tools on the runtime of the process, to which their connections belong.
async fn run_tools(
    asked: &Arc<RequestInProgress>,
    agent: &Arc<Agent>,
    calls: Vec<ToolCall>,
) -> Result<Vec<ToolOutput>, Fault> {
    let (work, agent) = (Arc::clone(asked), Arc::clone(agent));
    let run = async move {
        let run = |(n, call): (usize, ToolCall)| {
            let (RequestInProgress { app, request, .. }, agent) = (&*work, &agent);
            async move {
                if n < MAX_CALLS {
                    tool::run(&agent.tools, app, request, &call).await
                } else {
                    let content = format!("Error: at most {MAX_CALLS} tools can be used at once.");
                    let call_id = call.id.clone();
                    ToolOutput { call_id, content, is_error: true, ..ToolOutput::default() }
                }
            }
        };
        futures::future::join_all(calls.into_iter().enumerate().map(run)).await
    };
    let task = asked.app.spawn(run.in_current_span()).map(AbortOnDropHandle::new);
    task.ok_or_else(answer_panicked)?.await.map_err(|_| answer_panicked())
}
