//! `docent ask`: a question to a running service, and its answer as it comes.

mod answer;

use super::service::Signals;
use crate::{
    client::Remote,
    fail,
    output::{self, Unwritten, printable_lines},
};
use answer::{Answer, Heard};
use anyhow::{Context, bail, ensure};
use docent::cli::AskArgs;
use docent_adapters::sse::SseDecoder;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::{io::Read, process::ExitCode, time::Duration};
use tokio::time::timeout;

/// The answer broke off.
const BROKEN_OFF: u8 = 1;
/// There is no answer.
const UNANSWERED: u8 = 2;
/// Stopped by Ctrl-C, as shells tell it.
const STOPPED: u8 = 130;
/// The longest pause in an answer; the service says every few seconds that it is still there.
const PAUSE: Duration = Duration::from_secs(120);
/// The most bytes of a question on standard input.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Asks, and ends as [`AskArgs`] says.
pub(crate) async fn run(args: &AskArgs) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return fail(&error, UNANSWERED),
    };
    tokio::select! {
        ended = asked(args) => ended.unwrap_or_else(|error| fail(&error, UNANSWERED)),
        // The connection ends with the program, and the service then stops the model.
        () = signals.next() => {
            eprintln!("\ndocent: stopped");
            ExitCode::from(STOPPED)
        }
    }
}

async fn asked(args: &AskArgs) -> anyhow::Result<ExitCode> {
    let question = question(&args.question)?;
    let remote = Remote::open(&args.remote)?;
    let conversation = match &args.conversation {
        Some(id) => Some(id.to_string()),
        None if args.continues_latest => Some(latest_conversation(&remote).await?),
        None => None,
    };
    let mut body = json!({ "messages": [{ "role": "user", "content": question }], "include_sources": true });
    if let Some(conversation) = &conversation {
        body["conversation_id"] = conversation.as_str().into();
    }
    let stream = remote.stream(&["agents", &args.agent], &body).await?;
    let answer =
        hear(stream, |text| if args.output.json { Ok(()) } else { output::piece(&printable_lines(text)) });
    let answer = answer.await?;
    output::result(args.output, || answer.ending(), || answer.as_json(&args.agent, conversation.as_deref()))?;
    match &answer.broke_off {
        None => Ok(ExitCode::SUCCESS),
        Some(why) => Ok(fail(&anyhow::anyhow!("the answer broke off: {why}"), BROKEN_OFF)),
    }
}

/// What was typed, or stands on standard input.
fn question(typed: &str) -> anyhow::Result<String> {
    let mut question = typed.to_owned();
    if typed == "-" {
        question.clear();
        let mut input = std::io::stdin().lock().take(LONGEST + 1);
        input.read_to_string(&mut question).context("reading the question from standard input")?;
        ensure!(question.len() as u64 <= LONGEST, "the question on standard input is too long");
    }
    ensure!(!question.trim().is_empty(), "the question is empty");
    Ok(question)
}

/// The id of the conversation in which something was said last, or else of a new one.
async fn latest_conversation(remote: &Remote) -> anyhow::Result<String> {
    let latest = remote.send(Method::GET, &["conversations"], &[("limit", "1")]).await?;
    let latest: Value = latest.json().await.context("reading the conversations")?;
    let begun = match latest.get(0) {
        Some(conversation) => conversation.clone(),
        None => remote.post(&["conversations"], &json!({})).await?.json().await.context("beginning one")?,
    };
    match begun["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => bail!("the service did not name a conversation"),
    }
}

/// Reads an answer to its end, giving its text as it comes.
///
/// # Errors
/// When the text could not be given. What is wrong with the stream is part of the answer.
async fn hear(
    mut stream: Response,
    mut text: impl FnMut(&str) -> Result<(), Unwritten>,
) -> anyhow::Result<Answer> {
    let (mut decoder, mut answer) = (SseDecoder::default(), Answer::default());
    loop {
        let mut events = Vec::new();
        let piece = timeout(PAUSE, stream.chunk()).await;
        let read = match &piece {
            Ok(Ok(Some(bytes))) => decoder.push(bytes, |event| events.push(event)),
            Ok(Ok(None)) => decoder.finish().map(|event| events.extend(event)),
            Ok(Err(_)) | Err(_) => Ok(()),
        };
        for event in events {
            match answer.hear(&event) {
                Heard::Text(piece) => text(&piece)?,
                Heard::More => {}
                Heard::Error => return Ok(answer),
            }
        }
        match (read, piece) {
            (Ok(()), Ok(Ok(Some(_)))) => {}
            (Ok(()), Ok(Ok(None))) => return Ok(answer.ended()),
            (Err(_), _) => return Ok(answer.broken("an event of it is too long")),
            (_, Ok(Err(_))) => return Ok(answer.broken("the connection was lost")),
            (_, Err(_)) => return Ok(answer.broken("nothing more came")),
        }
    }
}
