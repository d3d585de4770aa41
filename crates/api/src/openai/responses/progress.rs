//! A response while its answer is generated: the items of its output and the events of its stream.

use super::events::Events;
use super::object::{
    FileCitation, FileSearchResult, IncompleteDetails, InputTokensDetails, ItemStatus, OutputText,
    OutputTokensDetails, ResponseError, ResponseObject, ResponseOutputItem, ResponseStatus, ResponseUsage,
    SearchStatus,
};
use super::request::Include;
use super::{item_id, shown};
use crate::openai::completion::{CitedPassage, cited_passages, located_citations};
use crate::openai::ids;
use crate::openai::vector_stores::search::{documents_of, file_name, place_attributes};
use actix_web::http::StatusCode;
use bytes::Bytes;
use docent_app::agent::{AnswerEvent, AnswerMetadata, AnswerOutcome, AnswerStream, EndReason, FoundPassages};
use docent_app::error::Error;
use docent_app::{responses, scope};
use docent_domain::access::{Actor, ReadDocuments};
use docent_domain::chat::ToolCall;
use docent_domain::document::Document;
use docent_domain::fault::report;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::stored_response::StoredResponse;
use docent_http::{ApiError, BaseUrl, State, sse};
use futures::StreamExt;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;

/// What a response needs besides its answer.
pub(super) struct Setting {
    pub(super) context: State,
    pub(super) base: BaseUrl,
    /// Who asked, with the permission to read documents.
    pub(super) actor: Actor,
    pub(super) include: Include,
    /// Whether searches are items of the output: clients that did not ask for the tool refuse its items.
    pub(super) shows_searches: bool,
    /// The record of the response, without its content, if it is to be stored.
    pub(super) record: Option<StoredResponse>,
    /// The items of the request, as clients read them.
    pub(super) input: Vec<Value>,
}

/// A response in progress.
pub(super) struct Progress {
    setting: Setting,
    response: ResponseObject,
    events: Events,
    /// The text of the message so far.
    text: String,
    /// Whether a search that is not shown has interrupted the text.
    is_interrupted: bool,
    /// The passages of the searches so far, in the order found and without duplicates.
    found: Vec<ScoredChunk>,
    /// Position of the message in the output.
    message: Option<usize>,
    /// Positions of the searches that are not done.
    searches: VecDeque<usize>,
    calls: Vec<ToolCall>,
}

impl Progress {
    /// Begins a response.
    pub(super) fn new(setting: Setting, response: ResponseObject, is_streamed: bool) -> Self {
        let events = Events::new(is_streamed);
        let mut progress = Self {
            setting,
            response,
            events,
            text: String::new(),
            is_interrupted: false,
            found: Vec::new(),
            message: None,
            searches: VecDeque::new(),
            calls: Vec::new(),
        };
        progress.emit_response("response.created");
        progress.emit_response("response.in_progress");
        progress
    }

    /// The events since the last call.
    pub(super) fn frames(&mut self) -> Vec<Bytes> {
        self.events.take()
    }

    /// The response as the client receives it.
    pub(super) fn shown(&self) -> Value {
        shown(json!(self.response), self.setting.include)
    }

