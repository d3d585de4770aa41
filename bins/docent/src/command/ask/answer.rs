//! Assembles an answer from the events of its stream, without input or output.

use crate::command::documents::format_pages;
use crate::output::sanitize;
use docent_models::sse::Event;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Maximum page range of a source, against invalid responses; a passage spans a few pages.
const MAX_PAGES: u64 = 1000;

/// The answer received so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    sources: Option<Vec<Value>>,
    /// What was searched for last.
    pub(super) searched: Option<String>,
    /// Why it is incomplete.
    pub(super) error: Option<String>,
}

/// The effect of an event on the answer.
#[derive(Debug, PartialEq)]
pub(super) enum Update {
    Text(String),
    /// Nothing to print.
    None,
    /// The stream ends with an error.
    Error,
}

impl Answer {
    /// Applies the next event; unknown events are ignored.
    pub(super) fn apply(&mut self, event: &Event) -> Update {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        match event.name.as_str() {
            "" | "message" => match data {
                Value::String(text) => {
                    self.text += &text;
                    Update::Text(text)
                }
                _ => Update::None,
            },
            "sources" => {
                self.sources = data["results"].as_array().cloned();
                Update::None
            }
            "metadata" => {
                if data["type"] == "searched" {
                    self.searched = data["query"].as_str().map(str::to_owned);
                }
                Update::None
            }
            "error" => {
                let detail = data["detail"].as_str().unwrap_or("the service gave no reason");
                self.error = Some(sanitize(detail));
                Update::Error
            }
            _ => Update::None,
        }
    }

    /// Ends the answer. A complete stream has sent its sources.
    pub(super) fn complete(self) -> Self {
        if self.sources.is_some() { self } else { self.failed("the stream ended early") }
    }

    /// Ends the answer after an error.
    pub(super) fn failed(mut self, why: &str) -> Self {
        self.error = Some(why.to_owned());
        self
    }

    /// Formats the sources, best first, one line per document with its pages.
    pub(super) fn sources_text(&self) -> String {
        let mut text = if self.text.ends_with('\n') { String::new() } else { "\n".to_owned() };
        let mut documents: Vec<(&Value, &Value, BTreeSet<u64>)> = Vec::new();
        for source in self.sources.iter().flatten() {
            let (first, last) = (source["page_start"].as_u64(), source["page_end"].as_u64());
            let first = first.unwrap_or_default();
            let pages = first..=last.unwrap_or(first).min(first.saturating_add(MAX_PAGES));
            match documents.iter_mut().find(|(id, ..)| **id == source["document_id"]) {
                Some((.., known)) => known.extend(pages),
                None => documents.push((&source["document_id"], &source["title"], pages.collect())),
            }
        }
        if !documents.is_empty() {
            text += "\nSources:\n";
        }
        for (id, title, pages) in documents {
            let field = |value: &Value| sanitize(value.as_str().unwrap_or_default());
            let pages = format_pages(&pages.into_iter().collect::<Vec<_>>());
            text += &format!("  {}, {pages}   (document {})\n", field(title), field(id));
        }
        // Printing adds the last line break.
        text.pop();
        text
    }

    /// Formats the answer for programs.
    pub(super) fn as_json(&self, agent: &str, conversation: Option<&str>) -> Value {
        json!({
            "agent": agent,
            "conversation_id": conversation,
            "answer": self.text,
            "sources": self.sources.as_deref().unwrap_or_default(),
            "complete": self.error.is_none(),
            "error": self.error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(answer: &mut Answer, name: &str, data: &str) -> Update {
        answer.apply(&Event { name: name.to_owned(), data: data.to_owned() })
    }

    fn source(title: &str, first: u64, last: u64) -> Value {
        json!({ "document_id": format!("id of {title}"), "title": title, "page_start": first, "page_end": last })
    }

    #[test]
    fn text_is_joined_and_unknown_events_are_ignored() {
        let mut answer = Answer::default();
        assert_eq!(apply(&mut answer, "", "\"Five\""), Update::Text("Five".into()));
        assert_eq!(apply(&mut answer, "message", "\" years.\""), Update::Text(" years.".into()));
        for (name, data) in [("new", "\"x\""), ("", "7"), ("", "no JSON"), ("end", "{}")] {
            assert_eq!(apply(&mut answer, name, data), Update::None);
        }
        assert_eq!(apply(&mut answer, "sources", "{\"results\": []}"), Update::None);
        let answer = answer.complete();
        assert_eq!(answer.as_json("chat", None)["answer"], "Five years.");
        assert!(answer.error.is_none());
        assert_eq!(answer.sources_text(), "", "no sources, only the final line break");
    }

    #[test]
    fn sources_are_grouped_by_document_with_sorted_pages() {
        let mut answer = Answer { text: "a\n".into(), ..Answer::default() };
        let sources = [source("b", 7, 8), source("a\u{1b}", 3, 3), source("b", 2, 2), source("b", 8, 9)];
        apply(&mut answer, "sources", &json!({ "results": sources }).to_string());
        assert_eq!(
            answer.sources_text(),
            "\nSources:\n  b, pages 2, 7 to 9   (document id of b)\n  a , page 3   (document id of a )"
        );
    }

    #[test]
    fn answer_without_sources_event_is_incomplete() {
        let mut failed = Answer::default();
        assert_eq!(apply(&mut failed, "error", "{\"detail\": \"gone\\n\"}"), Update::Error);
        assert_eq!(failed.error.as_deref(), Some("gone "));
        let cut = Answer::default().complete();
        let object = cut.as_json("chat", Some("7"));
        assert_eq!((&object["complete"], &object["conversation_id"]), (&json!(false), &json!("7")));
        assert_eq!(object["error"], "the stream ended early");
    }

    #[test]
    fn page_range_of_source_is_bounded() {
        let mut answer = Answer::default();
        let sources = json!({ "results": [source("a", 1, u64::MAX), source("b", u64::MAX, 1)] });
        apply(&mut answer, "sources", &sources.to_string());
        assert!(answer.sources_text().contains("pages 1 to 1001"), "{}", answer.sources_text());
    }
}
