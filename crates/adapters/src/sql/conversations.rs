//! Conversations in SQL.

use super::entities::conversations::{Column, Entity, selection_text};
use super::entities::messages;
use super::listing::{contains, is_after, paginate};
use super::record::Record;
use super::transaction::Transaction;
use super::values::{counted, micros};
use async_trait::async_trait;
use docent_domain::conversation::{Conversation, ConversationMessage};
use docent_domain::fault::Result;
use docent_domain::id::ConversationId;
use docent_domain::listing::{ConversationFilter, Page, PageRequest};
use docent_ports::conversations::{ConversationReader, ConversationWriter, MessageSize};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, Set};
use std::collections::HashMap;
use uuid::Uuid;

const NEWEST_FIRST: [Column; 2] = [Column::UpdatedAt, Column::Id];

#[async_trait]
impl ConversationReader for Transaction {
    async fn get(&mut self, id: ConversationId) -> Result<Option<Conversation>> {
        self.fetch_one("read a conversation", Entity::find_by_id(id.as_uuid())).await
    }

    async fn list(
        &mut self,
        filter: &ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<(Conversation, u64)>> {
        let rows = Entity::find()
            .apply_if(filter.owner, |rows, owner| rows.filter(Column::OwnerId.eq(owner.as_uuid())))
            .apply_if(filter.text.as_deref(), |rows, text| {
                rows.filter(contains(Expr::col(Column::Title), text, self.backend()))
            })
            .apply_if(filter.after, |rows, after| {
                rows.filter(is_after(NEWEST_FIRST, after.updated_at, after.id.as_uuid()))
            });
        let listed: Page<Conversation> =
            self.list_newest("list conversations", rows, NEWEST_FIRST, page).await?;
        let ids = listed.records.iter().map(|conversation| conversation.id.as_uuid());
        let sizes = messages::Entity::find()
            .select_only()
            .column(messages::Column::ConversationId)
            .column_as(messages::Column::Id.count(), "messages")
            .filter(messages::Column::ConversationId.is_in(ids))
            .group_by(messages::Column::ConversationId)
            .into_tuple::<(Uuid, i64)>();
        let sizes = self.run("count messages", |db| Box::pin(sizes.all(db))).await?;
        let sizes: HashMap<Uuid, i64> = sizes.into_iter().collect();
        let sized = |conversation: Conversation| {
            let size = sizes.get(&conversation.id.as_uuid()).copied().unwrap_or(0);
            Ok((conversation, counted(size, "count of messages")?))
        };
        Ok(Page {
            records: listed.records.into_iter().map(sized).collect::<Result<_>>()?,
            total: listed.total,
        })
    }

    async fn message_sizes(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<MessageSize>> {
        let rows = messages::Entity::find().filter(messages::Column::ConversationId.eq(id.as_uuid()));
        let total = self.count_rows("count messages", rows.clone()).await?;
        let bytes =
            |column: &str| Expr::cust(format!("CAST(OCTET_LENGTH(CAST(\"{column}\" AS TEXT)) AS BIGINT)"));
        let sizes = rows
            .select_only()
            .expr_as(bytes("content"), "text_bytes")
            .expr_as(bytes("sources"), "source_bytes")
            .order_by_asc(messages::Column::Ordinal);
        let sizes = paginate(sizes, page).into_tuple::<(i64, i64)>();
        let sizes = self.run("read sizes of messages", |db| Box::pin(sizes.all(db))).await?;
        let size = |(text, sources)| {
            Ok(MessageSize {
                text: counted(text, "message's size")?,
                sources: counted(sources, "message's size")?,
            })
        };
        Ok(Page { records: sizes.into_iter().map(size).collect::<Result<_>>()?, total })
    }

    async fn messages(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<ConversationMessage>> {
        let rows = messages::Entity::find().filter(messages::Column::ConversationId.eq(id.as_uuid()));
        let order = |rows: Select<messages::Entity>| rows.order_by_asc(messages::Column::Ordinal);
        self.listed("read messages", rows, order, page, Record::from_row).await
    }
}

#[async_trait]
impl ConversationWriter for Transaction {
    async fn insert(&mut self, conversation: &Conversation) -> Result<bool> {
        self.insert_new("add a conversation", conversation, OnConflict::column(Column::Id)).await
    }

    async fn update(&mut self, conversation: &Conversation) -> Result<bool> {
        let update = Entity::update_many()
            .col_expr(Column::Title, Expr::val(conversation.title.as_str()))
            .col_expr(Column::Selection, Expr::val(selection_text(&conversation.selection)))
            .col_expr(Column::UpdatedAt, Expr::val(micros(conversation.updated_at)))
            .filter(Column::Id.eq(conversation.id.as_uuid()));
        Ok(self.update_rows("change a conversation", update).await? > 0)
    }

    async fn delete(&mut self, id: ConversationId) -> Result<bool> {
        self.delete_by_id::<Entity>("remove a conversation", id.as_uuid()).await
    }

    async fn append(&mut self, added: &[ConversationMessage]) -> Result<u32> {
        let Some(conversation) = added.first().map(|message| message.conversation) else { return Ok(0) };
        // Locks the conversation, so that concurrent appends get different ordinals.
        ConversationReader::get(self, conversation).await?;
        let last = messages::Entity::find()
            .filter(messages::Column::ConversationId.eq(conversation.as_uuid()))
            .order_by_desc(messages::Column::Ordinal);
        let last = paginate(last, PageRequest { offset: 0, limit: 1 })
            .select_only()
            .column(messages::Column::Ordinal)
            .into_tuple::<i64>();
        let last = self.run("read the last message", |db| Box::pin(last.one(db))).await?;
        let first = last.map_or(0, |last| last + 1);
        let rows = added.iter().zip(first..).map(|(message, ordinal)| {
            Ok(messages::ActiveModel { ordinal: Set(ordinal), ..message.to_row()? })
        });
        let insert = messages::Entity::insert_many(rows.collect::<Result<Vec<_>>>()?);
        self.insert_many_rows("add messages", insert).await?;
        counted(first, "message's place")
    }
}
