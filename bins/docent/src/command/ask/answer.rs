//! An answer as its stream tells it. No input or output in here.

use crate::{command::documents::pages_in_words, output::printable};
use docent_adapters::sse::Event;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The most pages of one source that are counted out; a passage stands on a few.
const PAGES_MAX: u64 = 1000;

/// What has been heard of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    sources: Option<Vec<Value>>,
    /// Why it is not whole.
    pub(super) broke_off: Option<String>,
}

/// What an event adds to an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// This text.
    Text(String),
    /// Nothing that is shown at once.
    More,
    /// That it breaks off.
    Error,
}

impl Answer {
    /// Takes in the next event; those that are not known are skipped.
    pub(super) fn hear(&mut self, event: &Event) -> Heard {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        match event.name.as_str() {
            "" | "message" => match data {
                Value::String(text) => {
                    self.text += &text;
                    Heard::Text(text)
                }
                _ => Heard::More,
            },
            "sources" => {
                self.sources = data["results"].as_array().cloned();
                Heard::More
            }
            "error" => {
                let detail = data["detail"].as_str().unwrap_or("the service does not say why");
                self.broke_off = Some(printable(detail));
                Heard::Error
            }
            _ => Heard::More,
        }
    }

    /// The answer when its stream is over: one that is whole has told its sources.
    pub(super) fn ended(self) -> Self {
        if self.sources.is_some() { self } else { self.broken("the stream ended early") }
    }

    /// The answer when its stream broke.
    pub(super) fn broken(mut self, why: &str) -> Self {
        self.broke_off = Some(why.to_owned());
        self
    }

    /// What follows the text for people: the sources, best first, each document once with its pages.
    pub(super) fn ending(&self) -> String {
        let mut ending = if self.text.ends_with('\n') { String::new() } else { "\n".to_owned() };
        let mut documents: Vec<(&Value, &Value, BTreeSet<u64>)> = Vec::new();
        for source in self.sources.iter().flatten() {
            let (first, last) = (source["page_start"].as_u64(), source["page_end"].as_u64());
            let first = first.unwrap_or_default();
            let pages = first..=last.unwrap_or(first).min(first.saturating_add(PAGES_MAX));
            match documents.iter_mut().find(|(id, ..)| **id == source["document_id"]) {
                Some((.., known)) => known.extend(pages),
                None => documents.push((&source["document_id"], &source["title"], pages.collect())),
            }
        }
        if !documents.is_empty() {
            ending += "\nSources:\n";
        }
        for (id, title, pages) in documents {
            let text = |value: &Value| printable(value.as_str().unwrap_or_default());
            let pages = pages_in_words(&pages.into_iter().collect::<Vec<_>>());
            ending += &format!("  {}, {pages}   (document {})\n", text(title), text(id));
        }
        // The line is ended by whoever writes it.
        ending.pop();
        ending
    }

    /// All of it for programs.
    pub(super) fn as_json(&self, agent: &str, conversation: Option<&str>) -> Value {
        json!({
            "agent": agent,
            "conversation_id": conversation,
            "answer": self.text,
            "sources": self.sources.as_deref().unwrap_or_default(),
            "complete": self.broke_off.is_none(),
            "error": self.broke_off,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hear(answer: &mut Answer, name: &str, data: &str) -> Heard {
        answer.hear(&Event { name: name.to_owned(), data: data.to_owned() })
    }

    fn source(title: &str, first: u64, last: u64) -> Value {
        json!({ "document_id": format!("id of {title}"), "title": title, "page_start": first, "page_end": last })
    }

    #[test]
    fn text_is_put_together_and_other_events_are_skipped() {
        let mut answer = Answer::default();
        assert_eq!(hear(&mut answer, "", "\"Five\""), Heard::Text("Five".into()));
        assert_eq!(hear(&mut answer, "message", "\" years.\""), Heard::Text(" years.".into()));
        for (name, data) in [("new", "\"x\""), ("", "7"), ("", "no JSON"), ("end", "{}")] {
            assert_eq!(hear(&mut answer, name, data), Heard::More);
        }
        assert_eq!(hear(&mut answer, "sources", "{\"results\": []}"), Heard::More);
        let answer = answer.ended();
        assert_eq!(answer.as_json("chat", None)["answer"], "Five years.");
        assert!(answer.broke_off.is_none());
        assert_eq!(answer.ending(), "", "the line of the text is ended, and nothing follows");
    }

    #[test]
    fn sources_are_told_by_document_with_their_pages_in_order() {
        let mut answer = Answer { text: "a\n".into(), ..Answer::default() };
        let sources = [source("b", 7, 8), source("a\u{1b}", 3, 3), source("b", 2, 2), source("b", 8, 9)];
        hear(&mut answer, "sources", &json!({ "results": sources }).to_string());
        assert_eq!(
            answer.ending(),
            "\nSources:\n  b, pages 2, 7 to 9   (document id of b)\n  a , page 3   (document id of a )"
        );
    }

    #[test]
    fn an_answer_without_its_end_is_not_whole() {
        let mut told = Answer::default();
        assert_eq!(hear(&mut told, "error", "{\"detail\": \"gone\\n\"}"), Heard::Error);
        assert_eq!(told.broke_off.as_deref(), Some("gone "));
        let cut = Answer::default().ended();
        let object = cut.as_json("chat", Some("7"));
        assert_eq!((&object["complete"], &object["conversation_id"]), (&json!(false), &json!("7")));
        assert_eq!(object["error"], "the stream ended early");
    }

    #[test]
    fn pages_of_a_source_are_bounded() {
        let mut answer = Answer::default();
        let sources = json!({ "results": [source("a", 1, u64::MAX), source("b", u64::MAX, 1)] });
        hear(&mut answer, "sources", &sources.to_string());
        assert!(answer.ending().contains("pages 1 to 1001"), "{}", answer.ending());
    }
}
