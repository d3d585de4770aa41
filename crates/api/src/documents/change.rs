//! `PATCH /documents/{doc_id}`

use super::response::DocumentResponse;
use crate::answers;
use crate::selection::{COLLECTIONS_MAX, CollectionRef, collections_of, parse_attributes};
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::documents::label::{self as use_case, CollectionsChange, LabelChange};
use docent_domain::attributes::Attributes;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, DocumentId};
use docent_http::extract::deserialize::List;
use docent_http::{Bearer, Body, BodyErrors, PathId, Reply, State};
use serde_json::Value;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Changes to a document. Fields that are missing or `null` stay unchanged.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "attributes": { "year": 2025, "department": "Sales" } }))]
pub(crate) struct DocumentChange {
    /// All collections that the document is to be in. Those that the account cannot see stay as they are.
    #[deserr(default, from(Option<List<CollectionRef, COLLECTIONS_MAX>>) = collections_of)]
    #[schema(value_type = Option<Vec<CollectionRef>>, max_items = 100)]
    collection_ids: Option<BTreeSet<CollectionId>>,
    /// All attributes that it is to have: at most 16, with strings of at most 512 characters, numbers and booleans as values.
    #[deserr(default, try_from(Option<Value>) = parse_attributes -> ValidationError)]
    #[schema(value_type = Option<Object>)]
    attributes: Option<Attributes>,
}

/// Change collections and attributes of a document (extension)
///
/// Allowed for the uploader as a contributor to one of its collections, managers of all of its collections, accounts with
/// `documents.change_document` and superusers. Adding the document to a collection requires the role of a contributor there; a manager
/// can take any document out of the collection. The report of the document shows both.
#[utoipa::path(
    patch, path = "/documents/{doc_id}", operation_id = "change_document", tag = "Documents",
    params(("doc_id" = String, Path, description = "ID of the document.", format = "uuid")),
    request_body = DocumentChange,
    responses(
        (status = 200, description = "The document.", body = DocumentResponse<'_>),
        answers::UnknownDocument, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn change(
    Bearer(actor): Bearer,
    context: State,
    id: PathId<DocumentId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let DocumentChange { collection_ids, attributes } = body.read().await?;
    let change = LabelChange { collections: collection_ids.map(CollectionsChange::Set), attributes };
    let document = use_case::label(&context.app, &actor, id, change).await?;
    Ok(HttpResponse::Ok().json(DocumentResponse::from(&document)))
}
