//! Files that another program knows by IDs of its own.
//!
//! An ID is unique within the account that uploaded the file. A file that was uploaded for an entity, such as an agent of a chat front end,
//! can also be read on behalf of other accounts in a request that names the entity.

use crate::App;
use crate::error::Result;
use docent_domain::access::{Actor, Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_domain::fault::Fault;
use docent_domain::id::{CollectionId, DocumentId, UserId};
use docent_domain::listing::DocumentFilter;
use docent_domain::scope::Scope;
use docent_ports::store::UnitOfWork;
use std::collections::HashMap;

/// The ID of an uploaded file, and the entity that it was uploaded for.
#[derive(Clone, Debug)]
pub struct NewExternalFile {
    /// The ID.
    pub id: ExternalId,
    /// The entity, if any.
    pub entity: Option<ExternalId>,
    /// Who uploads it.
    pub actor: Actor,
}

impl NewExternalFile {
    /// The ID of the file of this document.
    pub(super) fn of_document(&self, document: DocumentId) -> ExternalFile {
        ExternalFile { document, id: self.id.clone(), entity: self.entity.clone() }
    }
}

/// A document that a request may read by its external ID.
#[derive(Clone, Debug)]
pub struct ReadableFile {
    /// The external ID.
    pub id: ExternalId,
    /// The document.
    pub document: Document,
    /// A scope that has it.
    pub scope: Scope,
}

/// The files with these IDs that the actor's account owns or that belong to the entity, in the order of the IDs. Others are left out.
///
/// # Errors
/// When the database cannot be reached.
pub async fn readable(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    ids: &[ExternalId],
    entity: Option<&ExternalId>,
) -> Result<Vec<ReadableFile>> {
    let mut found: HashMap<ExternalId, ReadableFile> = HashMap::new();
    for (file, document) in documents(app, ids).await? {
        let is_own = document.owner == Some(grant.user()) && scope.contains(&document.collections);
        let scope = if is_own {
            Some(scope.clone())
        } else if file.entity.is_some() && file.entity.as_ref() == entity {
            let collections: Vec<CollectionId> = document.collections.iter().copied().collect();
            Scope::SERVICE.within(&collections)
        } else {
            None
        };
        // The actor's own file comes before that of another account.
        if let Some(scope) = scope.filter(|_| is_own || !found.contains_key(&file.id)) {
            found.insert(file.id.clone(), ReadableFile { id: file.id, document, scope });
        }
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

/// The documents with one of these IDs that the account of the grant owns, and whether another account has a file of an entity with one.
///
/// # Errors
/// When the database cannot be reached.
pub async fn to_delete(
    app: &App,
    grant: Grant<ReadDocuments>,
    ids: &[ExternalId],
) -> Result<(HashMap<ExternalId, DocumentId>, bool)> {
    let (mut own, mut is_shared) = (HashMap::new(), false);
    for (file, document) in documents(app, ids).await? {
        if document.owner == Some(grant.user()) {
            own.insert(file.id, document.id);
        } else {
            is_shared |= file.entity.is_some() && document.owner.is_some();
        }
    }
    Ok((own, is_shared))
}

/// The files with these IDs of all accounts, with their documents.
async fn documents(app: &App, ids: &[ExternalId]) -> Result<Vec<(ExternalFile, Document)>, Fault> {
    let mut view = app.store.read_latest().await?;
    let files = view.documents().external_files(ids).await?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let filter = DocumentFilter {
        ids: Some(files.iter().map(|file| file.document).collect()),
        ..DocumentFilter::of(Scope::SERVICE.clone())
    };
    let documents = view.documents().list(&filter).await?;
    let mut documents: HashMap<DocumentId, Document> =
        documents.into_iter().map(|document| (document.id, document)).collect();
    let with_document = |file: ExternalFile| Some((documents.remove(&file.document)?, file));
    Ok(files.into_iter().filter_map(with_document).map(|(document, file)| (file, document)).collect())
}

/// The document of an account with this external ID, as of a unit of work.
pub(super) async fn of_owner(
    work: &mut dyn UnitOfWork,
    owner: UserId,
    id: &ExternalId,
) -> Result<Option<DocumentId>, Fault> {
    for file in work.documents().external_files(std::slice::from_ref(id)).await? {
        let document = work.documents().get(file.document).await?;
        if document.is_some_and(|document| document.owner == Some(owner)) {
            return Ok(Some(file.document));
        }
    }
    Ok(None)
}
