//! Changes the collections and attributes of a document.

use crate::audit::{AuditTarget, Changes, Initiator};
use crate::collections::not_found;
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, AddDocuments, ChangeDocuments, ViewDocuments};
use docent_domain::attributes::{AttributeValue, Attributes};
use docent_domain::audit::AuditAction;
use docent_domain::collection::{COLLECTIONS_OF_DOCUMENT_MAX, CollectionRole};
use docent_domain::document::{Document, DocumentState};
use docent_domain::error::{Rule, ValidationError};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_ports::store::UnitOfWork;
use std::collections::BTreeSet;

/// What to change; everything else stays.
#[derive(Clone, Debug, Default)]
pub struct LabelChange {
    /// Collections that the document is to be in.
    pub collections: Option<CollectionsChange>,
    /// All attributes that it is to have.
    pub attributes: Option<Attributes>,
}

/// How the collections of a document change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectionsChange {
    /// To these, and to those that the actor cannot see.
    Set(BTreeSet<CollectionId>),
    /// It is added to a collection.
    Add(CollectionId),
    /// It is taken out of a collection.
    Remove(CollectionId),
}

impl CollectionsChange {
    /// The collections after the change by an actor.
    pub(super) fn apply(&self, actor: &Actor, scope: &Scope, document: &Document) -> BTreeSet<CollectionId> {
        let mut collections = document.collections.clone();
        match self {
            Self::Set(ids) => {
                // Collections that the actor cannot see stay as they are.
                let is_staff = can_change_all(actor);
                collections.retain(|id| scope.role_in(*id).is_none() && (!is_staff || !actor.can_use(*id)));
                collections.extend(ids);
            }
            Self::Add(id) => drop(collections.insert(*id)),
            Self::Remove(id) => drop(collections.remove(id)),
        }
        collections
    }
}

/// Changes collections and attributes. Requires the right to change the document; to add it to a collection also the role
/// of a contributor there. Managers can take any document out of their collection.
///
/// Searches leave out what left a collection at once, and find what joined one as soon as the index has the change.
///
/// # Errors
/// [`Error::NotFound`] for a document or a collection outside the actor's scope; [`Error::Forbidden`]; [`Error::Invalid`] if
/// the document would be in no or too many collections; or when the database cannot be reached.
pub async fn label(app: &App, actor: &Actor, id: DocumentId, change: LabelChange) -> Result<Document> {
    let mut work = app.store.begin().await?;
    let before = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let document = label_in(app, &mut *work, (actor, &scope), before.clone(), change).await?;
    if document == before {
        return Ok(document);
    }
    work.commit().await?;
    notify(app, &document);
    Ok(document)
}

/// Lets the background task write the changed labels of a document to the index.
pub(super) fn notify(app: &App, document: &Document) {
    if matches!(document.state, DocumentState::Ingested(_)) {
        app.process.new_labels.notify_one();
    }
}

/// Like [`label`], in a unit of work that read the document. Returns the document as it is then.
pub(super) async fn label_in(
    app: &App,
    work: &mut dyn UnitOfWork,
    (actor, scope): (&Actor, &Scope),
    document: Document,
    change: LabelChange,
) -> Result<Document> {
    let mut known = BTreeSet::new();
    if let Some(change) = &change.collections {
        for id in change.apply(actor, scope, &document).difference(&document.collections) {
            known.extend(work.collections().get(*id).await?.map(|collection| collection.id));
        }
    }
    label_known(app, work, (actor, scope), document, change, &known).await
}

/// Like [`label_in`], if it is known which of the collections exist that the document is added to.
pub(super) async fn label_known(
    app: &App,
    work: &mut dyn UnitOfWork,
    (actor, scope): (&Actor, &Scope),
    document: Document,
    change: LabelChange,
    known: &BTreeSet<CollectionId>,
) -> Result<Document> {
    let collections = match change.collections {
        Some(change) => change.apply(actor, scope, &document),
        None => document.collections.clone(),
    };
    let attributes = change.attributes.unwrap_or_else(|| document.attributes.clone());
    check(actor, scope, &document, (&collections, &attributes), |id| known.contains(&id))?;
    if collections == document.collections && attributes == document.attributes {
        return Ok(document);
    }
    let changes = Changes::default()
        .changed("collections", ids(&document.collections), ids(&collections))
        .changed("attributes", text(&document.attributes), text(&attributes));
    let document = document.labelled(collections, attributes, app.now());
    work.documents().update(&document).await?;
    let (initiator, target) = (Initiator::actor(actor), AuditTarget::document(&document));
    app.audit(work, &initiator, AuditAction::Change, target, changes).await?;
    Ok(document)
}

/// Whether the actor's permissions let it see and change all documents.
fn can_change_all(actor: &Actor) -> bool {
    actor.authorize::<ChangeDocuments>().is_ok() && actor.authorize::<ViewDocuments>().is_ok()
}

/// Checks that the actor may give a document these collections and attributes. `exists` tells whether a collection does.
pub(super) fn check(
    actor: &Actor,
    scope: &Scope,
    document: &Document,
    (collections, attributes): (&BTreeSet<CollectionId>, &Attributes),
    exists: impl Fn(CollectionId) -> bool,
) -> Result<()> {
    let change = scope::authorize::<ChangeDocuments>(actor, scope, document);
    let is_staff = can_change_all(actor);
    let role = |id: &CollectionId| scope.role_in(*id);
    let added: Vec<_> = collections.difference(&document.collections).collect();
    let manages_removed =
        document.collections.difference(collections).all(|id| role(id) == Some(CollectionRole::Manager));
    if let Err(error) = change {
        // A manager of only some of its collections.
        let only_removes =
            added.is_empty() && collections != &document.collections && *attributes == document.attributes;
        let can_write = actor.authorize::<AddDocuments>().is_ok();
        if !only_removes || !manages_removed || !can_write || scope.rights_on(document).is_none() {
            return Err(error);
        }
    }
    for id in added {
        match role(id) {
            Some(role) if role >= CollectionRole::Contributor && exists(*id) => {}
            // It was deleted since the scope was read.
            Some(role) if role >= CollectionRole::Contributor => return Err(not_found()),
            _ if is_staff && actor.can_use(*id) && exists(*id) => {}
            _ if is_staff && actor.can_use(*id) => return Err(not_found()),
            Some(_) => return Err(Error::Forbidden),
            None => return Err(not_found()),
        }
    }
    if collections.is_empty() {
        return Err(ValidationError::of("collection_ids", Rule::InSomeCollection).into());
    }
    if collections.len() > COLLECTIONS_OF_DOCUMENT_MAX {
        return Err(ValidationError::of("collection_ids", Rule::MaxCount(COLLECTIONS_OF_DOCUMENT_MAX)).into());
    }
    Ok(())
}

/// The IDs, separated by commas.
pub(crate) fn ids(collections: &BTreeSet<CollectionId>) -> String {
    collections.iter().map(CollectionId::to_string).collect::<Vec<_>>().join(", ")
}

fn text(attributes: &Attributes) -> String {
    let value = |value: &AttributeValue| match value {
        AttributeValue::String(text) => text.clone(),
        AttributeValue::Number(number) => number.to_string(),
        AttributeValue::Boolean(is_true) => is_true.to_string(),
    };
    let pairs: Vec<_> =
        attributes.iter().map(|(key, of)| format!("{}: {}", key.as_str(), value(of))).collect();
    pairs.join(", ")
}
