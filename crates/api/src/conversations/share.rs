//! `PUT /conversations/{id}/collections`

use super::response::ConversationResponse;
use crate::answers;
use crate::selection::{COLLECTIONS_MAX, CollectionRef};
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::conversations::sharing;
use docent_domain::access::Chat;
use docent_domain::id::{CollectionId, ConversationId};
use docent_http::extract::deserialize::List;
use docent_http::{Body, BodyErrors, Granted, PathId, Reply, State};
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// Collections that a conversation is shared with.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "collection_ids": ["00000000-0000-0000-0000-000000000001"] }))]
pub(crate) struct ConversationSharing {
    /// All collections whose readers can read it; none to end sharing. Not the personal collection.
    #[deserr(from(List<CollectionRef, COLLECTIONS_MAX>) = distinct)]
    #[schema(value_type = Vec<CollectionRef>, max_items = 100)]
    collection_ids: BTreeSet<CollectionId>,
}

fn distinct(List(ids): List<CollectionRef, COLLECTIONS_MAX>) -> BTreeSet<CollectionId> {
    ids.into_iter().map(|CollectionRef(id)| id).collect()
}

/// Share a conversation (extension)
///
/// Every account that can read one of the collections can then read the conversation, and nothing else;
/// `GET /conversations?shared=true` lists it for them. From the first answer on that cites a document that a reader cannot read, the
/// conversation is withheld from that reader. The audit log records each change.
#[utoipa::path(
    put, path = "/conversations/{id}/collections", operation_id = "share_conversation", tag = "Conversations",
    params(("id" = String, Path, description = "ID of the conversation.", format = "uuid")),
    request_body = ConversationSharing,
    responses(
        (status = 200, description = "The conversation.", body = ConversationResponse<'_>),
        answers::UnknownSharing, answers::InvalidBody, answers::StorageFull,
    ),
)]
pub(crate) async fn share(
    by: Granted<Chat>,
    context: State,
    id: PathId<ConversationId>,
    body: Body,
) -> Reply {
    let id = id.parse()?;
    let ConversationSharing { collection_ids } = body.read().await?;
    let (conversation, sharing) =
        sharing::share(&context.app, &by.actor, &by.grant, id, collection_ids).await?;
    Ok(HttpResponse::Ok().json(ConversationResponse::of(&conversation, &sharing)))
}
