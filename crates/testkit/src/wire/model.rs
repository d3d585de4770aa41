//! What the back end answers when nothing is scripted.

use super::{Failing, Quirks, RateLimit, Refusals, Reply, Request};
use crate::fakes::text_recognizer::read_scan;
use crate::retrieval::words_in_common;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_domain::recognition::{Languages, PageBox, RecognizedLine, RecognizedWord};
use docent_ports::text_recognizer::RecognitionError;
use serde_json::{Value, json};
use std::time::Duration;

/// A model simple enough to predict.
///
/// System messages only count as input. A conversation that ends with a tool's output is answered with `According to the documents: ` and
/// that output. One that ends with a question is answered with a call of `search_docs` for the
/// question if that tool is on offer, and otherwise with `You said: ` and the question. Tokens are words with the
/// space after them; that is also how usage is counted. Inputs of embeddings become vectors of unit length
/// in which each word has a direction of its own, so that texts have in common what words they share; like the real thing it refuses empty ones.
#[derive(Clone, Debug)]
pub struct Model {
    /// The dimensions of its vectors.
    pub dimensions: usize,
    /// When set, answers are that many tokens, `t0 t1 t2 …`, whatever is asked.
    pub answer_tokens: Option<usize>,
    /// When set, a request without this key is answered with 401.
    pub key: Option<String>,
    /// Whether it uses `search_docs` when that is on offer.
    pub searches: bool,
    /// When set, each token of a streamed answer is followed by a pause. For benchmarks.
    pub pace: Option<Duration>,
    /// When set, calls for embeddings above this rate are refused.
    pub limit: Option<RateLimit>,
    /// When set, calls for embeddings fail at random.
    pub failing: Option<Failing>,
    /// What it refuses to embed.
    pub refusals: Refusals,
    /// What of chats it does not support.
    pub quirks: Quirks,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            dimensions: 64,
            answer_tokens: None,
            key: None,
            searches: true,
            pace: None,
            limit: None,
            failing: None,
            refusals: Refusals::default(),
            quirks: Quirks::default(),
        }
    }
}

