//! `docent documents`: documents of a running service.

use crate::{
    cli::{DocumentsCommand, ListDocumentsArgs, NamedDocumentsArgs},
    client::{Remote, printable},
};
use anyhow::Context;
use reqwest::Method;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Ends with 1 when something was not done to one of the documents named.
pub(crate) async fn run(command: &DocumentsCommand) -> anyhow::Result<ExitCode> {
    match command {
        DocumentsCommand::List(args) => list(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Delete(args) => each(args, Method::DELETE, None, "deleted").await,
        DocumentsCommand::Retry(args) => each(args, Method::POST, Some("retry"), "queued again").await,
    }
}

async fn list(args: &ListDocumentsArgs) -> anyhow::Result<()> {
    let mut remote = Remote::open(&args.remote)?;
    let mut query: Vec<(&str, &str)> = Vec::new();
    query.extend(args.status.as_deref().map(|status| ("status", status)));
    query.extend(args.title.as_deref().map(|title| ("q", title)));
    let answer = remote.send(Method::GET, &["documents"], &query).await?;
    let documents: Vec<Value> = answer.json().await.context("reading the list")?;
    for document in &documents {
        if args.json {
            println!("{document}");
        } else {
            let text = |name: &str| printable(document[name].as_str().unwrap_or_default());
            println!("{}  {:8}  {}", text("id"), text("status"), text("title"));
        }
    }
    Ok(())
}

/// Does the same to each document, whatever becomes of the others.
async fn each(
    args: &NamedDocumentsArgs,
    method: Method,
    below: Option<&str>,
    done: &str,
) -> anyhow::Result<ExitCode> {
    let mut remote = Remote::open(&args.remote)?;
    let mut all_done = true;
    for id in &args.ids {
        let id = id.to_string();
        let path: Vec<&str> = ["documents", &id].into_iter().chain(below).collect();
        let outcome = remote.send(method.clone(), &path, &[]).await;
        all_done &= outcome.is_ok();
        let said = outcome.map_or_else(|error| format!("{error:#}"), |_| done.to_owned());
        if args.json {
            println!("{}", json!({ "id": id, "outcome": said }));
        } else {
            println!("{id}  {said}");
        }
    }
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