    /// Waits for the next event of the answer. At the end, the response is stored. Returns whether it ended.
    ///
    /// # Errors
    /// A fault of the model or the database, or 503 when the service stops.
    pub(super) async fn advance(&mut self, answer: &mut AnswerStream) -> Result<bool, ApiError> {
        let event = tokio::select! {
            biased;
            event = answer.next() => event,
            () = self.setting.context.cut.cancelled() => {
                return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, sse::STOPPING));
            }
        };
        match event {
            Some(Ok(event)) => {
                self.add(event, answer.outcome()).await?;
                Ok(false)
            }
            Some(Err(fault)) => Err(Error::from(fault).into()),
            None => {
                self.end(answer.outcome().unwrap_or_else(AnswerOutcome::unknown)).await?;
                Ok(true)
            }
        }
    }

    async fn add(&mut self, event: AnswerEvent, outcome: Option<AnswerOutcome>) -> Result<(), ApiError> {
        match event {
            AnswerEvent::Text(text) => self.add_text(&text),
            AnswerEvent::Metadata(AnswerMetadata::Searched { .. }) if self.setting.shows_searches => {
                self.end_message_before_search().await?;
                self.begin_search();
            }
            AnswerEvent::Metadata(AnswerMetadata::Searched { .. }) => {
                self.is_interrupted = self.message.is_some();
            }
            AnswerEvent::Found(found) if self.setting.shows_searches => self.end_search(found).await?,
            AnswerEvent::FunctionCalls(calls) => {
                let max = if self.response.parallel_tool_calls { usize::MAX } else { 1 };
                self.calls = calls.into_iter().take(max).collect();
            }
            AnswerEvent::Sources(sources) => {
                self.end_message(&sources, outcome).await?;
                for call in mem::take(&mut self.calls) {
                    self.add_call(call);
                }
            }
            AnswerEvent::Metadata(_) | AnswerEvent::Reasoning(_) | AnswerEvent::Found(_) => {}
        }
        Ok(())
    }

    fn begin_search(&mut self) {
        let at = self.response.output.len();
        let id = item_id("fs", &self.response.id, at);
        let status = SearchStatus::InProgress;
        let item =
            ResponseOutputItem::FileSearchCall { id: id.clone(), status, queries: Vec::new(), results: None };
        self.add_item(item);
        for name in ["response.file_search_call.in_progress", "response.file_search_call.searching"] {
            self.events.push(name, json!({ "item_id": id, "output_index": at }));
        }
        self.searches.push_back(at);
    }

    async fn end_search(&mut self, found: FoundPassages) -> Result<(), ApiError> {
        let Some(at) = self.searches.pop_front() else { return Ok(()) };
        let files = self.files(found.passages.iter().map(|(_, passage)| passage.document_id)).await?;
        for (_, passage) in &found.passages {
            if self.found.iter().all(|known| known.id != passage.id) {
                self.found.push(passage.clone());
            }
        }
        let result = |(score, passage): (f64, ScoredChunk)| {
            let document = files.get(&passage.document_id)?;
            Some(FileSearchResult {
                file_id: ids::encode(document.id),
                filename: file_name(document).to_owned(),
                score,
                attributes: place_attributes(document, &passage, &self.setting.base),
                text: passage.text,
            })
        };
        let results = found.passages.into_iter().filter_map(result).collect();
        let id = item_id("fs", &self.response.id, at);
        let (status, queries) = match found.is_failed {
            true => (SearchStatus::Failed, vec![found.query]),
            false => (SearchStatus::Completed, vec![found.query]),
        };
        if !found.is_failed {
            let event = json!({ "item_id": id, "output_index": at });
            self.events.push("response.file_search_call.completed", event);
        }
        self.replace_item(
            at,
            ResponseOutputItem::FileSearchCall { id, status, queries, results: Some(results) },
        );
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        let at = self.message.unwrap_or_else(|| self.begin_message());
        let text = match mem::take(&mut self.is_interrupted) {
            true => &format!("\n\n{text}"),
            false => text,
        };
        self.text.push_str(text);
        let id = item_id("msg", &self.response.id, at);
        self.events.push(
            "response.output_text.delta",
            json!({ "item_id": id, "output_index": at, "content_index": 0, "delta": text, "logprobs": [] }),
        );
    }

    fn begin_message(&mut self) -> usize {
        let at = self.response.output.len();
        self.message = Some(at);
        let message = self.message_item(at, ItemStatus::InProgress, Vec::new());
        self.add_item(message);
        let part = OutputText::new(String::new(), Vec::new());
        let id = item_id("msg", &self.response.id, at);
        self.events.push(
            "response.content_part.added",
            json!({ "item_id": id, "output_index": at, "content_index": 0, "part": part }),
        );
        at
    }

    fn message_item(&self, at: usize, status: ItemStatus, content: Vec<OutputText>) -> ResponseOutputItem {
        let id = item_id("msg", &self.response.id, at);
        ResponseOutputItem::Message { id, status, role: "assistant", content, phase: None }
    }

    async fn end_message(
        &mut self,
        sources: &[ScoredChunk],
        outcome: Option<AnswerOutcome>,
    ) -> Result<(), ApiError> {
        let Some(at) = self.message else { return Ok(()) };
        let cited = cited_passages(&self.text, sources, outcome);
        let annotations = self.annotations(cited).await?;
        let status = match outcome.map(end_of) {
            Some(Some(_)) => ItemStatus::Incomplete,
            Some(None) | None => ItemStatus::Completed,
        };
        self.close_message(at, status, annotations);
        Ok(())
    }

    /// Ends a message that the model interrupts for a search. It can cite what was found before.
    async fn end_message_before_search(&mut self) -> Result<(), ApiError> {
        let Some(at) = self.message else { return Ok(()) };
        let annotations = self.annotations(located_citations(&self.text, &self.found)).await?;
        self.close_message(at, ItemStatus::Completed, annotations);
        Ok(())
    }

    async fn annotations(&self, cited: Vec<CitedPassage<'_>>) -> Result<Vec<FileCitation>, ApiError> {
        let files = self.files(cited.iter().map(|cited| cited.passage.document_id)).await?;
        Ok(cited.into_iter().map(|cited| self.citation(&cited, &files)).collect())
    }

    fn close_message(&mut self, at: usize, status: ItemStatus, annotations: Vec<FileCitation>) {
        let id = item_id("msg", &self.response.id, at);
        for (n, annotation) in annotations.iter().enumerate() {
            self.events.push("response.output_text.annotation.added", json!({
                "item_id": id, "output_index": at, "content_index": 0, "annotation_index": n, "annotation": annotation,
            }));
        }
        let place = || json!({ "item_id": id, "output_index": at, "content_index": 0 });
        let text = mem::take(&mut self.text);
        let part = OutputText::new(text.clone(), annotations);
        let mut done = place();
        done["text"] = json!(text);
        done["logprobs"] = json!([]);
        self.events.push("response.output_text.done", done);
        let mut done = place();
        done["part"] = json!(part);
        self.events.push("response.content_part.done", done);
        self.message = None;
        let message = self.message_item(at, status, vec![part]);
        self.replace_item(at, message);
    }

    fn citation(&self, cited: &CitedPassage<'_>, files: &HashMap<DocumentId, Document>) -> FileCitation {
        let CitedPassage { passage, page, range } = cited;
        let filename = files.get(&passage.document_id).map_or(passage.title.as_str(), file_name);
        FileCitation {
            r#type: "file_citation",
            file_id: ids::encode(passage.document_id),
            filename: filename.to_owned(),
            index: range.start,
            page: *page,
            label: cited.label().map(str::to_owned),
            link: self.setting.base.document(passage.document_id, *page),
        }
    }

    fn add_call(&mut self, call: ToolCall) {
        let at = self.response.output.len();
        let id = item_id("fc", &self.response.id, at);
        let ToolCall { id: call_id, name, arguments } = call;
        let item = |status, arguments| ResponseOutputItem::FunctionCall {
            id: id.clone(),
            status,
            call_id: call_id.clone(),
            name: name.clone(),
            arguments,
        };
        self.add_item(item(ItemStatus::InProgress, String::new()));
        self.events.push(
            "response.function_call_arguments.delta",
            json!({ "item_id": id, "output_index": at, "delta": arguments }),
        );
        self.events.push(
            "response.function_call_arguments.done",
            json!({ "item_id": id, "output_index": at, "name": name, "arguments": arguments }),
        );
        self.replace_item(at, item(ItemStatus::Completed, arguments));
    }

    fn add_item(&mut self, item: ResponseOutputItem) {
        let at = self.response.output.len();
        self.events.push("response.output_item.added", json!({ "output_index": at, "item": item }));
        self.response.output.push(item);
    }

    /// Replaces an item by its final form.
    fn replace_item(&mut self, at: usize, item: ResponseOutputItem) {
        if self.events.is_streamed() {
            let item = super::shown_item(json!(item), self.setting.include);
            self.events.push("response.output_item.done", json!({ "output_index": at, "item": item }));
        }
        if let Some(place) = self.response.output.get_mut(at) {
            *place = item;
        }
    }

    fn emit_response(&mut self, name: &'static str) {
        if self.events.is_streamed() {
            let response = self.shown();
            self.events.push(name, json!({ "response": response }));
        }
    }

    async fn end(&mut self, outcome: AnswerOutcome) -> Result<(), ApiError> {
        let has_calls =
            self.response.output.iter().any(|item| matches!(item, ResponseOutputItem::FunctionCall { .. }));
        let (input, output) = (outcome.tokens.prompt, outcome.tokens.completion);
        self.response.usage = Some(ResponseUsage {
            input_tokens: input,
            input_tokens_details: InputTokensDetails::default(),
            output_tokens: output,
            output_tokens_details: OutputTokensDetails::default(),
            total_tokens: input + output,
        });
        let missing = outcome.missing_answer().filter(|_| !has_calls);
        let event = match (end_of(outcome), missing) {
            (Some(reason), _) => {
                self.response.status = ResponseStatus::Incomplete;
                self.response.incomplete_details = Some(IncompleteDetails { reason });
                "response.incomplete"
            }
            (None, Some(sentence)) => {
                self.set_failed("server_error", sentence.to_owned());
                "response.failed"
            }
            (None, None) => {
                self.response.status = ResponseStatus::Completed;
                self.response.completed_at = Some(self.setting.context.app.now().timestamp());
                "response.completed"
            }
        };
        self.store().await?;
        self.emit_response(event);
        Ok(())
    }

    fn set_failed(&mut self, code: &'static str, message: String) {
        self.response.status = ResponseStatus::Failed;
        self.response.error =
            Some(ResponseError { code, message, misalignment: None, param: None, r#type: None });
    }

    /// Ends a streamed response that failed after its beginning.
    pub(super) async fn fail(&mut self, error: &ApiError) {
        if let Some(at) = self.message {
            self.close_message(at, ItemStatus::Incomplete, Vec::new());
        }
        let is_limit = error.status() == StatusCode::TOO_MANY_REQUESTS;
        self.set_failed(if is_limit { "rate_limit_exceeded" } else { "server_error" }, error.sentences());
        // The client learns of the first error.
        let _ = self.store().await;
        self.emit_response("response.failed");
    }

    /// Stores the response, unless the request or an earlier call did.
    async fn store(&mut self) -> Result<(), ApiError> {
        let Some(record) = self.setting.record.take() else { return Ok(()) };
        let input = mem::take(&mut self.setting.input);
        let content = json!({ "response": self.response, "input": input }).to_string();
        let app = Arc::clone(&self.setting.context.app);
        let store = async move { responses::store(&app, &StoredResponse { content, ..record }).await };
        let stored = self.setting.context.run(store).await?;
        stored.map_err(|error| {
            tracing::error!(error = %report(&error), "a response could not be stored");
            error.into()
        })
    }

    /// The documents with these IDs that the actor can read now.
    async fn files(
        &self,
        ids: impl Iterator<Item = DocumentId>,
    ) -> Result<HashMap<DocumentId, Document>, ApiError> {
        let ids: Vec<_> = ids.collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let (app, actor) = (Arc::clone(&self.setting.context.app), self.setting.actor.clone());
        let read = async move {
            let grant = actor.authorize::<ReadDocuments>()?;
            let scope = scope::load(&app, &actor).await?;
            documents_of(&app, grant, &scope, ids).await
        };
        Ok(self.setting.context.run(read).await??)
    }
}

/// Why an answer was cut off, if it was.
const fn end_of(outcome: AnswerOutcome) -> Option<&'static str> {
    match outcome.reason {
        EndReason::Length | EndReason::Iterations => Some("max_output_tokens"),
        EndReason::ContentFilter => Some("content_filter"),
        EndReason::Complete | EndReason::ReasoningOnly | EndReason::Empty | EndReason::Failed => None,
    }
}
