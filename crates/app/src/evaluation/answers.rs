//! Having questions answered.

use super::{Estimate, Judged, Passage, Posed, estimate};
use crate::{
    App,
    agent::{self, AnswerEvent},
    error::{Error, Result},
    upkeep::progress::Progress,
};
use docent_domain::{access::Actor, chat::Message};
use futures::StreamExt;
use serde::Serialize;
use std::sync::Arc;

/// How the answers of a chat model are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether an answer quotes this page of the document with this title.
    pub quotes: fn(answer: &str, title: &str, page: u32) -> bool,
    /// Whether an answer says that the documents do not say.
    pub declines: fn(answer: &str) -> bool,
}

/// A question, answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answered {
    /// The question's id, or its number in its file.
    pub id: String,
    /// The answer.
    pub text: String,
    /// Whether it quotes a page that answers the question; never, where none does.
    pub quotes_page: bool,
    /// Whether what was found for it holds such a page.
    pub sources_hold_page: bool,
    /// Whether it says that the documents do not say.
    pub declined: bool,
}

/// Has the agent `chat` answer each question.
///
/// # Errors
/// When a part does not work.
pub async fn answers(
    app: &Arc<App>,
    actor: &Actor,
    questions: &[Posed],
    reading: Reading,
    progress: &dyn Progress,
) -> Result<Vec<Answered>> {
    progress.begin("answering", Some(questions.len() as u64));
    let mut all = Vec::with_capacity(questions.len());
    for Posed { question, source } in questions {
        let (text, sources) = answer(app, actor, &question.text).await?;
        let title = source.title.as_str();
        let quotes_page = question.pages.iter().any(|page| (reading.quotes)(&text, title, *page));
        let sources_hold_page = Judged::of(question, source.document, &sources, 0).rank.is_some();
        let declined = (reading.declines)(&text);
        all.push(Answered { id: question.id.clone(), text, quotes_page, sources_hold_page, declined });
        progress.advance(1);
    }
    progress.end();
    Ok(all)
}

/// The same for questions that no document answers.
///
/// # Errors
/// When a part does not work.
pub async fn bare_answers(
    app: &Arc<App>,
    actor: &Actor,
    questions: &[String],
    reading: Reading,
    progress: &dyn Progress,
) -> Result<Vec<Answered>> {
    progress.begin("answering what no document answers", Some(questions.len() as u64));
    let mut all = Vec::with_capacity(questions.len());
    for (number, question) in (1..).zip(questions) {
        let (text, _) = answer(app, actor, question).await?;
        let (id, declined) = (format!("{number}"), (reading.declines)(&text));
        all.push(Answered { id, text, quotes_page: false, sources_hold_page: false, declined });
        progress.advance(1);
    }
    progress.end();
    Ok(all)
}

/// The share of answers that quote a page that answers the question.
pub fn share_quoting(answers: &[Answered]) -> Option<Estimate> {
    share(answers, |answer| answer.quotes_page)
}

/// The share of answers that had such a page before them.
pub fn share_sourced(answers: &[Answered]) -> Option<Estimate> {
    share(answers, |answer| answer.sources_hold_page)
}

/// The share of answers that say that the documents do not say.
pub fn share_declined(answers: &[Answered]) -> Option<Estimate> {
    share(answers, |answer| answer.declined)
}

fn share(answers: &[Answered], is_so: impl Fn(&Answered) -> bool) -> Option<Estimate> {
    let values: Vec<f64> = answers.iter().map(|answer| f64::from(u8::from(is_so(answer)))).collect();
    estimate(&values)
}

/// The answer's text, and the passages that were found for it.
async fn answer(app: &Arc<App>, actor: &Actor, question: &str) -> Result<(String, Vec<Passage>)> {
    let messages = vec![Message::User(question.to_owned())];
    let asked = agent::Question { actor: actor.clone(), messages, conversation: None };
    let chat = app.agents.get("chat").ok_or(Error::AgentNotFound)?;
    let mut events = agent::answer::ask(app, actor.authorize()?, chat, asked).await?;
    let (mut text, mut passages) = (String::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event? {
            AnswerEvent::Text(piece) => text.push_str(&piece),
            AnswerEvent::Sources(sources) => passages.extend(sources.into_iter().map(Passage::from)),
        }
    }
    Ok((text, passages))
}
