//! Shared conversations in SQL: with which collections they are shared, and what their readers can see.

use super::conditions;
use super::entities::conversation_collections::{Column, Entity};
use super::entities::{conversations, documents, messages};
use super::transaction::Transaction;
use docent_domain::fault::Result;
use docent_domain::id::{CollectionId, ConversationId};
use docent_domain::listing::SharedConversations;
use docent_domain::scope::Scope;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query, SelectStatement};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Set};
use std::collections::{BTreeSet, HashMap};

/// Name of the messages in the subqueries of this module.
const ANSWERS: &str = "answers";

impl Transaction {
    pub(super) async fn collections_of_conversations(
        &mut self,
        ids: &[ConversationId],
    ) -> Result<HashMap<ConversationId, BTreeSet<CollectionId>>> {
        let rows = Entity::find().filter(Column::ConversationId.is_in(ids.iter().map(|id| id.as_uuid())));
        let rows = self.run("read with whom conversations are shared", |db| Box::pin(rows.all(db))).await?;
        let mut shared: HashMap<_, BTreeSet<_>> = HashMap::new();
        for row in rows {
            let collections = shared.entry(ConversationId::from_uuid(row.conversation_id)).or_default();
            collections.insert(CollectionId::from_uuid(row.collection_id));
        }
        Ok(shared)
    }

    pub(super) async fn set_collections_of_conversation(
        &mut self,
        id: ConversationId,
        collections: &BTreeSet<CollectionId>,
    ) -> Result<()> {
        let doing = "share a conversation";
        let delete = Entity::delete_many().filter(Column::ConversationId.eq(id.as_uuid()));
        self.delete_rows(doing, delete).await?;
        let rows =
            collections.iter().map(|collection| super::entities::conversation_collections::ActiveModel {
                conversation_id: Set(id.as_uuid()),
                collection_id: Set(collection.as_uuid()),
            });
        self.insert_many_rows(doing, Entity::insert_many(rows)).await
    }

    pub(super) async fn first_unreadable_answer(
        &mut self,
        id: ConversationId,
        scope: &Scope,
    ) -> Result<Option<i64>> {
        let answers = messages::Entity::find()
            .select_only()
            .column_as(messages::Column::Ordinal.min(), "ordinal")
            .filter(messages::Column::ConversationId.eq(id.as_uuid()))
            .filter(messages::Column::Id.in_subquery(unreadable(scope, self.backend(), |answers| {
                answers.and_where(of_answers(messages::Column::ConversationId).eq(id.as_uuid()));
            })))
            .into_tuple::<Option<i64>>();
        let found = self.run("check what readers can see", |db| Box::pin(answers.one(db))).await?;
        Ok(found.flatten())
    }
}

/// Whether a conversation is shared with the reader.
pub(super) fn is_shared(SharedConversations { reader, scope }: &SharedConversations) -> Expr {
    let ids = Entity::find()
        .select_only()
        .column(Column::ConversationId)
        .apply_if(scope.collections(), |rows, readable| {
            rows.filter(conditions::is_of_readable((Entity, Column::CollectionId), readable))
        })
        .into_query();
    conversations::Column::OwnerId
        .ne(reader.as_uuid())
        .and(Expr::col((conversations::Entity, conversations::Column::Id)).in_subquery(ids))
}

/// Whether a reader with this scope can see a message.
pub(super) fn is_visible(scope: &Scope, backend: DbBackend) -> Expr {
    let of_message = |column| Expr::col((messages::Entity, column));
    let withheld = unreadable(scope, backend, |answers| {
        answers
            .and_where(
                of_answers(messages::Column::ConversationId)
                    .equals((messages::Entity, messages::Column::ConversationId)),
            )
            // The question of an answer is withheld with it.
            .and_where(
                of_answers(messages::Column::Ordinal).lte(of_message(messages::Column::Ordinal).add(1)),
            );
    });
    of_message(messages::Column::ReplacedAt).is_null().and(Expr::exists(withheld).not())
}

fn of_answers(column: messages::Column) -> Expr {
    Expr::col((ANSWERS, column))
}

/// Selects the IDs of answers, without replaced ones, that cite a document outside the scope or a deleted one.
fn unreadable(
    scope: &Scope,
    backend: DbBackend,
    limit: impl FnOnce(&mut SelectStatement),
) -> SelectStatement {
    let (elements, document) = match backend {
        DbBackend::Sqlite => ("json_each", "unhex(json_extract(\"source\".\"value\", '$.document'), '-')"),
        _ => ("jsonb_array_elements", "(\"source\".\"value\" ->> 'document')::uuid"),
    };
    let live = documents::Entity::find().filter(documents::Column::DeletedAt.is_null());
    let readable = conditions::in_scope(live, scope)
        .select_only()
        .column(documents::Column::Id)
        .filter(Expr::col((documents::Entity, documents::Column::Id)).eq(Expr::cust(document)))
        .into_query();
    let source = Query::select()
        .expr(Expr::val(1))
        .from_function(Func::cust(elements).arg(of_answers(messages::Column::Sources)), "source")
        .and_where(Expr::exists(readable).not())
        .take();
    let mut answers = Query::select()
        .expr(of_answers(messages::Column::Id))
        .from_as(messages::Entity, ANSWERS)
        .and_where(of_answers(messages::Column::Agent).is_not_null())
        .and_where(of_answers(messages::Column::ReplacedAt).is_null())
        .and_where(Expr::exists(source))
        .take();
    limit(&mut answers);
    answers
}
