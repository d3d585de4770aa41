//! Quotes in answers that were given earlier: passages are returned without their text when the account can no longer
//! read the document.

use crate::App;
use crate::error::Result;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use std::collections::HashSet;

/// Which of these documents exist and are in the scope.
///
/// # Errors
/// When the database cannot be reached.
pub async fn readable(app: &App, scope: &Scope, documents: &[DocumentId]) -> Result<HashSet<DocumentId>> {
    Ok(app.store.read_latest().await?.documents().readable(documents, scope).await?)
}

/// Removes the text of each passage whose document was deleted or is not in the scope. Returns these documents.
///
/// # Errors
/// When the database cannot be reached. The passages must not be shown then.
pub async fn withhold(
    app: &App,
    scope: &Scope,
    passages: Vec<&mut ScoredChunk>,
) -> Result<HashSet<DocumentId>> {
    let mut withheld: HashSet<DocumentId> = passages.iter().map(|passage| passage.document_id).collect();
    if withheld.is_empty() {
        return Ok(withheld);
    }
    let documents: Vec<DocumentId> = withheld.iter().copied().collect();
    let readable = readable(app, scope, &documents).await?;
    withheld.retain(|document| !readable.contains(document));
    for passage in passages {
        if withheld.contains(&passage.document_id) {
            passage.text.clear();
        }
    }
    Ok(withheld)
}
