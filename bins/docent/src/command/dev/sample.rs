//! The sample guide and the question about it, which the first run shows.
//!
//! Nothing here stops the start of the service: the embedding back end and the chat model can be down, slow
//! or wrong.

use super::print;
use crate::invocation::command;
use crate::output::{sanitize, sanitize_lines};
use anyhow::{Context, bail};
use bytes::Bytes;
use docent_app::agent::{AgentRequest, AnswerEvent, AnswerStream, answer};
use docent_app::{App, documents};
use docent_domain::access::Actor;
use docent_domain::chat::Message;
use docent_domain::document::{Document, DocumentState};
use docent_domain::fault::Component;
use docent_domain::id::CollectionId;
use docent_domain::scope::Scope;
use docent_domain::user::User;
use futures::StreamExt;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const GUIDE: &[u8] = include_bytes!("../../../assets/sample-guide.pdf");
const GUIDE_NAME: &str = "The Docent Guide.pdf";
const QUESTION: &str = "How long does an access token last?";
/// Ingesting the guide takes well under a second, except on a busy machine or with a slow embedding back end.
const GUIDE_TIMEOUT: Duration = Duration::from_secs(60);
/// Time for the whole answer. Only models take longer than a moment.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// State of the guide after its ingestion.
#[allow(clippy::large_enum_variant, reason = "there is one value at a time")]
enum Guide {
    Ingested(Document),
    /// It is not ingested, for this reason.
    Pending(String),
    Failed(String),
}

/// Ingests the guide and asks about it, through the same use cases as any client. Prints what goes wrong.
/// `has_model` is whether a chat model is connected.
pub(super) async fn show(app: &Arc<App>, admin: &User, has_model: bool) {
    if let Err(error) = try_show(app, admin, has_model).await {
        print(format_args!("  The sample cannot be shown: {}", sanitize(&format!("{error:#}"))));
    }
}

async fn try_show(app: &Arc<App>, admin: &User, has_model: bool) -> anyhow::Result<()> {
    let actor = Actor::of(admin).context("the admin account is inactive")?;
    let started = Instant::now();
    let (state, reason) = match ingest_guide(app, &actor).await? {
        Guide::Ingested(document) => {
            let coverage = document.coverage.unwrap_or_default();
            print(format_args!(
                "  sample guide    {} pages, {} chunks, ingested in {:.1} s",
                coverage.pages,
                coverage.chunks,
                started.elapsed().as_secs_f32()
            ));
            return ask(app, &actor, has_model).await;
        }
        Guide::Pending(reason) => ("pending", reason),
        Guide::Failed(reason) => ("failed", reason),
    };
    // The chat model can be a part of the ingestion too.
    let is_of_model = [Component::ChatModel, Component::Embedder].iter().any(|of| reason.contains(of.name()));
    let check = if is_of_model { "llm check --dev" } else { "doctor --dev" };
    let (reason, check) = (sanitize(&reason), command(check));
    print(format_args!("  sample guide    {state}: {reason}. Run `{check}` to see what to change"));
    Ok(())
}

/// Uploads the guide, unless an interrupted first run has, and waits for its ingestion.
async fn ingest_guide(app: &Arc<App>, actor: &Actor) -> anyhow::Result<Guide> {
    let new = documents::upload::NewDocument::new(actor.authorize()?, CollectionId::EVERYONE);
    let new = documents::upload::NewDocument { returns_duplicate: true, ..new };
    let mut upload = documents::upload::begin(app, new, GUIDE_NAME, "application/pdf", 0).await?;
    upload.write(Bytes::from_static(GUIDE)).await?;
    let id = upload.finish().await?.document.id;
    let ingested = async {
        loop {
            let report = documents::get::report(app, actor.authorize()?, Scope::SERVICE, id).await?;
            match (&report.document.state, report.wait) {
                (DocumentState::Pending(_), Some(wait)) => return Ok(Guide::Pending(wait.reason)),
                (DocumentState::Pending(_), None) => app.sleep(Duration::from_millis(20)).await,
                (DocumentState::Ingested(_), _) => return Ok(Guide::Ingested(report.document)),
                (DocumentState::Failed(failed), _) => {
                    return Ok(Guide::Failed(failed.failure.reason.clone()));
                }
            }
        }
    };
    let late = format!("the ingestion takes over {} s", GUIDE_TIMEOUT.as_secs());
    tokio::time::timeout(GUIDE_TIMEOUT, ingested).await.unwrap_or(Ok(Guide::Pending(late)))
}

/// Asks the question and prints the answer, and a line with what is wrong if it is not from the guide.
async fn ask(app: &Arc<App>, actor: &Actor, has_model: bool) -> anyhow::Result<()> {
    print(format_args!("\n  > {QUESTION}\n"));
    let request = AgentRequest::new(actor.clone(), vec![Message::User(QUESTION.to_owned())]);
    let chat = app.agent("chat").context("the agent `chat` is missing")?;
    let grant = actor.authorize()?;
    let answered = async { print_answer(answer::ask(app, grant, chat, request).await?).await };
    let problem = match tokio::time::timeout(ANSWER_TIMEOUT, answered).await {
        Ok(Ok(0)) => {
            "The answer is not from the sample guide, because the documents were not searched".to_owned()
        }
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => format!("There is no complete answer: {}", sanitize(&format!("{error:#}"))),
        Err(_) => format!("There is no complete answer after {} s", ANSWER_TIMEOUT.as_secs()),
    };
    let remedy = match has_model {
        true => format!("Run `{}` to see what to change", command("llm check --dev")),
        false => "Please report this".to_owned(),
    };
    print(format_args!("\n  {problem}. {remedy}"));
    Ok(())
}

/// Prints an answer as it arrives, indented, and returns the number of its sources.
async fn print_answer(mut answer: AnswerStream) -> anyhow::Result<usize> {
    let mut out = AnswerLines::default();
    while let Some(event) = answer.next().await {
        match event? {
            AnswerEvent::Text(text) => out.write(&text),
            AnswerEvent::Metadata(_)
            | AnswerEvent::Reasoning(_)
            | AnswerEvent::Found(_)
            | AnswerEvent::FunctionCalls(_) => {}
            AnswerEvent::Sources(sources) => return Ok(sources.len()),
        }
    }
    bail!("it ended without its sources")
}

/// An indented answer on standard output. Its last line ends when it is dropped, also if the answer was cut.
#[derive(Default)]
struct AnswerLines {
    has_text: bool,
}

impl AnswerLines {
    /// Writes a piece of text. A closed standard output does not stop the service.
    fn write(&mut self, text: &str) {
        let mut out = std::io::stdout();
        let indent = if self.has_text { "" } else { "  " };
        let _ =
            write!(out, "{indent}{}", sanitize_lines(text).replace('\n', "\n  ")).and_then(|()| out.flush());
        self.has_text = true;
    }
}

impl Drop for AnswerLines {
    fn drop(&mut self) {
        if self.has_text {
            let _ = writeln!(std::io::stdout());
        }
    }
}
