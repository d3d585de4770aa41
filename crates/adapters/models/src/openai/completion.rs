//! Decodes the bytes of a chat response to events, without I/O.

mod calls;
mod wire;

#[cfg(test)]
mod tests;

use super::dialect::{OutputReader, Part};
use super::fault::{CallError, parse_failure};
use crate::sse::{Event, SseDecoder};
use calls::ToolCallAssembler;
use docent_domain::chat::FinishReason;
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::ChatEvent;
use std::collections::VecDeque;
use std::mem;
use wire::Chunk;

/// Maximum size of a response in bytes; streamed tokens have a large overhead.
const MAX_WIRE: usize = 64 * 1024 * 1024;
/// Maximum size of a response's text and tool arguments in bytes.
const MAX_CONTENT: usize = 4 * 1024 * 1024;
/// Maximum size in bytes of a response that is not streamed.
const MAX_WHOLE: usize = 8 * 1024 * 1024;

/// How complete a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// Output may follow.
    Open,
    /// The finish reason was received; only usage may follow.
    Stopped,
    /// `[DONE]` was received.
    Done,
    /// All events are available.
    Closed,
}

/// The model and ID reported by the back end, for span attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseMetadata {
    pub(super) model: Option<String>,
    pub(super) id: Option<String>,
}

/// Decodes one response: an event stream or, from back ends that do not stream, one JSON object.
#[derive(Debug)]
pub(super) struct CompletionDecoder {
    form: Form,
    received: usize,
    content: usize,
    has_choice: bool,
    /// Reads what the model wrote into its text.
    output: OutputReader,
    calls: ToolCallAssembler,
    usage: Option<TokenUsage>,
    reason: Option<FinishReason>,
    progress: Progress,
    /// Whether output arrived since `take_has_output` was last called.
    has_output: bool,
    events: VecDeque<ChatEvent>,
    metadata: ResponseMetadata,
}

#[derive(Debug)]
enum Form {
    /// Only white space so far.
    Unknown,
    Stream(SseDecoder),
    Whole(Vec<u8>),
}

fn invalid_response(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(Component::ChatModel, FaultKind::InvalidResponse, message)
}

impl CompletionDecoder {
    /// Creates a decoder of the response to a conversation of `turn` messages; generated tool-call IDs
    /// contain that number. `output` reads the text of the response.
    pub(super) fn new(turn: usize, output: OutputReader) -> Self {
        Self {
            form: Form::Unknown,
            received: 0,
            content: 0,
            has_choice: false,
            output,
            calls: ToolCallAssembler::new(turn),
            usage: None,
            reason: None,
            progress: Progress::Open,
            has_output: false,
            events: VecDeque::new(),
            metadata: ResponseMetadata::default(),
        }
    }

    /// Decodes the next bytes.
    ///
    /// # Errors
    /// If the response is invalid, too long, or reports an error; it must not be read further then.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        self.received += bytes.len();
        if self.received > MAX_WIRE {
            return Err(invalid_response(format!("the response is longer than {MAX_WIRE} bytes")).into());
        }
        match &mut self.form {
            Form::Unknown => {
                // Leading white space does not count towards the size limit, however it is split.
                let start = bytes.trim_ascii_start();
                self.form = match start.first() {
                    None => return Ok(()),
                    // An event stream never begins with an object.
                    Some(b'{') => Form::Whole(Vec::new()),
                    Some(_) => Form::Stream(SseDecoder::default()),
                };
                self.received -= start.len();
                self.push(start)
            }
            Form::Whole(body) => {
                if body.len() + bytes.len() > MAX_WHOLE {
                    return Err(
                        invalid_response(format!("the response is longer than {MAX_WHOLE} bytes")).into()
                    );
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Stream(decoder) => {
                let mut decoder = mem::take(decoder);
                let mut decoded = Ok(());
                let pushed = decoder.push(bytes, |event| {
                    if decoded.is_ok() {
                        decoded = self.event(event);
                    }
                });
                self.form = Form::Stream(decoder);
                decoded?;
                pushed.map_err(|_| invalid_response("an event of the response is too long").into())
            }
        }
    }

    /// Handles the end of the body.
    ///
    /// # Errors
    /// If the response is incomplete.
    pub(super) fn end(&mut self) -> Result<(), CallError> {
        match mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown => {}
            Form::Whole(body) => {
                self.chunk(&body)?;
                if !self.has_choice {
                    return Err(invalid_response("the response contains no choice").into());
                }
                // A single object is complete even without a finish reason.
                self.progress = self.progress.max(Progress::Stopped);
            }
            Form::Stream(mut decoder) => {
                let last =
                    decoder.finish().map_err(|_| invalid_response("an event of the response is too long"))?;
                if let Some(event) = last {
                    self.event(&event)?;
                }
            }
        }
        self.finish()
    }

