//! Conversations: recording what is said in them, and what staff do with them.
//!
//! A conversation begins with the first question that names it and belongs to who asked it. Question and
//! answer are written down together when the answer is over, however it ended.

pub mod own;

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use chrono::{DateTime, Utc};
use docent_domain::{
    access::{Chat, DeleteConversations, Grant, ViewConversations},
    audit::AuditAction,
    conversation::{Conversation, ConversationMessage, ConversationTitle, MessageRole},
    id::{ConversationId, MessageId},
    permission::RecordKind,
};
use docent_ports::{
    conversations::ConversationFilter,
    page::{Page, PageRequest},
};

/// Opens the conversation that a question belongs to, and makes it when it is new.
///
/// # Errors
/// [`Error::NotFound`] when it is somebody else's, or when the database cannot be reached.
pub async fn open(app: &App, grant: &Grant<Chat>, id: ConversationId, question: &str) -> Result<()> {
    let found = app.store.read().await?.conversations().get(id).await?;
    let known = match found {
        Some(conversation) => Some(conversation),
        None => create(app, grant, id, question).await?,
    };
    if known.is_some_and(|conversation| conversation.owner != grant.user()) {
        return Err(Error::NotFound(RecordKind::Conversation));
    }
    Ok(())
}

/// Makes a conversation; gives the one that somebody made with this id meanwhile, if so.
async fn create(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    question: &str,
) -> Result<Option<Conversation>> {
    let now = app.clock.now();
    let title = ConversationTitle::of_question(question);
    let conversation = Conversation { id, owner: grant.user(), title, created_at: now, updated_at: now };
    let mut work = app.store.begin().await?;
    if !work.conversations().insert(&conversation).await? {
        return Ok(work.conversations().get(id).await?);
    }
    work.commit().await?;
    Ok(None)
}

/// Writes down a question and what was answered.
///
/// # Errors
/// [`Error::NotFound`] when the conversation was deleted meanwhile, or when the database cannot be reached.
pub(crate) async fn append(
    app: &App,
    id: ConversationId,
    question: String,
    asked_at: DateTime<Utc>,
    answer: String,
    agent: MessageRole,
) -> Result<()> {
    let now = app.clock.now();
    let message = |role, content: String, at| ConversationMessage {
        id: app.new_id(MessageId::generate),
        conversation: id,
        ordinal: 0,
        role,
        // Not every database takes the character NUL.
        content: content.replace('\0', ""),
        at,
    };
    let messages = [message(MessageRole::User, question, asked_at), message(agent, answer, now)];
    let mut work = app.store.begin().await?;
    let conversation = work.conversations().get(id).await?;
    let conversation = conversation.ok_or(Error::NotFound(RecordKind::Conversation))?;
    work.conversations().append(&messages).await?;
    // One that was begun before anything was asked is called after its first question.
    let title = match conversation.title.is_untitled() {
        true => ConversationTitle::of_question(&messages[0].content),
        false => conversation.title.clone(),
    };
    work.conversations().update(&Conversation { title, updated_at: now, ..conversation }).await?;
    Ok(work.commit().await?)
}

/// Conversations of all accounts, the one that something was said in last first, each with the number of its
/// messages.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewConversations>,
    filter: &ConversationFilter,
    page: PageRequest,
) -> Result<Page<(Conversation, u64)>> {
    Ok(app.store.read().await?.conversations().list(filter, page).await?)
}

/// A conversation and a page of what was said in it.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn read(
    app: &App,
    _grant: Grant<ViewConversations>,
    id: ConversationId,
    page: PageRequest,
) -> Result<(Conversation, Page<ConversationMessage>)> {
    let mut view = app.store.read().await?;
    let conversation = view.conversations().get(id).await?;
    let conversation = conversation.ok_or(Error::NotFound(RecordKind::Conversation))?;
    let messages = view.conversations().messages(id, page).await?;
    Ok((conversation, messages))
}

/// Deletes a conversation with all that was said in it.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: Grant<DeleteConversations>, id: ConversationId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let conversation = work.conversations().get(id).await?;
    let conversation = conversation.ok_or(Error::NotFound(RecordKind::Conversation))?;
    work.conversations().delete(id).await?;
    let subject = Subject::new(RecordKind::Conversation, id, conversation.title.as_str());
    app.auditor()
        .write(&mut *work, &By::holder(&grant), AuditAction::Delete, subject, Changes::default())
        .await?;
    Ok(work.commit().await?)
}
