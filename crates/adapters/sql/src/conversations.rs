//! Conversations in SQL.

use super::entities::conversations::{Column, Entity, selection_text};
use super::entities::messages::{self, FeedbackColumns};
use super::entities::responses;
use super::fault::corrupt;
use super::listing::{contains, is_after, paginate};
use super::record::Record;
use super::shared_conversations::{is_shared, is_visible};
use super::transaction::Transaction;
use super::values::{counted, micros};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::conversation::{Conversation, ConversationMessage};
use docent_domain::fault::Result;
use docent_domain::feedback::Feedback;
use docent_domain::id::{CollectionId, ConversationId, MessageId, ResponseId, UserId};
use docent_domain::listing::{AnswerFilter, AnswerKind, ConversationFilter, Page, PageRequest};
use docent_domain::scope::Scope;
use docent_domain::stored_response::StoredResponse;
use docent_ports::conversations::{ConversationReader, ConversationWriter, ListedAnswer, MessageSize};
use sea_orm::sea_query::{Condition, Expr, OnConflict};
use sea_orm::{
    ColumnTrait, EntityTrait, Iterable, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, Set,
};
use std::collections::{BTreeSet, HashMap};
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
            .apply_if(filter.is_pinned, |rows, is_pinned| rows.filter(Column::IsPinned.eq(is_pinned)))
            .apply_if(filter.limited_key, |rows, key| rows.filter(Column::LimitedKeyId.eq(key.as_uuid())))
            .apply_if(filter.shared.as_ref(), |rows, shared| rows.filter(is_shared(shared)))
            .apply_if(filter.text.as_deref(), |rows, text| {
                let in_title = contains(Expr::col(Column::Title), text, self.backend());
                let in_messages = filter.includes_messages.then(|| self.with_text(filter, text));
                rows.filter(Condition::any().add(in_title).add_option(in_messages))
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
        let bytes = |texts: &str| Expr::cust(format!("CAST(OCTET_LENGTH({texts}) AS BIGINT)"));
        let sizes = rows
            .select_only()
            .expr_as(bytes("\"content\" || COALESCE(\"feedback_comment\", '')"), "text_bytes")
            .expr_as(bytes("CAST(\"sources\" AS TEXT)"), "source_bytes")
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

    async fn answer_ordinal(&mut self, id: ConversationId, answer: MessageId) -> Result<Option<u32>> {
        use messages::Column;
        let found = messages::Entity::find()
            .select_only()
            .column(Column::Ordinal)
            .filter(Column::Id.eq(answer.as_uuid()))
            .filter(Column::ConversationId.eq(id.as_uuid()))
            .filter(Column::Agent.is_not_null())
            .filter(Column::ReplacedAt.is_null())
            .into_tuple::<i64>();
        let found = self.run("read the place of an answer", |db| Box::pin(found.one(db))).await?;
        found.map(|ordinal| counted(ordinal, "message's place")).transpose()
    }

    async fn shared_with(
        &mut self,
        ids: &[ConversationId],
    ) -> Result<HashMap<ConversationId, BTreeSet<CollectionId>>> {
        self.collections_of_conversations(ids).await
    }

    async fn first_unreadable(&mut self, id: ConversationId, scope: &Scope) -> Result<Option<u32>> {
        let ordinal = self.first_unreadable_answer(id, scope).await?;
        ordinal.map(|ordinal| counted(ordinal, "message's place")).transpose()
    }

    async fn answers(
        &mut self,
        filter: &AnswerFilter,
        question_max: u32,
        page: PageRequest,
    ) -> Result<Page<ListedAnswer>> {
        use messages::Column;
        // A condition without alternatives would be met by all messages.
        if filter.kinds.is_empty() {
            return Ok(Page::default());
        }
        let kinds = filter.kinds.iter().map(|kind| match kind {
            AnswerKind::RatedUp => Column::Rating.eq("up"),
            AnswerKind::RatedDown => Column::Rating.eq("down"),
            AnswerKind::Declined => Column::IsDeclined.eq(true),
            AnswerKind::ScoredBelow(score) => Column::BestScore.lt(*score),
        });
        let rows = messages::Entity::find()
            .filter(kinds.fold(Condition::any(), Condition::add))
            .apply_if(filter.period.from, |rows, from| rows.filter(Column::CreatedAt.gte(micros(from))))
            .apply_if(filter.period.to, |rows, to| rows.filter(Column::CreatedAt.lt(micros(to))));
        let without_text = |rows: Select<messages::Entity>| {
            let columns = Column::iter().filter(|column| !matches!(column, Column::Content));
            rows.select_only()
                .columns(columns)
                .expr_as(Expr::val(""), "content")
                .order_by_desc(Column::CreatedAt)
                .order_by_desc(Column::Id)
        };
        let Page { records: answers, total }: Page<ConversationMessage> =
            self.listed("list answers", rows, without_text, page, Record::from_row).await?;
        let owners = self.owners(&answers).await?;
        let mut questions = self.questions(&answers, question_max).await?;
        let listed = |answer: ConversationMessage| {
            let (conversation, ordinal) = (answer.conversation.as_uuid(), i64::from(answer.ordinal));
            let owner = *owners.get(&conversation).ok_or_else(|| corrupt("conversation of a message"))?;
            let question = questions.remove(&(conversation, ordinal - 1)).unwrap_or_default();
            Ok(ListedAnswer { answer, owner, question })
        };
        Ok(Page { records: answers.into_iter().map(listed).collect::<Result<_>>()?, total })
    }

    async fn response(&mut self, id: ResponseId) -> Result<Option<StoredResponse>> {
        self.fetch_one("read a response", responses::Entity::find_by_id(id.as_uuid())).await
    }
}

impl Transaction {
    /// Selects conversations with a message that contains this text and that the reader can see.
    fn with_text(&self, filter: &ConversationFilter, text: &str) -> Expr {
        let those = |which: Expr| {
            let ids = Entity::find().select_only().column(Column::Id).filter(which).into_query();
            messages::Column::ConversationId.in_subquery(ids)
        };
        let messages = messages::Entity::find()
            .select_only()
            .column(messages::Column::ConversationId)
            .apply_if(filter.owner, |rows, owner| rows.filter(those(Column::OwnerId.eq(owner.as_uuid()))))
            .apply_if(filter.shared.as_ref(), |rows, shared| {
                rows.filter(those(is_shared(shared))).filter(is_visible(&shared.scope, self.backend()))
            })
            .filter(contains(Expr::col(messages::Column::Content), text, self.backend()));
        Column::Id.in_subquery(messages.into_query())
    }

    /// Returns the owners of the conversations of these messages.
    async fn owners(&mut self, of: &[ConversationMessage]) -> Result<HashMap<Uuid, UserId>> {
        let ids = of.iter().map(|message| message.conversation.as_uuid());
        let owners = Entity::find()
            .select_only()
            .columns([Column::Id, Column::OwnerId])
            .filter(Column::Id.is_in(ids))
            .into_tuple::<(Uuid, Uuid)>();
        let owners = self.run("read owners of conversations", |db| Box::pin(owners.all(db))).await?;
        Ok(owners.into_iter().map(|(id, owner)| (id, UserId::from_uuid(owner))).collect())
    }

    /// Returns the first `max` characters of the messages before these answers, by conversation and ordinal.
    async fn questions(
        &mut self,
        answers: &[ConversationMessage],
        max: u32,
    ) -> Result<HashMap<(Uuid, i64), String>> {
        use messages::Column;
        let before = |answer: &ConversationMessage| {
            Condition::all()
                .add(Column::ConversationId.eq(answer.conversation.as_uuid()))
                .add(Column::Ordinal.eq(i64::from(answer.ordinal) - 1))
        };
        if answers.is_empty() {
            return Ok(HashMap::new());
        }
        let questions = messages::Entity::find()
            .select_only()
            .columns([Column::ConversationId, Column::Ordinal])
            .expr_as(Expr::cust(format!("SUBSTR(\"content\", 1, {max})")), "question")
            .filter(Column::Agent.is_null())
            .filter(answers.iter().map(before).fold(Condition::any(), Condition::add))
            .into_tuple::<(Uuid, i64, String)>();
        let questions = self.run("read questions", |db| Box::pin(questions.all(db))).await?;
        Ok(questions.into_iter().map(|(id, ordinal, text)| ((id, ordinal), text)).collect())
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
            .col_expr(Column::Selection, Expr::val(selection_text(&conversation.selection)?))
            .col_expr(Column::UpdatedAt, Expr::val(micros(conversation.updated_at)))
            .col_expr(Column::IsPinned, Expr::val(conversation.is_pinned))
            .col_expr(Column::LimitedKeyId, Expr::val(conversation.limited_key.map(|key| key.as_uuid())))
            .filter(Column::Id.eq(conversation.id.as_uuid()));
        Ok(self.update_rows("change a conversation", update).await? > 0)
    }

    async fn delete(&mut self, id: ConversationId) -> Result<bool> {
        self.delete_by_id::<Entity>("remove a conversation", id.as_uuid()).await
    }

    async fn insert_response(&mut self, response: &StoredResponse) -> Result<()> {
        self.insert_rows("store a response", responses::Entity::insert(response.to_row()?)).await.map(drop)
    }

    async fn delete_response(&mut self, id: ResponseId) -> Result<bool> {
        self.delete_by_id::<responses::Entity>("remove a response", id.as_uuid()).await
    }

    async fn purge_responses(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        use responses::{Column, Entity};
        let old =
            Entity::find().select_only().column(Column::Id).filter(Column::CreatedAt.lt(micros(before)));
        let delete = Entity::delete_many().filter(Column::Id.in_subquery(old.limit(limit).into_query()));
        self.delete_rows("purge responses", delete).await
    }

    async fn share(&mut self, id: ConversationId, collections: &BTreeSet<CollectionId>) -> Result<()> {
        self.set_collections_of_conversation(id, collections).await
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

    async fn replace_from(&mut self, id: ConversationId, ordinal: u32, at: DateTime<Utc>) -> Result<()> {
        use messages::Column;
        let update = messages::Entity::update_many()
            .col_expr(Column::ReplacedAt, Expr::val(micros(at)))
            .filter(Column::ConversationId.eq(id.as_uuid()))
            .filter(Column::Ordinal.gte(i64::from(ordinal)))
            .filter(Column::ReplacedAt.is_null());
        self.update_rows("mark replaced messages", update).await?;
        Ok(())
    }

    async fn set_feedback(
        &mut self,
        conversation: ConversationId,
        answer: MessageId,
        feedback: Option<&Feedback>,
    ) -> Result<bool> {
        use messages::Column;
        let FeedbackColumns { rating, reason, comment, at } = FeedbackColumns::of(feedback);
        let update = messages::Entity::update_many()
            .col_expr(Column::Rating, Expr::val(rating))
            .col_expr(Column::FeedbackReason, Expr::val(reason))
            .col_expr(Column::FeedbackComment, Expr::val(comment))
            .col_expr(Column::FeedbackAt, Expr::val(at))
            .filter(Column::Id.eq(answer.as_uuid()))
            .filter(Column::ConversationId.eq(conversation.as_uuid()))
            .filter(Column::Agent.is_not_null());
        Ok(self.update_rows("change feedback on an answer", update).await? > 0)
    }
}