    /// Completes a stopped response and makes its last events available.
    ///
    /// # Errors
    /// If the response has not stopped, or a tool call has no name.
    pub(super) fn finish(&mut self) -> Result<(), CallError> {
        if self.progress == Progress::Open {
            let message = "the response ended early";
            let fault = Fault::new(Component::ChatModel, FaultKind::Unavailable, message);
            return Err(fault.with_known_cause(FaultCause::Interrupted).into());
        }
        let rest = self.output.finish(self.reason == Some(FinishReason::Length));
        self.add_parts(rest)?;
        let calls = mem::take(&mut self.calls).finish()?;
        let reason = match (self.reason, calls.is_empty()) {
            // Some back ends report "stop" for tool calls, and the other way round.
            (None | Some(FinishReason::Stop), false) => FinishReason::ToolCalls,
            (Some(FinishReason::ToolCalls), true) => FinishReason::Other,
            (reason, _) => reason.unwrap_or(FinishReason::Stop),
        };
        self.events.extend(calls.into_iter().map(ChatEvent::ToolCall));
        self.events.push_back(ChatEvent::Finished { reason, usage: self.usage });
        self.progress = Progress::Closed;
        Ok(())
    }

    /// How complete the response is.
    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether text, reasoning, part of a tool call or the finish reason arrived since the last call.
    pub(super) fn take_has_output(&mut self) -> bool {
        mem::take(&mut self.has_output)
    }

    /// Returns the next decoded event.
    pub(super) fn next_event(&mut self) -> Option<ChatEvent> {
        self.events.pop_front()
    }

    /// The model and ID reported by the back end.
    pub(super) fn metadata(&self) -> &ResponseMetadata {
        &self.metadata
    }

    /// Whether the response began with reasoning, whose beginning is part of the prompt; `None` if that is
    /// unknown.
    pub(super) fn began_in_reasoning(&self) -> Option<bool> {
        self.output.began_in_reasoning()
    }

    fn add_parts(&mut self, parts: Vec<Part>) -> Result<(), CallError> {
        for part in parts {
            match part {
                Part::Text(text) => self.events.push_back(ChatEvent::Text(text)),
                Part::Reasoning(text) => self.events.push_back(ChatEvent::Reasoning(text)),
                Part::Call(call) => self.calls.add_written(call)?,
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), CallError> {
        if self.progress >= Progress::Done {
            return Ok(());
        }
        if event.data.trim() == "[DONE]" {
            // `finish` creates the last events.
            self.progress = Progress::Done;
            return Ok(());
        }
        if event.name == "error" {
            return Err(wire::error_event(&event.data).into());
        }
        self.chunk(event.data.as_bytes())
    }

    fn chunk(&mut self, json: &[u8]) -> Result<(), CallError> {
        // serde would deserialize a struct from a list.
        if json.trim_ascii_start().first() != Some(&b'{') {
            return Err(invalid_response("a chunk of the response is not a JSON object").into());
        }
        let chunk: Chunk<'_> =
            serde_json::from_slice(json).map_err(|error| invalid_response(parse_failure(&error)))?;
        if let Some(error) = chunk.error() {
            return Err(error.into());
        }
        self.metadata.model = self.metadata.model.take().or_else(|| wire::string(chunk.model?));
        self.metadata.id = self.metadata.id.take().or_else(|| wire::string(chunk.id?));
        self.usage = chunk.usage.and_then(wire::Usage::tokens).or(self.usage);
        // Requests never ask for more than one choice.
        let Some(choice) = chunk.choices.into_iter().flatten().find(|choice| choice.index.unwrap_or(0) == 0)
        else {
            return Ok(());
        };
        self.has_choice = true;
        let finish_reason = choice.finish_reason();
        if let Some(delta) = choice.delta.or(choice.message) {
            self.has_output |= delta.has_content();
            let (text, reasoning) = delta.text();
            self.content += text.len() + reasoning.len();
            if !reasoning.is_empty() {
                self.events.push_back(ChatEvent::Reasoning(reasoning));
            }
            let parts = self.output.push(&text);
            self.add_parts(parts)?;
            let legacy = delta.legacy_call();
            for call in delta.tool_calls.into_iter().flatten().chain(legacy) {
                self.content += self.calls.add(call)?;
            }
            if self.content > MAX_CONTENT {
                return Err(invalid_response(format!(
                    "the response has more than {MAX_CONTENT} bytes of text"
                ))
                .into());
            }
        }
        if let Some(reason) = finish_reason {
            self.reason = Some(reason);
            self.has_output = true;
            self.progress = Progress::Stopped;
        }
        Ok(())
    }
}
