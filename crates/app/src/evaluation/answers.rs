//! Evaluates the agent's answers.

use super::{
    Estimate, EvaluationInput, LinkedQuestion, Passage, Relevance, SearchScope, UnanswerableQuestion,
    estimate,
};
use crate::App;
use crate::agent::{self, AnswerEvent, AnswerOutcome};
use crate::error::{Error, Result};
use crate::maintenance::progress::Progress;
use docent_domain::access::Actor;
use docent_domain::chat::Message;
use docent_domain::condition::Condition;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::selection::Selection;
use futures::StreamExt;
use serde::Serialize;
use std::sync::Arc;

/// Says whether an answer of the chat model quotes this page of the document with this title.
pub type QuotesPage = fn(answer: &str, title: &str, page: u32) -> bool;

/// An answer with its classification.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvaluatedAnswer {
    /// The question's ID.
    pub id: String,
    /// The question.
    #[serde(skip)]
    pub question: String,
    /// The retrieved passages.
    #[serde(skip)]
    pub sources: Vec<ScoredChunk>,
    /// The documents that were searched.
    #[serde(skip)]
    pub scope: SearchScope,
    /// The answer.
    pub text: String,
    /// Whether it quotes a page that answers the question; `None` if these pages are unknown.
    pub quotes_page: Option<bool>,
    /// Whether the retrieved passages include such a page.
    pub sources_hold_page: Option<bool>,
    /// Whether it has all lines of the question's evidence word for word; `None` without evidence.
    pub shows_evidence: Option<bool>,
    /// Whether it says that the documents do not contain the answer.
    pub declined: bool,
}

/// Asks the agent `chat` each question in the scopes that apply to it, and classifies its answers.
///
/// # Errors
/// When a component fails.
pub async fn answer_all(
    app: &Arc<App>,
    actor: &Actor,
    input: &EvaluationInput<'_>,
    quotes_page: QuotesPage,
    progress: &dyn Progress,
) -> Result<Vec<EvaluatedAnswer>> {
    let EvaluationInput { questions, condition, .. } = input;
    progress.begin("answering", Some(questions.len() as u64));
    let mut answers = Vec::with_capacity(questions.len());
    for LinkedQuestion { question, sources } in *questions {
        let gold: Vec<DocumentId> = sources.iter().map(|source| source.document).collect();
        for scope in SearchScope::of(question) {
            let given = answer(app, actor, &question.text, selection(*scope, gold[0], *condition)).await?;
            let title = sources[0].title.as_str();
            let is_quoted = question.pages.iter().any(|page| quotes_page(&given.text, title, *page));
            let passages: Vec<Passage> = given.sources.iter().cloned().map(Passage::from).collect();
            let is_found = Relevance::of(question, &gold, &passages, 0).rank.is_some();
            let has_pages = !question.pages.is_empty();
            answers.push(EvaluatedAnswer {
                id: question.id.clone(),
                question: question.text.clone(),
                sources: given.sources,
                scope: *scope,
                shows_evidence: shows_evidence(&given.text, &question.evidence),
                text: given.text,
                declined: given.is_declined,
                quotes_page: has_pages.then_some(is_quoted),
                sources_hold_page: has_pages.then_some(is_found),
            });
        }
        progress.advance(1);
    }
    progress.end();
    Ok(answers)
}

/// Asks the agent `chat` questions that no document answers: in all documents, and in the one that a question seems to be
/// about.
///
/// # Errors
/// When a component fails.
pub async fn answer_unanswerable(
    app: &Arc<App>,
    actor: &Actor,
    questions: &[UnanswerableQuestion],
    input: &EvaluationInput<'_>,
    progress: &dyn Progress,
) -> Result<Vec<EvaluatedAnswer>> {
    progress.begin("answering unanswerable questions", Some(questions.len() as u64));
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let source = input.sources.iter().find(|source| Some(&source.file) == question.file.as_ref());
        let condition = input.condition.cloned();
        let mut selections =
            vec![(SearchScope::AllDocuments, Selection { condition, ..Selection::default() })];
        let own = source.map(|source| selection(SearchScope::OneDocument, source.document, input.condition));
        selections.extend(own.map(|own| (SearchScope::OneDocument, own)));
        for (scope, selection) in selections {
            let given = answer(app, actor, &question.text, selection).await?;
            answers.push(EvaluatedAnswer {
                id: question.id.clone(),
                question: question.text.clone(),
                sources: given.sources,
                scope,
                text: given.text,
                declined: given.is_declined,
                quotes_page: None,
                sources_hold_page: None,
                shows_evidence: None,
            });
        }
        progress.advance(1);
    }
    progress.end();
    Ok(answers)
}

