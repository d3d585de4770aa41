//! `docent documents`: manages the documents of a running service.

use crate::client::{ApiError, ServiceClient};
use crate::output::{self, paint, sanitize};
use anyhow::{Context, bail};
use docent::cli::{
    ClientArgs, ConditionArg, DocumentsCommand, LabelArgs, ListDocumentsArgs, RetryDocumentsArgs,
    ShowDocumentArgs,
};
use docent_domain::document::FailureCode;
use docent_domain::id::DocumentId;
use reqwest::{Method, StatusCode};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// Page size of lists: the maximum of the API.
const PAGE_SIZE: &str = "1000";

/// Runs a subcommand. The exit code is 1 if it failed for one of several documents.
pub(crate) async fn run(command: &DocumentsCommand) -> anyhow::Result<ExitCode> {
    match command {
        DocumentsCommand::List(args) => list(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Show(args) => show(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Summary(args) => summary(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Label(args) => label(args).await.map(|()| ExitCode::SUCCESS),
        DocumentsCommand::Delete(args) => {
            for_each(&args.client, &args.ids, Method::DELETE, None, "deleted").await
        }
        DocumentsCommand::Retry(args) => retry(args).await,
    }
}

async fn list(args: &ListDocumentsArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    let collection = match &args.collection {
        Some(collection) => Some(client.collection_id(collection).await?.to_string()),
        None => None,
    };
    let filters = ConditionArg::all(&args.conditions).map(|filters| filters.to_string());
    let mut names: Option<CollectionNames> = None;
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("limit", PAGE_SIZE), ("include", "details")];
        query.extend(args.status.as_deref().map(|status| ("status", status)));
        query.extend(args.title.as_deref().map(|title| ("q", title)));
        query.extend(collection.as_deref().map(|id| ("collection_id", id)));
        query.extend(filters.as_deref().map(|filters| ("filters", filters)));
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let response = client.send(Method::GET, &["documents"], &query).await?;
        let next = response.headers().get("X-Next-Cursor").and_then(|value| value.to_str().ok());
        let next = next.map(str::to_owned);
        let documents: Vec<Value> = response.json().await.context("reading the list")?;
        if names.is_none() && !documents.is_empty() && !args.client.output.json {
            names = Some(CollectionNames::read(&client).await?);
        }
        let rows = names.as_ref().map(|names| table(&documents, names)).unwrap_or_default();
        for (number, document) in documents.iter().enumerate() {
            let row = || rows.get(number).cloned().unwrap_or_default();
            output::print(args.client.output, row, || document.clone())?;
        }
        match next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}

/// The names of the collections that the account can see, by their IDs.
struct CollectionNames(BTreeMap<String, String>);

impl CollectionNames {
    async fn read(client: &ServiceClient) -> anyhow::Result<Self> {
        let collections = client.get(&["collections"]).await.context("reading the collections")?;
        let pairs = collections.as_array().into_iter().flatten();
        let pair = |one: &Value| Some((one["id"].as_str()?.to_owned(), sanitize(one["name"].as_str()?)));
        Ok(Self(pairs.filter_map(pair).collect()))
    }

    /// The names of a document's collections; an ID if the collection is not in the list.
    fn of(&self, document: &Value) -> String {
        let ids = document["access"]["collection_ids"].as_array().into_iter().flatten();
        let name = |id: &str| self.0.get(id).cloned().unwrap_or_else(|| sanitize(id));
        let names: Vec<String> = ids.filter_map(Value::as_str).map(name).collect();
        names.join(", ")
    }
}

/// Formats one row for each document: ID, status, date, pages, owner, collections and title, with aligned columns.
fn table(documents: &[Value], names: &CollectionNames) -> Vec<String> {
    let text = |value: &Value| sanitize(value.as_str().unwrap_or_default());
    let cells = |document: &Value| {
        let pages = match document["pages"].as_u64() {
            Some(1) => "1 page".to_owned(),
            Some(pages) => format!("{pages} pages"),
            None => "-".to_owned(),
        };
        let date: String = text(&document["created_at"]).chars().take(10).collect();
        let owner = text(&document["access"]["owner_email"]);
        [date, pages, owner, names.of(document)]
            .map(|cell| if cell.is_empty() { "-".to_owned() } else { cell })
    };
    let cells: Vec<[String; 4]> = documents.iter().map(cells).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let [dates, pages, owners, collections] = [0, 1, 2, 3].map(width);
    let row = |(document, [date, page, owner, collection]): (&Value, &[String; 4])| {
        let (id, title) = (text(&document["id"]), text(&document["title"]));
        let status = paint(&format!("{:8}", text(&document["status"])));
        format!(
            "{id}  {status}  {date:dates$}  {page:>pages$}  {owner:owners$}  {collection:collections$}  {title}"
        )
    };
    documents.iter().zip(&cells).map(row).collect()
}

async fn show(args: &ShowDocumentArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    print_document(&client, args.id, &args.client).await
}

/// Reads and prints a document with its report.
async fn print_document(client: &ServiceClient, id: DocumentId, args: &ClientArgs) -> anyhow::Result<()> {
    let id = id.to_string();
    let mut document = client.get(&["documents", &id]).await?;
    let report = client.get(&["documents", &id, "report"]).await?;
    // The report was read last: its fields are the most recent.
    if let (Some(document), Value::Object(report)) = (document.as_object_mut(), report) {
        document.extend(report);
    }
    output::print(args.output, || as_text(&document), || document.clone())?;
    Ok(())
}

async fn summary(args: &ShowDocumentArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    let summary = client.get(&["documents", &args.id.to_string(), "summary"]).await?;
    output::print(args.client.output, || summary_text(&summary), || summary.clone())?;
    Ok(())
}

/// The summary as lines of text, each with its page.
fn summary_text(summary: &Value) -> String {
    let text = |value: &Value| sanitize(value.as_str().unwrap_or_default());
    let place = |item: &Value| match (item["label"].as_str(), item["page"].as_u64()) {
        (Some(label), _) => format!(" ({})", sanitize(label)),
        (None, Some(page)) => format!(" (page {page})"),
        (None, None) => String::new(),
    };
    let mut lines = vec![text(&summary["title"])];
    let description = &summary["description"];
    if !description.is_null() {
        lines.push(format!("{}{}", text(&description["text"]), place(description)));
    }
    for (name, list, field) in [
        ("Key points", "points", "text"),
        ("Sections", "headings", "title"),
        ("Suggested questions", "questions", "text"),
    ] {
        let items = summary[list].as_array().map(Vec::as_slice).unwrap_or_default();
        if !items.is_empty() {
            lines.push(format!("\n{name}:"));
            lines.extend(items.iter().map(|item| format!("- {}{}", text(&item[field]), place(item))));
        }
    }
    if let Some(fallback) = summary["fallback"].as_str() {
        lines.push(format!("\nThe language model was not used: {}", fallback.replace('_', " ")));
    }
    lines.join("\n")
}

async fn label(args: &LabelArgs) -> anyhow::Result<()> {
    let client = ServiceClient::open(&args.client.remote)?;
    let id = args.id.to_string();
    let report = client.get(&["documents", &id, "report"]).await?;
    let mut body = Value::Object(Map::new());
    if !args.add.is_empty() || !args.remove.is_empty() {
        let ids = report["collection_ids"].as_array().into_iter().flatten();
        let mut ids: BTreeSet<String> = ids.filter_map(Value::as_str).map(str::to_owned).collect();
        for collection in &args.remove {
            let collection = client.collection_id(collection).await?.to_string();
            if !ids.remove(&collection) {
                bail!("the document is not in the collection {collection}");
            }
        }
        for collection in &args.add {
            ids.insert(client.collection_id(collection).await?.to_string());
        }
        body["collection_ids"] = json!(ids);
    }
    if !args.set.is_empty() || !args.unset.is_empty() {
        let mut attributes = report["attributes"].as_object().cloned().unwrap_or_default();
        for key in &args.unset {
            if attributes.remove(key).is_none() {
                bail!("the document has no attribute {key:?}");
            }
        }
        attributes.extend(args.set.iter().map(|set| (set.key.clone(), set.value.clone())));
        body["attributes"] = Value::Object(attributes);
    }
    client.send_json(Method::PATCH, &["documents", &id], &body).await?;
    // A document that left all collections of the account can no longer be read.
    match print_document(&client, args.id, &args.client).await {
        Err(error) if is_not_found(&error) => {
            let object = || json!({ "id": id, "readable": false });
            output::print(
                args.client.output,
                || format!("{id}  changed; you can no longer read it"),
                object,
            )?;
            Ok(())
        }
        printed => printed,
    }
}

fn is_not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ApiError>().is_some_and(|error| error.status == StatusCode::NOT_FOUND)
}

/// Formats a document and its ingestion report, one field per line.
fn as_text(document: &Value) -> String {
    let text = |value: &Value| sanitize(value.as_str().unwrap_or_default());
    let mut lines = vec![
        ("id", text(&document["id"])),
        ("title", text(&document["title"])),
        ("status", text(&document["status"])),
    ];
    if let Some(owner) = document["owner_email"].as_str() {
        lines.push(("owner", sanitize(owner)));
    }
    let collections = document["collection_ids"].as_array().into_iter().flatten();
    lines.extend(collections.map(|collection| ("collection", text(collection))));
    let attributes = document["attributes"].as_object().into_iter().flatten();
    lines.extend(attributes.map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        ("attribute", sanitize(&format!("{key}={value}")))
    }));
    if document["failure"].is_object() {
        let failure = &document["failure"];
        lines.push(("failure", format!("{} ({})", text(&failure["reason"]), text(&failure["code"]))));
        if let Some(advice) = failure["advice"].as_str() {
            lines.push(("what to do", sanitize(advice)));
        }
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
                lines.push((name, format_pages(&pages)));
            }
        }
        let recognized = coverage["recognition"]["pages"].as_array().into_iter().flatten();
        let recognized: Vec<u64> = recognized.filter_map(|page| page["page"].as_u64()).collect();
        if !recognized.is_empty() {
            let confidence = coverage["recognition"]["confidence"].as_f64().unwrap_or_default() * 100.0;
            let by = text(&coverage["recognition"]["recognizer"]);
            let pages = format_pages(&recognized);
            lines.push(("recognised", format!("{pages}, by {by}, confidence {confidence:.0} %")));
        }
    }
    let warnings = document["warnings"].as_array().into_iter().flatten();
    lines.extend(warnings.map(|warning| ("warning", text(warning))));
    let lines: Vec<String> = lines.iter().map(|(name, value)| format!("{name:<11} {value}")).collect();
    lines.join("\n")
}

