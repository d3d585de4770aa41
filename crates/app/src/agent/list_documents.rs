//! The tool `list_documents`.

use super::AgentRequest;
use super::tool::{Tool, ToolResult};
use crate::documents::summary::{self, SummarizedDocument};
use crate::error::Result;
use crate::{App, documents, scope};
use async_trait::async_trait;
use docent_domain::access::{Actor, Grant, ReadDocuments};
use docent_domain::chat::ToolSpec;
use docent_domain::document::Document;
use docent_domain::listing::DocumentFilter;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use std::collections::HashSet;

/// Maximum number of documents in a list.
const LISTED: usize = 50;
/// Maximum number of words of a title that are looked for.
const NAME_WORDS: usize = 6;
/// Maximum number of titles of documents that failed, of those that are being processed, and of those with unread pictures.
const NOT_SEARCHED: usize = 5;
/// Maximum number of pages that are listed of a document with unread pictures.
const UNREAD_PAGES: usize = 8;
/// The list if none of the selected documents is ingested.
const NONE_SELECTED: &str = "- None of the selected documents is ready.";
/// The output if no title has the words that were given.
const NONE_NAMED: &str = "No document has this title.";
pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list_documents",
    description: "List the documents that can be searched, newest first, then titles of others: `! title` failed, `~ title` is still \
        being processed, `% title: 4, 7` has pictures on these pages whose text was not read. With a name, list those whose title has its words; if only one document is left, its summary follows: lines \
        of `> page sentence` and `# page heading`.",
    parameters: r#"{"type":"object","properties":{"name":{"type":"string","description":"Words of a title. Empty for any."}}}"#,
};

/// Lists the documents of the actor's scope and the selection, one per line. The output is empty if there are none at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListDocuments;

#[async_trait]
impl Tool for ListDocuments {
    fn spec(&self) -> ToolSpec {
        SPEC
    }

    async fn run(&self, app: &App, request: &AgentRequest, arguments: &serde_json::Value) -> ToolResult {
        let name = arguments.get("name").and_then(serde_json::Value::as_str);
        match list(app, &request.actor, &request.selection, name).await {
            Ok(result) => result,
            Err(error) => {
                tracing::warn!(error = %docent_domain::fault::report(&error), "list_documents failed");
                app.note_error(&error);
                ToolResult::error("Error searching documents: the list of documents cannot be read.")
            }
        }
    }
}

async fn list(app: &App, actor: &Actor, selection: &Selection, name: Option<&str>) -> Result<ToolResult> {
    let grant = actor.authorize::<ReadDocuments>()?;
    let (scope, condition) = scope::select(&scope::load(app, actor).await?, selection)?;
    let filter = DocumentFilter {
        ids: selection.documents.clone(),
        condition,
        status: Some("ingested"),
        // One more than are listed, if there are more.
        limit: Some(LISTED as u64 + 1),
        ..DocumentFilter::of(scope.clone())
    };
    let all = documents::list::list(app, grant, &filter).await?;
    let others = match name {
        Some(_) if !all.is_empty() => Vec::new(),
        _ => {
            let others = not_searched(app, grant, &filter).await?;
            others.into_iter().chain(unread_pictures(&all)).collect()
        }
    };
    if all.is_empty() && others.is_empty() {
        let is_selected = *selection != Selection::default();
        return Ok(ToolResult::text(if is_selected { NONE_SELECTED } else { "" }));
    }
    let whole = name.map(words).unwrap_or_default();
    let wanted = &whole[..whole.len().min(NAME_WORDS)];
    let mut documents = match wanted {
        [] => all,
        words if all.len() > LISTED => {
            let mut titled: Vec<Document> = Vec::new();
            for word in words {
                let filter = DocumentFilter { title_contains: Some(word.clone()), ..filter.clone() };
                let more = documents::list::list(app, grant, &filter).await?;
                titled.extend(
                    more.into_iter()
                        .filter(|it| titled.iter().all(|known| known.id != it.id))
                        .collect::<Vec<_>>(),
                );
            }
            named(titled, words)
        }
        words => named(all, words),
    };
    // A title that is the beginning of another is meant itself.
    if documents.iter().any(|document| words(document.title.as_str()) == whole) {
        documents.retain(|document| words(document.title.as_str()) == whole);
    }
    match (documents.len(), name) {
        (0, Some(_)) if others.is_empty() => Ok(ToolResult::text(NONE_NAMED)),
        (1, Some(_)) => summarize(app, grant, &scope, documents.remove(0)).await,
        _ => Ok(ToolResult::text(lines(&documents).chain(others).collect::<Vec<_>>().join("\n"))),
    }
}