fn error(status: u16, message: &str) -> Reply {
    Reply::json(status, json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
}

/// Recognises a fake image as a service with the protocol of `docs/reference/text-recognition.md` does.
fn recognize(request: &Request) -> Reply {
    let parameters = request.query.split('&').filter_map(|pair| pair.split_once('='));
    let languages = parameters.filter(|(name, _)| *name == "languages").map(|(_, value)| value).next();
    let Some(languages) = languages.and_then(|codes| Languages::parse(&codes.replace("%2B", "+")).ok())
    else {
        return error(400, "languages is required.");
    };
    match read_scan(&request.body, &languages) {
        Ok(page) => {
            let word = |word: &RecognizedWord| {
                let PageBox { left, top, right, bottom } = word.bounds;
                let confidence = f64::from(word.confidence) / 100.0;
                json!({"text": word.text, "box": [left, top, right, bottom], "confidence": confidence})
            };
            let line = |line: &RecognizedLine| {
                let words: Vec<Value> = line.words.iter().map(word).collect();
                json!({"paragraph": line.begins_paragraph, "words": words})
            };
            let lines: Vec<Value> = page.lines.iter().map(line).collect();
            let size = PageBox::UNITS;
            Reply::json(200, json!({"width": size, "height": size, "lines": lines}).to_string())
        }
        Err(RecognitionError::Page(_)) => error(422, "This is no image of a page."),
        Err(RecognitionError::Fault(_)) => error(501, "There is no data for the languages."),
    }
}

/// The share of the query's words that each text has, best first.
fn rerank(body: &Value) -> Reply {
    let (Some(query), Some(documents)) = (body["query"].as_str(), body["documents"].as_array()) else {
        return error(422, "query and documents are required.");
    };
    let text = |document: &Value| document.as_str().unwrap_or_default().to_owned();
    let scores = documents.iter().map(|document| words_in_common(query, &text(document)));
    let mut results: Vec<(usize, f32)> = scores.enumerate().collect();
    results.sort_by(|a, b| b.1.total_cmp(&a.1));
    let results: Vec<Value> =
        results.iter().map(|(index, score)| json!({"index": index, "relevance_score": score})).collect();
    Reply::json(200, json!({"model": body["model"], "results": results}).to_string())
}

fn tokens(text: &str) -> Vec<&str> {
    text.split_inclusive(' ').collect()
}

enum Turn {
    Say(String),
    Search(String),
}

impl Model {
    /// Answers a request.
    pub fn answer(&self, request: &Request) -> Reply {
        let key = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if self.key.is_some() && key != self.key.as_deref() {
            return error(401, "Incorrect API key provided.");
        }
        let path = request.path.as_str();
        match (request.method.as_str(), path) {
            ("GET", "/v1/models") if !self.quirks.has_no_list => {
                let mut model =
                    json!({"id": "fake-model", "object": "model", "created": 0, "owned_by": "fake"});
                self.quirks.describe(&mut model);
                Reply::json(200, json!({"object": "list", "data": [model]}).to_string())
            }
            ("POST", _) if path.ends_with("/chat/completions") => self.chat(&request.json()),
            ("POST", _) if path.ends_with("/embeddings") => {
                let refusal = self.limit.as_ref().and_then(RateLimit::refusal);
                let failure = || self.failing.as_ref().and_then(Failing::failure);
                refusal.or_else(failure).unwrap_or_else(|| self.embed(&request.json()))
            }
            ("POST", _) if path.ends_with("/rerank") => rerank(&request.json()),
            ("POST", _) if request.header("content-type") == Some("image/png") => recognize(request),
            _ => error(404, "There is nothing here."),
        }
    }

    fn chat(&self, body: &Value) -> Reply {
        let (Some(model), Some(messages)) = (body["model"].as_str(), body["messages"].as_array()) else {
            return error(400, "model and messages are required.");
        };
        let read: usize =
            messages.iter().filter_map(|m| m["content"].as_str()).map(|t| tokens(t).len()).sum();
        if let Some(refusal) = self.quirks.refusal(body, read) {
            return refusal;
        }
        let read = self.quirks.read(read);
        let turn = self.turn(messages, &body["tools"]);
        let written = match &turn {
            Turn::Say(text) | Turn::Search(text) => tokens(text).len(),
        };
        let usage = json!({
            "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
        });
        if body["stream"] == true {
            let wants_usage = body["stream_options"]["include_usage"] == true;
            return self.streamed(model, &turn, wants_usage.then_some(usage));
        }
        let (message, reason) = match &turn {
            Turn::Say(text) => (json!({"role": "assistant", "content": text}), "stop"),
            Turn::Search(query) => {
                let calls = json!([self.call(query)]);
                (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
            }
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        let answer = json!({
            "id": "chatcmpl-fake", "object": "chat.completion", "created": 0, "model": model,
            "choices": [choice], "usage": usage,
        });
        Reply::json(200, answer.to_string())
    }

    fn call(&self, query: &str) -> Value {
        let valid = || json!({"query": query}).to_string();
        let arguments = self.quirks.arguments.map_or_else(valid, str::to_owned);
        json!({"id": "call_search", "type": "function", "function": {"name": "search_docs", "arguments": arguments}})
    }

    fn streamed(&self, model: &str, turn: &Turn, usage: Option<Value>) -> Reply {
        let chunk = |choices: Value, usage: Option<&Value>| {
            let mut chunk = json!({
                "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 0, "model": model,
                "choices": choices,
            });
            if let Some(usage) = usage {
                chunk["usage"] = usage.clone();
            }
            chunk.to_string()
        };
        let choice = |delta: Value, reason: Value| {
            chunk(json!([{"index": 0, "delta": delta, "finish_reason": reason}]), None)
        };
        let mut reply = Reply::events(&[&choice(json!({"role": "assistant", "content": ""}), Value::Null)]);
        let reason = match turn {
            Turn::Say(text) => {
                for token in tokens(text) {
                    reply = reply.event(&choice(json!({"content": token}), Value::Null));
                    if let Some(pace) = self.pace {
                        reply = reply.pause(pace);
                    }
                }
                "stop"
            }
            Turn::Search(query) => {
                let mut call = self.call(query);
                call["index"] = json!(0);
                reply = reply.event(&choice(json!({"tool_calls": [call]}), Value::Null));
                "tool_calls"
            }
        };
        reply = reply.event(&choice(json!({}), json!(reason)));
        if let Some(usage) = &usage {
            reply = reply.event(&chunk(json!([]), Some(usage)));
        }
        reply.event("[DONE]")
    }

    fn turn(&self, messages: &[Value], tools: &Value) -> Turn {
        let last = messages.iter().rfind(|message| message["role"] != "system").unwrap_or(&Value::Null);
        let text = last["content"].as_str().unwrap_or_default();
        let offered = tools.as_array().into_iter().flatten();
        let can_search = offered.into_iter().any(|tool| tool["function"]["name"] == "search_docs");
        if last["role"] == "tool" {
            Turn::Say(self.words().unwrap_or_else(|| format!("According to the documents: {text}")))
        } else if self.searches && can_search && last["role"] == "user" {
            Turn::Search(text.to_owned())
        } else {
            Turn::Say(self.words().unwrap_or_else(|| format!("You said: {text}")))
        }
    }

    fn words(&self) -> Option<String> {
        let count = self.answer_tokens?;
        Some((0..count).map(|n| format!("t{n} ")).collect())
    }

    fn embed(&self, body: &Value) -> Reply {
        let input = match &body["input"] {
            Value::String(text) => vec![text.as_str()],
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if input.is_empty() || input.contains(&"") {
            return error(400, "input must not be empty.");
        }
        if let Some(refusal) = self.refusals.refusal(&input) {
            return refusal;
        }
        let in_base64 = body["encoding_format"] == "base64";
        let data = input.iter().enumerate().map(|(index, text)| {
            let mut vector = self.vector(text);
            if self.refusals.word_without_vector.is_some_and(|word| text.contains(word)) {
                vector[0] = f32::NAN;
            }
            let embedding = if in_base64 {
                let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
                Value::String(STANDARD.encode(bytes))
            } else {
                json!(vector)
            };
            json!({"object": "embedding", "index": index, "embedding": embedding})
        });
        let read: usize = input.iter().map(|text| tokens(text).len()).sum();
        let answer = json!({
            "object": "list", "model": body["model"], "data": data.collect::<Vec<_>>(),
            "usage": {"prompt_tokens": read, "total_tokens": read},
        });
        Reply::json(200, answer.to_string())
    }

    /// The vector of a text: the same for the same words, whatever their order and case.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.dimensions];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let hash = hash(&word.to_lowercase());
            let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
            vector[(hash % self.dimensions as u64) as usize] += sign;
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length == 0.0 {
            // There are no words, or they cancel each other out.
            vector[0] = 1.0;
            return vector;
        }
        vector.iter().map(|number| number / length).collect()
    }
}

/// FNV-1a, with its bits mixed once more so that the last one is as good as the first.
pub(super) fn hash(word: &str) -> u64 {
    let sum = word
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
