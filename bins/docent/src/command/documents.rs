//! `docent documents`: documents of a running service.

use crate::{
    client::Remote,
    output::{self, printable},
};
use anyhow::Context;
use docent::cli::{DocumentIdsArgs, DocumentsCommand, ListDocumentsArgs, ShowDocumentArgs};
use reqwest::Method;
use serde_json::{Value, json};
use std::process::ExitCode;

/// How many documents are asked for at a time: the most that the service gives.
const PAGE: &str = "1000";

/// Ends with 1 when something was not done to one of the documents named.
pub(crate) async fn run(command: &DocumentsCommand) -> anyhow::Result<ExitCode> {
    match command {
        DocumentsCommand::List(args) => list(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Show(args) => show(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Delete(args) => each(args, Method::DELETE, None, "deleted").await,
        DocumentsCommand::Retry(args) => each(args, Method::POST, Some("retry"), "queued again").await,
    }
}

async fn list(args: &ListDocumentsArgs) -> anyhow::Result<()> {
    let remote = Remote::open(&args.remote)?;
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", PAGE)];
        query.extend(args.status.as_deref().map(|status| ("status", status)));
        query.extend(args.title.as_deref().map(|title| ("q", title)));
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let answer = remote.send(Method::GET, &["documents"], &query).await?;
        let next = answer.headers().get("X-Next-Cursor").and_then(|value| value.to_str().ok());
        let next = next.map(str::to_owned);
        let documents: Vec<Value> = answer.json().await.context("reading the list")?;
        for document in documents {
            let text = |name: &str| printable(document[name].as_str().unwrap_or_default());
            let row = || format!("{}  {:8}  {}", text("id"), text("status"), text("title"));
            output::result(args.output, row, || document.clone())?;
        }
        match next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

async fn show(args: &ShowDocumentArgs) -> anyhow::Result<()> {
    let remote = Remote::open(&args.remote)?;
    let id = args.id.to_string();
    let mut document = remote.get(&["documents", &id]).await?;
    let report = remote.get(&["documents", &id, "report"]).await?;
    // The later answer is the newer one.
    if let (Some(document), Value::Object(report)) = (document.as_object_mut(), report) {
        document.extend(report);
    }
    output::result(args.output, || shown(&document), || document.clone())?;
    Ok(())
}

/// A document and what became of it, a line each.
fn shown(document: &Value) -> String {
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    let mut lines = vec![
        ("id", text(&document["id"])),
        ("title", text(&document["title"])),
        ("status", text(&document["status"])),
    ];
    if document["failure"].is_object() {
        let failure = &document["failure"];
        lines.push(("failure", format!("{} ({})", text(&failure["reason"]), text(&failure["code"]))));
    }
    let coverage = &document["coverage"];
    if coverage.is_object() {
        lines.push(("pages", format!("{}, {} with text", coverage["pages"], coverage["pages_with_text"])));
        lines.push(("passages", coverage["chunks"].to_string()));
        for (name, pages) in [
            ("no text", "pages_without_text"),
            ("unreliable", "pages_unreliable"),
            ("cut short", "pages_truncated"),
        ] {
            let pages: Vec<u64> =
                coverage[pages].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
            if !pages.is_empty() {
                lines.push((name, pages_in_words(&pages)));
            }
        }
    }
    let warnings = document["warnings"].as_array().into_iter().flatten();
    lines.extend(warnings.map(|warning| ("warning", text(warning))));
    let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name:<11} {value}")).collect();
    lines.join("\n")
}

/// Pages in order, with those in a row together: `page 3`, `pages 3, 5 to 7`.
pub(super) fn pages_in_words(pages: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for page in pages {
        match runs.last_mut() {
            Some((_, last)) if page.checked_sub(1) == Some(*last) => *last = *page,
            _ => runs.push((*page, *page)),
        }
    }
    let is_one = matches!(runs.as_slice(), [(first, last)] if first == last);
    let runs = runs.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    });
    format!("{} {}", if is_one { "page" } else { "pages" }, runs.collect::<Vec<_>>().join(", "))
}

/// Does the same to each document, whatever becomes of the others.
async fn each(
    args: &DocumentIdsArgs,
    method: Method,
    below: Option<&str>,
    done: &str,
) -> anyhow::Result<ExitCode> {
    let remote = Remote::open(&args.remote)?;
    let mut all_done = true;
    for id in &args.ids {
        let id = id.to_string();
        let path: Vec<&str> = ["documents", &id].into_iter().chain(below).collect();
        let outcome = remote.send(method.clone(), &path, &[]).await;
        let is_done = outcome.is_ok();
        all_done &= is_done;
        let said = outcome.map_or_else(|error| format!("{error:#}"), |_| done.to_owned());
        output::result(
            args.output,
            || format!("{id}  {said}"),
            || json!({ "id": id, "done": is_done, "outcome": said }),
        )?;
    }
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_in_a_row_are_told_together() {
        assert_eq!(pages_in_words(&[3]), "page 3");
        assert_eq!(pages_in_words(&[3, 4]), "pages 3 to 4");
        assert_eq!(pages_in_words(&[1, 3, 4, 5, 9]), "pages 1, 3 to 5, 9");
    }

    #[test]
    fn a_document_is_shown_with_what_is_known_of_it() {
        let pending =
            json!({ "id": "7", "title": "a\u{7}b", "status": "pending", "coverage": null, "failure": null });
        assert_eq!(shown(&pending), "id          7\ntitle       a b\nstatus      pending");
        let failed = json!({
            "id": "7", "title": "t", "status": "failed", "warnings": ["1 of 12 pages: no text"],
            "failure": { "code": "unreadable", "reason": "it is damaged" },
            "coverage": { "pages": 12, "pages_with_text": 11, "chunks": 17, "pages_without_text": [3] },
        });
        let shown = shown(&failed);
        for line in [
            "failure     it is damaged (unreadable)",
            "pages       12, 11 with text",
            "passages    17",
            "no text     page 3",
            "warning     1 of 12 pages: no text",
        ] {
            assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
        }
    }
}