/// The share of answers that quote a page that answers the question.
pub fn share_with_quotes(answers: &[EvaluatedAnswer], scope: SearchScope) -> Option<Estimate> {
    share(answers, scope, |answer| answer.quotes_page)
}

/// The share of answers whose retrieved passages included such a page.
pub fn share_with_page_found(answers: &[EvaluatedAnswer], scope: SearchScope) -> Option<Estimate> {
    share(answers, scope, |answer| answer.sources_hold_page)
}

/// The share of answers that show all evidence.
pub fn share_showing_evidence(answers: &[EvaluatedAnswer], scope: SearchScope) -> Option<Estimate> {
    share(answers, scope, |answer| answer.shows_evidence)
}

/// Whether an answer has all lines of evidence, apart from case, spaces and Markdown.
fn shows_evidence(answer: &str, evidence: &str) -> Option<bool> {
    (!evidence.is_empty()).then(|| evidence.lines().all(|line| shows(answer, line)))
}

/// Whether a text has a line of evidence, apart from case, spaces and Markdown.
pub fn shows(text: &str, line: &str) -> bool {
    let plain = |text: &str| {
        let text = text.replace("**", "").to_lowercase();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    plain(text).contains(&plain(line))
}

/// The share of answers that say that the documents do not contain the answer.
pub fn share_declining(answers: &[EvaluatedAnswer], scope: SearchScope) -> Option<Estimate> {
    share(answers, scope, |answer| Some(answer.declined))
}

fn share(
    answers: &[EvaluatedAnswer],
    scope: SearchScope,
    matches: impl Fn(&EvaluatedAnswer) -> Option<bool>,
) -> Option<Estimate> {
    let these = answers.iter().filter(|answer| answer.scope == scope);
    let values: Vec<f64> = these.filter_map(matches).map(|is| f64::from(u8::from(is))).collect();
    estimate(&values)
}

fn selection(scope: SearchScope, document: DocumentId, condition: Option<&Condition>) -> Selection {
    let documents = (scope == SearchScope::OneDocument).then(|| vec![document]);
    Selection { documents, condition: condition.cloned(), ..Selection::default() }
}

/// A given answer.
struct Answer {
    text: String,
    /// The retrieved passages.
    sources: Vec<ScoredChunk>,
    is_declined: bool,
}

async fn answer(app: &Arc<App>, actor: &Actor, question: &str, selection: Selection) -> Result<Answer> {
    let messages = vec![Message::User(question.to_owned())];
    let request = agent::AgentRequest { selection, ..agent::AgentRequest::new(actor.clone(), messages) };
    let chat = app.agents.get("chat").ok_or(Error::AgentNotFound)?;
    let mut events = agent::answer::ask(app, actor.authorize()?, chat, request).await?;
    let (mut text, mut found) = (String::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event? {
            AnswerEvent::Text(piece) => text.push_str(&piece),
            AnswerEvent::Metadata(_)
            | AnswerEvent::Reasoning(_)
            | AnswerEvent::Found(_)
            | AnswerEvent::FunctionCalls(_) => {}
            AnswerEvent::Sources(sources) => found.extend(sources),
        }
    }
    let outcome = events.outcome().unwrap_or_else(AnswerOutcome::unknown);
    Ok(Answer { text, sources: found, is_declined: outcome.is_declined })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_of_evidence_are_shown_apart_from_case_and_markdown() {
        let answer = "“The fee is **5 euros**.” (A, page 1)\n\n- Bring   towels";
        assert_eq!(shows_evidence(answer, "fee is 5 euros\nbring towels"), Some(true));
        assert_eq!(shows_evidence(answer, "fee is 5 euros\nbring shoes"), Some(false));
        assert_eq!(shows_evidence(answer, ""), None);
    }
}
