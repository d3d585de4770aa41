//! Evaluates the agent's answers.

use super::{Estimate, LinkedQuestion, Passage, Relevance, estimate};
use crate::App;
use crate::agent::{self, AnswerEvent};
use crate::error::{Error, Result};
use crate::maintenance::progress::Progress;
use docent_domain::access::Actor;
use docent_domain::chat::Message;
use docent_domain::selection::Selection;
use futures::StreamExt;
use serde::Serialize;
use std::sync::Arc;

/// Classifies the answers of a chat model.
#[derive(Clone, Copy, Debug)]
pub struct AnswerClassifier {
    /// Whether an answer quotes this page of the document with this title.
    pub quotes: fn(answer: &str, title: &str, page: u32) -> bool,
    /// Whether an answer says that the documents do not contain the answer.
    pub declines: fn(answer: &str) -> bool,
}

/// An answer with its classification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvaluatedAnswer {
    /// The question's ID, or its number in its file.
    pub id: String,
    /// The answer.
    pub text: String,
    /// Whether it quotes a page that answers the question. False for unanswerable questions.
    pub quotes_page: bool,
    /// Whether the retrieved passages include such a page.
    pub sources_hold_page: bool,
    /// Whether it says that the documents do not contain the answer.
    pub declined: bool,
}

/// Asks the agent `chat` each question and classifies its answers.
///
/// # Errors
/// When a component fails.
pub async fn answer_all(
    app: &Arc<App>,
    actor: &Actor,
    questions: &[LinkedQuestion],
    classifier: AnswerClassifier,
    progress: &dyn Progress,
) -> Result<Vec<EvaluatedAnswer>> {
    progress.begin("answering", Some(questions.len() as u64));
    let mut answers = Vec::with_capacity(questions.len());
    for LinkedQuestion { question, source } in questions {
        let (text, sources) = answer(app, actor, &question.text).await?;
        let title = source.title.as_str();
        let quotes_page = question.pages.iter().any(|page| (classifier.quotes)(&text, title, *page));
        let sources_hold_page = Relevance::of(question, source.document, &sources, 0).rank.is_some();
        let declined = (classifier.declines)(&text);
        answers.push(EvaluatedAnswer {
            id: question.id.clone(),
            text,
            quotes_page,
            sources_hold_page,
            declined,
        });
        progress.advance(1);
    }
    progress.end();
    Ok(answers)
}

/// Asks the agent `chat` questions that no document answers.
///
/// # Errors
/// When a component fails.
pub async fn answer_unanswerable(
    app: &Arc<App>,
    actor: &Actor,
    questions: &[String],
    classifier: AnswerClassifier,
    progress: &dyn Progress,
) -> Result<Vec<EvaluatedAnswer>> {
    progress.begin("answering unanswerable questions", Some(questions.len() as u64));
    let mut answers = Vec::with_capacity(questions.len());
    for (number, question) in (1..).zip(questions) {
        let (text, _) = answer(app, actor, question).await?;
        let (id, declined) = (format!("{number}"), (classifier.declines)(&text));
        answers.push(EvaluatedAnswer { id, text, quotes_page: false, sources_hold_page: false, declined });
        progress.advance(1);
    }
    progress.end();
    Ok(answers)
}

/// The share of answers that quote a page that answers the question.
pub fn share_with_quotes(answers: &[EvaluatedAnswer]) -> Option<Estimate> {
    share(answers, |answer| answer.quotes_page)
}

/// The share of answers whose retrieved passages included such a page.
pub fn share_with_page_found(answers: &[EvaluatedAnswer]) -> Option<Estimate> {
    share(answers, |answer| answer.sources_hold_page)
}

/// The share of answers that say that the documents do not contain the answer.
pub fn share_declining(answers: &[EvaluatedAnswer]) -> Option<Estimate> {
    share(answers, |answer| answer.declined)
}

fn share(answers: &[EvaluatedAnswer], matches: impl Fn(&EvaluatedAnswer) -> bool) -> Option<Estimate> {
    let values: Vec<f64> = answers.iter().map(|answer| f64::from(u8::from(matches(answer)))).collect();
    estimate(&values)
}

/// The answer's text and the retrieved passages.
async fn answer(app: &Arc<App>, actor: &Actor, question: &str) -> Result<(String, Vec<Passage>)> {
    let messages = vec![Message::User(question.to_owned())];
    let request = agent::AgentRequest {
        actor: actor.clone(),
        messages,
        selection: Selection::default(),
        conversation: None,
    };
    let chat = app.agents.get("chat").ok_or(Error::AgentNotFound)?;
    let mut events = agent::answer::ask(app, actor.authorize()?, chat, request).await?;
    let (mut text, mut passages) = (String::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event? {
            AnswerEvent::Text(piece) => text.push_str(&piece),
            AnswerEvent::Sources(sources) => passages.extend(sources.into_iter().map(Passage::from)),
        }
    }
    Ok((text, passages))
}
