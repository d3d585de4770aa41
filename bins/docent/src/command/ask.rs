//! `docent ask`: asks a running service a question and streams the answer.

mod answer;
mod explanation;

use super::service::Signals;
use crate::client::ServiceClient;
use crate::fail;
use crate::output::{self, OutputError, sanitize_lines};
use answer::{Answer, Update};
use anyhow::{Context, bail, ensure};
use docent::cli::AskArgs;
use docent_models::sse::SseDecoder;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;

/// Exit code: the answer is incomplete.
const INCOMPLETE: u8 = 1;
/// Exit code: no answer.
const NO_ANSWER: u8 = 2;
/// Exit code: interrupted by Ctrl-C, as in shells.
const INTERRUPTED: u8 = 130;
/// Timeout between two pieces of an answer; the service sends a comment every few seconds.
const STREAM_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum size in bytes of a question on standard input.
const MAX_QUESTION: u64 = 4 * 1024 * 1024;

/// Runs the command; the exit codes are in the help of the command.
pub(crate) async fn run(args: &AskArgs) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return fail(&error, NO_ANSWER),
    };
    tokio::select! {
        code = ask(args) => code.unwrap_or_else(|error| fail(&error, NO_ANSWER)),
        // The service cancels the model call when the connection closes with the process.
        () = signals.next() => {
            eprintln!("\ndocent: interrupted");
            ExitCode::from(INTERRUPTED)
        }
    }
}

async fn ask(args: &AskArgs) -> anyhow::Result<ExitCode> {
    let question = read_question(&args.question)?;
    let client = ServiceClient::open(&args.client.remote)?;
    let conversation = match &args.conversation {
        Some(id) => Some(id.to_string()),
        None if args.continues_latest => Some(latest_conversation(&client).await?),
        None => None,
    };
    let mut body = json!({
        "messages": [{ "role": "user", "content": question }],
        "include_sources": true,
        "include_metadata": args.explain,
    });
    client.select(&args.selection, &mut body).await?;
    if let Some(conversation) = &conversation {
        body["conversation_id"] = conversation.as_str().into();
    }
    let stream = client.stream(&["agents", &args.agent], &body).await?;
    let print =
        |text: &str| if args.client.output.json { Ok(()) } else { output::print_text(&sanitize_lines(text)) };
    let answer = read_answer(stream, print).await?;
    let explanation = match args.explain {
        true => Some(explain(&client, args, &question, &answer).await),
        false => None,
    };
    output::print(
        args.client.output,
        || match &explanation {
            Some(Ok(found)) => format!("{}\n\n{}", answer.sources_text(), explanation::table(found)),
            Some(Err(_)) | None => answer.sources_text(),
        },
        || {
            let mut object = answer.as_json(&args.agent, conversation.as_deref());
            if let Some(Ok(found)) = &explanation {
                object["explanation"] = found.clone();
            }
            object
        },
    )?;
    match (&answer.error, explanation) {
        (Some(why), _) => Ok(fail(&anyhow::anyhow!("the answer is incomplete: {why}"), INCOMPLETE)),
        (None, Some(Err(error))) => Ok(fail(&error.context("the answer cannot be explained"), INCOMPLETE)),
        (None, Some(Ok(_)) | None) => Ok(ExitCode::SUCCESS),
    }
}

/// Returns how the built-in answerer rates what was found for the question as the answer understood it; null if another model answers.
async fn explain(
    client: &ServiceClient,
    args: &AskArgs,
    question: &str,
    answer: &Answer,
) -> anyhow::Result<Value> {
    let query = answer.searched.as_deref().context("nothing was searched for it")?;
    // A long query is cut.
    let query = if question.starts_with(query.trim_end_matches('…')) { question } else { query };
    let mut body = json!({ "query": query, "explain": true });
    client.select(&args.selection, &mut body).await?;
    let response = client.post(&["search"], &body).await?;
    let mut found: Value = response.json().await.context("reading the explanation")?;
    Ok(found["explanation"].take())
}

/// Returns the question, read from standard input if the argument is `-`.
fn read_question(argument: &str) -> anyhow::Result<String> {
    let mut question = argument.to_owned();
    if argument == "-" {
        question.clear();
        let mut input = std::io::stdin().lock().take(MAX_QUESTION + 1);
        input.read_to_string(&mut question).context("reading the question from standard input")?;
        ensure!(
            question.len() as u64 <= MAX_QUESTION,
            "the question on standard input is longer than {MAX_QUESTION} bytes"
        );
    }
    ensure!(!question.trim().is_empty(), "the question is empty");
    Ok(question)
}

/// Returns the ID of the most recent conversation, or of a new one if there is none.
async fn latest_conversation(client: &ServiceClient) -> anyhow::Result<String> {
    let latest = client.send(Method::GET, &["conversations"], &[("limit", "1")]).await?;
    let latest: Value = latest.json().await.context("reading the list of conversations")?;
    let conversation = match latest.get(0) {
        Some(conversation) => conversation.clone(),
        None => client
            .post(&["conversations"], &json!({}))
            .await?
            .json()
            .await
            .context("creating a conversation")?,
    };
    match conversation["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => bail!("the response has no conversation ID"),
    }
}

/// Reads an answer to its end and prints its text as it arrives.
///
/// # Errors
/// If printing fails. Errors of the stream are part of the answer.
async fn read_answer(
    mut stream: Response,
    mut print: impl FnMut(&str) -> Result<(), OutputError>,
) -> anyhow::Result<Answer> {
    let (mut decoder, mut answer) = (SseDecoder::default(), Answer::default());
    loop {
        let mut events = Vec::new();
        let chunk = timeout(STREAM_TIMEOUT, stream.chunk()).await;
        let read = match &chunk {
            Ok(Ok(Some(bytes))) => decoder.push(bytes, |event| events.push(event.clone())),
            Ok(Ok(None)) => decoder.finish().map(|event| events.extend(event)),
            Ok(Err(_)) | Err(_) => Ok(()),
        };
        for event in events {
            match answer.apply(&event) {
                Update::Text(text) => print(&text)?,
                Update::None => {}
                Update::Error => return Ok(answer),
            }
        }
        match (read, chunk) {
            (Ok(()), Ok(Ok(Some(_)))) => {}
            (Ok(()), Ok(Ok(None))) => return Ok(answer.complete()),
            (Err(_), _) => return Ok(answer.failed("an event of the stream is too long")),
            (_, Ok(Err(_))) => return Ok(answer.failed("the connection was lost")),
            (_, Err(_)) => return Ok(answer.failed("no data was received in time")),
        }
    }
}