/// Formats sorted page numbers with ranges: `page 3`, `pages 3, 5 to 7`.
pub(super) fn format_pages(pages: &[u64]) -> String {
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

async fn retry(args: &RetryDocumentsArgs) -> anyhow::Result<ExitCode> {
    let ids = match args.failed {
        Some(code) => failed_with(&ServiceClient::open(&args.client.remote)?, code).await?,
        None => args.ids.clone(),
    };
    if ids.is_empty() && !args.client.output.json {
        output::print_text("No failed documents.\n")?;
    }
    for_each(&args.client, &ids, Method::POST, Some("retry"), "queued again").await
}

/// All documents that failed with a code.
async fn failed_with(client: &ServiceClient, code: FailureCode) -> anyhow::Result<Vec<DocumentId>> {
    let query = [("failure", code.as_str())];
    let response = client.send(Method::GET, &["documents"], &query).await?;
    let documents: Vec<Value> = response.json().await.context("reading the list")?;
    let id = |document: &Value| document["id"].as_str().and_then(|id| id.parse().ok());
    documents.iter().map(|document| id(document).context("the list has a document without an ID")).collect()
}

/// Sends the same request for each document, also after failures.
async fn for_each(
    args: &ClientArgs,
    ids: &[DocumentId],
    method: Method,
    below: Option<&str>,
    done: &str,
) -> anyhow::Result<ExitCode> {
    let client = ServiceClient::open(&args.remote)?;
    let mut all_done = true;
    for id in ids {
        let id = id.to_string();
        let path: Vec<&str> = ["documents", &id].into_iter().chain(below).collect();
        let outcome = client.send(method.clone(), &path, &[]).await;
        let is_done = outcome.is_ok();
        all_done &= is_done;
        let result = outcome.map_or_else(|error| format!("{error:#}"), |_| done.to_owned());
        output::print(
            args.output,
            || format!("{id}  {result}"),
            || json!({ "id": id, "done": is_done, "outcome": result }),
        )?;
    }
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_aligned_columns_and_names_collections() {
        let names = CollectionNames(BTreeMap::from([("7".to_owned(), "Legal".to_owned())]));
        let documents = [
            json!({
                "id": "1", "title": "a\u{7}b", "status": "ingested", "created_at": "2026-01-02T03:04:05.000000Z", "pages": 12,
                "access": { "owner_email": "ada@example.org", "collection_ids": ["7", "8"] },
            }),
            json!({
                "id": "2", "title": "c", "status": "failed", "created_at": "2026-01-03T03:04:05.000000Z",
                "access": { "owner_email": null, "collection_ids": [] },
            }),
        ];
        assert_eq!(
            table(&documents, &names),
            [
                "1  ingested  2026-01-02  12 pages  ada@example.org  Legal, 8  a b",
                "2  failed    2026-01-03         -  -                -         c",
            ]
        );
    }

    #[test]
    fn consecutive_pages_are_formatted_as_ranges() {
        assert_eq!(format_pages(&[3]), "page 3");
        assert_eq!(format_pages(&[3, 4]), "pages 3 to 4");
        assert_eq!(format_pages(&[1, 3, 4, 5, 9]), "pages 1, 3 to 5, 9");
    }

    #[test]
    fn document_text_includes_failure_coverage_and_warnings() {
        let pending =
            json!({ "id": "7", "title": "a\u{7}b", "status": "pending", "coverage": null, "failure": null });
        assert_eq!(as_text(&pending), "id          7\ntitle       a b\nstatus      pending");
        let failed = json!({
            "id": "7", "title": "t", "status": "failed", "warnings": ["1 of 12 pages: no text"],
            "failure": { "code": "unreadable", "reason": "it is damaged", "advice": "upload another copy" },
            "coverage": { "pages": 12, "pages_with_text": 11, "chunks": 17, "pages_without_text": [3] },
        });
        let text = as_text(&failed);
        for line in [
            "failure     it is damaged (unreadable)",
            "what to do  upload another copy",
            "pages       12, 11 with text",
            "passages    17",
            "no text     page 3",
            "warning     1 of 12 pages: no text",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
    }
}