/// The lines of documents that cannot be searched, newest first.
async fn not_searched(
    app: &App,
    grant: Grant<ReadDocuments>,
    ingested: &DocumentFilter,
) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for (status, mark) in [("failed", '!'), ("pending", '~')] {
        let limit = Some(NOT_SEARCHED as u64 + 1);
        let filter = DocumentFilter { status: Some(status), limit, ..ingested.clone() };
        let documents = documents::list::list(app, grant, &filter).await?;
        let titles = documents.iter().map(|document| document.title.as_str()).take(NOT_SEARCHED);
        let more = (documents.len() > NOT_SEARCHED).then_some("…");
        lines.extend(titles.chain(more).map(|title| format!("{mark} {title}")));
    }
    Ok(lines)
}

/// The lines of documents with pictures that were not read.
fn unread_pictures(documents: &[Document]) -> impl Iterator<Item = String> {
    let line = |document: &Document| {
        let pages = &document.coverage.as_ref()?.unread_picture_pages;
        let mut shown: Vec<String> = pages.iter().take(UNREAD_PAGES).map(u32::to_string).collect();
        shown.extend((pages.len() > UNREAD_PAGES).then(|| "…".to_owned()));
        (!pages.is_empty()).then(|| format!("% {}: {}", document.title.as_str(), shown.join(", ")))
    };
    documents.iter().filter_map(line).take(NOT_SEARCHED)
}

/// The documents whose titles or file names have most of these words: at least half of them.
fn named(documents: Vec<Document>, wanted: &[String]) -> Vec<Document> {
    let count = |document: &Document| {
        let file = document.file.as_ref().map_or("", |file| file.name.as_str());
        let name: HashSet<String> = words(document.title.as_str()).into_iter().chain(words(file)).collect();
        wanted.iter().filter(|word| name.contains(*word)).count()
    };
    let counted: Vec<(usize, Document)> = documents.into_iter().map(|it| (count(&it), it)).collect();
    let most = counted.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let is_named = most > 0 && most * 2 >= wanted.len();
    counted
        .into_iter()
        .filter(|(count, _)| is_named && *count == most)
        .map(|(_, document)| document)
        .collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| word != "pdf").collect()
}

/// The line of a document and the lines of its summary.
async fn summarize(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    document: Document,
) -> Result<ToolResult> {
    let summarized = summary::without_model(app, grant, scope, document).await?;
    let passages = summary::passages(app, scope, &summarized).await?;
    let SummarizedDocument { document, summary } = summarized;
    let mut content: String = lines(std::slice::from_ref(&document)).collect();
    let described = summary.description.iter().filter_map(|it| Some((it.place?.page, &it.text)));
    for (page, text) in described.chain(summary.points.iter().map(|point| (point.place.page, &point.text))) {
        content.push_str(&format!("\n> {page} {text}"));
    }
    for heading in &summary.headings {
        let page = heading.page.map_or_else(|| "-".to_owned(), |page| page.to_string());
        content.push_str(&format!("\n# {page} {}", heading.title));
    }
    Ok(ToolResult { content, passages, ..ToolResult::default() })
}

fn lines(documents: &[Document]) -> impl Iterator<Item = String> {
    let line = |document: &Document| {
        let pages = document.coverage.as_ref().map_or(0, |coverage| coverage.pages);
        let unit = if pages == 1 { "page" } else { "pages" };
        format!("- {} ({pages} {unit})", document.title.as_str())
    };
    let more = (documents.len() > LISTED).then(|| "- …".to_owned());
    documents.iter().take(LISTED).map(line).chain(more)
}
