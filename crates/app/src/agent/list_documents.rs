//! The tool `list_documents`.

use super::tool::{Tool, ToolResult};
use crate::error::Result;
use crate::{App, documents, scope};
use async_trait::async_trait;
use docent_domain::access::{Actor, ReadDocuments};
use docent_domain::chat::ToolSpec;
use docent_domain::document::Document;
use docent_domain::listing::DocumentFilter;
use docent_domain::selection::Selection;

/// Maximum number of documents in a list.
const LISTED: usize = 50;
/// The list if none of the selected documents is ingested.
const NONE_SELECTED: &str = "- None of the selected documents is ready.";
const SPEC: ToolSpec = ToolSpec {
    name: "list_documents",
    description: "List the documents that can be searched, newest first.",
    parameters: r#"{"type":"object","properties":{}}"#,
};

/// Lists the ingested documents of the actor's scope and the selection, one per line. The output is empty if there
/// are none at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListDocuments;

#[async_trait]
impl Tool for ListDocuments {
    fn spec(&self) -> ToolSpec {
        SPEC
    }

    async fn run(
        &self,
        app: &App,
        actor: &Actor,
        selection: &Selection,
        _arguments: &serde_json::Value,
    ) -> ToolResult {
        match list(app, actor, selection).await {
            Ok(documents) if documents.is_empty() && *selection != Selection::default() => {
                ToolResult::text(NONE_SELECTED)
            }
            Ok(documents) => ToolResult::text(lines(&documents)),
            Err(error) => {
                tracing::warn!(error = %docent_domain::fault::report(&error), "list_documents failed");
                if let crate::Error::Fault(fault) = &error {
                    app.note(fault);
                }
                ToolResult::text("Error searching documents: the list of documents cannot be read.")
            }
        }
    }
}

/// One document more than are listed, if there are more.
async fn list(app: &App, actor: &Actor, selection: &Selection) -> Result<Vec<Document>> {
    let grant = actor.authorize::<ReadDocuments>()?;
    let scope = scope::select(&scope::of(app, actor).await?, selection)?;
    let filter = DocumentFilter {
        condition: selection.condition.clone(),
        status: Some("ingested"),
        // Selected documents may be anywhere in the list.
        limit: selection.documents.is_none().then_some(LISTED as u64 + 1),
        ..DocumentFilter::of(scope)
    };
    let mut documents = documents::list::list(app, grant, &filter).await?;
    if let Some(selected) = &selection.documents {
        documents.retain(|document| selected.contains(&document.id));
    }
    Ok(documents)
}

fn lines(documents: &[Document]) -> String {
    let line = |document: &Document| {
        let pages = document.coverage.as_ref().map_or(0, |coverage| coverage.pages);
        let unit = if pages == 1 { "page" } else { "pages" };
        format!("- {} ({pages} {unit})", document.title.as_str())
    };
    let mut lines: Vec<String> = documents.iter().take(LISTED).map(line).collect();
    if documents.len() > LISTED {
        lines.push("- …".to_owned());
    }
    lines.join("\n")
}
