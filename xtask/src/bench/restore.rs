//! Compares the answers of an installation before and after it is restored into the other profile, and back.
//!
//! Ingests the PDFs of a directory with the built-in stores and asks the questions. Restores a backup to PostgreSQL, Redis
//! and the Qdrant fake, and a backup of that to built-in stores again. Compares the sources of the answers.

use super::Programs;
use super::ingest::{self, Uploader};
use super::peer::Role;
use super::service::{Installation, Peer};
use super::wire::{Client, find, request};
use anyhow::{Context, Result, ensure};
use docent_testkit::servers::{PostgresServer, RedisServer};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Options of the benchmark.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// File with one JSON object per line that has a field `question`.
    questions: PathBuf,
    /// Directory with PDFs.
    folder: PathBuf,
    /// Use only the N largest PDFs.
    #[arg(long, value_name = "N")]
    largest: Option<usize>,
}

pub(crate) fn run(programs: Programs, load: &Load) -> Result<ExitCode> {
    super::in_folder(programs, async |program, folder| {
        measure(program, folder, load).await?;
        Ok(Vec::new())
    })
}

/// The sources of an answer, best first.
type Sources = Vec<Source>;

#[derive(Debug, PartialEq)]
struct Source {
    chunk: String,
    page: u64,
    score: f64,
    text: String,
}

async fn measure(program: &Path, folder: &Path, load: &Load) -> Result<()> {
    let questions = questions(&load.questions)?;
    let embedded = Installation::new(program, &folder.join("embedded"), &[])?;
    embedded.run(&["migrate"])?;
    embedded.create_account()?;
    let (docent, token) = embedded.serve().await?;
    let mut uploader = Uploader::connect(docent.address, token.clone()).await?;
    for pdf in ingest::pdfs(&load.folder, load.largest)? {
        uploader.upload(&pdf).await?;
    }
    while uploader.outstanding() > 0 {
        uploader.wait_for_next().await?;
    }
    let totals = uploader.totals();
    println!("{} documents, {} chunks, {} questions", totals.ingested, totals.chunks, questions.len());
    let before = ask_all(docent, &token, &questions).await?;

    let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
    let store = Peer::in_role(&Role::Qdrant.arguments())?;
    let settings = [
        ("DOCENT_DATABASE_URL", postgres.url("docent", PostgresServer::PASSWORD, "postgres")),
        ("DOCENT_REDIS_URL", redis.url(0)),
        ("DOCENT_VECTOR_DB", "qdrant".to_owned()),
        ("DOCENT_QDRANT_URL", format!("http://{}", store.address)),
    ];
    let servers = Installation::new(program, &folder.join("servers"), &settings)?;
    let on_servers = relocate(&embedded, &servers, &folder.join("first.tar.gz"), &questions).await?;
    print("PostgreSQL, Redis and Qdrant fake", &before, &on_servers);
    let back = Installation::new(program, &folder.join("back"), &[])?;
    let again = relocate(&servers, &back, &folder.join("second.tar.gz"), &questions).await?;
    print("built-in stores again", &before, &again);
    Ok(())
}

fn questions(file: &Path) -> Result<Vec<String>> {
    let lines = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let question = |line: &str| {
        let line: Value = serde_json::from_str(line)?;
        Ok(line["question"].as_str().context("a field `question`")?.to_owned())
    };
    let questions = lines.lines().map(question).collect::<Result<Vec<_>>>()?;
    ensure!(!questions.is_empty(), "no questions in {}", file.display());
    Ok(questions)
}

/// Restores a backup of one installation into another, and asks the questions there.
async fn relocate(
    from: &Installation,
    to: &Installation,
    archive: &Path,
    questions: &[String],
) -> Result<Vec<Sources>> {
    let file = archive.to_str().context("a path of plain text")?;
    let began = Instant::now();
    from.run(&["backup", file])?;
    let saved = began.elapsed();
    to.run(&["migrate"])?;
    let began = Instant::now();
    to.run(&["restore", file])?;
    println!(
        "backup {:.1} s, {} MB; restore {:.1} s",
        saved.as_secs_f64(),
        fs::metadata(archive)?.len() / 1_000_000,
        began.elapsed().as_secs_f64()
    );
    let (docent, token) = to.serve().await?;
    ask_all(docent, &token, questions).await
}

/// Asks all questions, then stops the service.
async fn ask_all(docent: Peer, token: &str, questions: &[String]) -> Result<Vec<Sources>> {
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let body = json!({"messages": [{"role": "user", "content": question}], "include_sources": true});
        let mut client = Client::connect(docent.address).await?;
        client.send(&request("POST", "/agents/chat", Some(token), &body.to_string())).await?;
        while !client.read_more().await?.context("a stream was closed early")?.ends_with(b"0\r\n\r\n") {}
        answers.push(parse_sources(&decode_chunked(client.received())?).with_context(|| question.clone())?);
    }
    docent.stop()?;
    Ok(answers)
}

/// Decodes the body of a response with chunked transfer encoding.
fn decode_chunked(response: &[u8]) -> Result<String> {
    let head = find(response, b"\r\n\r\n").context("a response without head")? + 4;
    let (mut rest, mut body) = (&response[head..], Vec::new());
    loop {
        let line = find(rest, b"\r\n").context("the length of a chunk")?;
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line])?.trim(), 16)?;
        if length == 0 {
            return Ok(String::from_utf8(body)?);
        }
        let chunk = rest.get(line + 2..line + 2 + length).context("a whole chunk")?;
        body.extend_from_slice(chunk);
        rest = rest.get(line + 4 + length..).unwrap_or_default();
    }
}

/// Parses the sources in a stream of events.
fn parse_sources(stream: &str) -> Result<Sources> {
    ensure!(!stream.contains("event: error"), "{stream}");
    let Some((_, event)) = stream.split_once("event: sources\ndata: ") else { return Ok(Vec::new()) };
    let event: Value = serde_json::from_str(event.lines().next().unwrap_or_default())?;
    let source = |source: &Value| {
        Some(Source {
            chunk: source["chunk_id"].as_str()?.to_owned(),
            page: source["page_start"].as_u64()?,
            score: source["score"].as_f64()?,
            text: source["text"].as_str()?.to_owned(),
        })
    };
    event["results"]
        .as_array()
        .context("a list")?
        .iter()
        .map(|entry| source(entry).context("a source"))
        .collect()
}

fn print(place: &str, before: &[Sources], after: &[Sources]) {
    let chunks = |sources: &Sources| sources.iter().map(|source| source.chunk.clone()).collect::<Vec<_>>();
    let count = |same: &dyn Fn(&Sources, &Sources) -> bool| {
        before.iter().zip(after).filter(|(before, after)| same(before, after)).count()
    };
    let sorted = |sources: &Sources| {
        let mut chunks = chunks(sources);
        chunks.sort();
        chunks
    };
    println!(
        "{place}: of {} questions, {} have the same sources in the same order, {} the same sources in any order, {} the same \
         first source, {} also the same scores and texts",
        before.len(),
        count(&|a, b| chunks(a) == chunks(b)),
        count(&|a, b| sorted(a) == sorted(b)),
        count(&|a, b| chunks(a).first() == chunks(b).first()),
        count(&|a, b| a == b),
    );
    let found = before.iter().filter(|sources| !sources.is_empty()).count();
    println!("  {found} had sources originally");
}
