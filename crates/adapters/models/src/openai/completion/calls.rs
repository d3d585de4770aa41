//! Assembles tool calls from streamed pieces.

use super::invalid_response;
use super::wire::ToolCallDelta;
use crate::openai::dialect::WrittenCall;
use docent_domain::chat::ToolCall;
use docent_domain::fault::Fault;
use std::collections::HashSet;

/// Maximum number of tool calls in a response.
const MAX_CALLS: usize = 128;

#[derive(Debug, Default)]
struct Call {
    index: Option<i64>,
    id: String,
    name: String,
    arguments: String,
}

/// The tool calls of a response received so far.
#[derive(Debug, Default)]
pub(super) struct ToolCallAssembler {
    turn: usize,
    calls: Vec<Call>,
    /// Calls that the model wrote as text.
    written: Vec<WrittenCall>,
}

impl ToolCallAssembler {
    /// Creates an empty assembler; generated IDs contain `turn`.
    pub(super) fn new(turn: usize) -> Self {
        Self { turn, ..Self::default() }
    }

    /// Adds a piece and returns its size in bytes.
    pub(super) fn add(&mut self, delta: ToolCallDelta) -> Result<usize, Fault> {
        let id = delta.id();
        let function = delta.function.unwrap_or_default();
        let name = function.name.clone().unwrap_or_default();
        let arguments = function.arguments();
        let at = match self.find(delta.index, &id, &name, &arguments) {
            Some(at) => at,
            None if self.calls.len() == MAX_CALLS => return Err(too_many_calls()),
            None => {
                self.calls.push(Call { index: delta.index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else { return Ok(0) };
        if call.id.is_empty() {
            call.id = id;
        }
        // Some back ends repeat the name in every piece, others split it.
        if call.name != name {
            call.name.push_str(&name);
        }
        if call.arguments.trim() == "{}" && !arguments.trim().is_empty() {
            // Some back ends begin with empty arguments.
            call.arguments.clear();
        }
        // Some back ends send a whole call twice.
        if !is_json(&call.arguments) {
            call.arguments.push_str(&arguments);
        }
        Ok(name.len() + arguments.len())
    }

    /// Adds a call that the model wrote as text.
    pub(super) fn add_written(&mut self, call: WrittenCall) -> Result<(), Fault> {
        if self.written.len() == MAX_CALLS {
            return Err(too_many_calls());
        }
        self.written.push(call);
        Ok(())
    }

    /// Finds the call that a piece continues; `None` if it begins one.
    fn find(&self, index: Option<i64>, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let begins = |call: &Call| {
            // Back ends that send whole calls may give all of them the index 0, or none, and no ID or the
            // same.
            let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
            let is_next =
                is_json(&call.arguments) && !arguments.trim().is_empty() && call.arguments != arguments;
            !name.is_empty() && (other_id || is_next)
        };
        if index.is_some() {
            let at = self.calls.iter().rposition(|call| call.index == index)?;
            return self.calls.get(at).is_some_and(|call| !begins(call)).then_some(at);
        }
        let same_id = self.calls.iter().rposition(|call| !id.is_empty() && call.id == id);
        let last = self.calls.len().checked_sub(1)?;
        match same_id {
            Some(at) => self.calls.get(at).is_some_and(|call| !begins(call)).then_some(at),
            None if !id.is_empty() && self.calls.get(last).is_some_and(|call| !call.id.is_empty()) => None,
            // Without index and ID, a name begins a call, unless it repeats the name of an incomplete one.
            None => {
                let is_open = |call: &Call| name.is_empty() || call.name == name && !is_json(&call.arguments);
                self.calls.get(last).is_some_and(is_open).then_some(last)
            }
        }
    }

    /// Returns the calls in the order of their indexes, with unique IDs.
    pub(super) fn finish(mut self) -> Result<Vec<ToolCall>, Fault> {
        self.calls.retain(|call| !call.name.is_empty() || !call.arguments.is_empty());
        if self.calls.is_empty() {
            let written = self.written.into_iter();
            let calls =
                written.map(|WrittenCall { name, arguments }| Call { name, arguments, ..Call::default() });
            self.calls = calls.collect();
        }
        self.calls.sort_by_key(|call| call.index.unwrap_or(i64::MAX));
        // Generated IDs must not collide with any ID of the back end.
        let received: HashSet<String> = self.calls.iter().map(|call| call.id.clone()).collect();
        let mut ids = HashSet::new();
        let mut calls = Vec::with_capacity(self.calls.len());
        for (n, call) in self.calls.into_iter().enumerate() {
            if call.name.is_empty() {
                return Err(invalid_response("a tool call has no name"));
            }
            let is_new = !call.id.is_empty() && !ids.contains(&call.id);
            let mut generated = (n..).map(|n| format!("call_{}_{n}", self.turn));
            let is_free = |id: &String| !received.contains(id) && !ids.contains(id);
            let id = if is_new { call.id } else { generated.find(is_free).unwrap_or_default() };
            ids.insert(id.clone());
            let arguments = if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments };
            calls.push(ToolCall { id, name: call.name, arguments });
        }
        Ok(calls)
    }
}

fn too_many_calls() -> Fault {
    invalid_response(format!("the response contains more than {MAX_CALLS} tool calls"))
}

/// Whether text is a complete JSON object.
fn is_json(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
