//! Conversations: recording them, and managing those of all accounts.
//!
//! The first question with a conversation's ID creates the conversation, which belongs to the account that asked it.
//! Question and answer are recorded together when the answer has ended, even if it failed.

pub mod answers;
mod find;
pub mod own;
mod reading;
pub mod sharing;
mod viewing;

pub use reading::{ConversationRead, ReadBudget, StaffMessage};

use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, quotes};
use chrono::{DateTime, Utc};
use docent_domain::access::{Chat, DeleteConversations, Grant, ViewConversations};
use docent_domain::audit::AuditAction;
use docent_domain::conversation::{
    Conversation, ConversationMessage, ConversationSelection, ConversationTitle, MessageRole,
};
use docent_domain::id::{ConversationId, DocumentId, MessageId};
use docent_domain::listing::{ConversationFilter, Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use std::collections::HashSet;

/// Opens the conversation that a question belongs to. Created if missing.
///
/// A conversation that an API key limited to collections began is no longer the key's when its account continues it otherwise: the
/// answers from then on can quote documents of all collections.
///
/// # Errors
/// [`Error::NotFound`] when it belongs to another account or is hidden from the API key, or when the database cannot be reached.
pub async fn open(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    question: &str,
    selection: ConversationSelection,
) -> Result<()> {
    let found = app.store.read().await?.conversations().get(id).await?;
    let existing = match found {
        Some(conversation) => Some(conversation),
        None => create(app, grant, id, question, selection).await?,
    };
    let Some(existing) = existing else { return Ok(()) };
    if !existing.is_open_to(grant) {
        return Err(Error::NotFound(RecordKind::Conversation));
    }
    if existing.limited_key.is_none() || grant.limited_key().is_some() {
        return Ok(());
    }
    let mut work = app.store.begin().await?;
    let latest = work.conversations().get(id).await?.ok_or(Error::NotFound(RecordKind::Conversation))?;
    work.conversations().update(&Conversation { limited_key: None, ..latest }).await?;
    Ok(work.commit().await?)
}

/// Creates a conversation, or returns the one that a concurrent request has created with this ID.
async fn create(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    question: &str,
    selection: ConversationSelection,
) -> Result<Option<Conversation>> {
    let now = app.now();
    let title = ConversationTitle::of_question(question);
    let owner = grant.user();
    let conversation = Conversation {
        id,
        owner,
        title,
        selection,
        is_pinned: false,
        limited_key: grant.limited_key(),
        created_at: now,
        updated_at: now,
    };
    let mut work = app.store.begin().await?;
    if !work.conversations().insert(&conversation).await? {
        return Ok(work.conversations().get(id).await?);
    }
    work.commit().await?;
    Ok(None)
}

/// Checks that an answer belongs to a conversation of the account and is not replaced already.
///
/// # Errors
/// [`Error::NotFound`] for the conversation, or those of [`replaced_question`].
pub(crate) async fn check_replaced(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    answer: MessageId,
) -> Result<()> {
    let found = app.store.read().await?.conversations().get(id).await?;
    let found = found.filter(|conversation| conversation.is_open_to(grant));
    found.ok_or(Error::NotFound(RecordKind::Conversation))?;
    replaced_question(app, id, answer).await.map(drop)
}

/// The ordinal of the question of an answer that is replaced.
///
/// # Errors
/// [`Error::AnswerNotFound`] when the conversation has no such answer, or when the database cannot be reached.
pub(crate) async fn replaced_question(app: &App, id: ConversationId, answer: MessageId) -> Result<u32> {
    let ordinal = app.store.read().await?.conversations().answer_ordinal(id, answer).await?;
    Ok(ordinal.ok_or(Error::AnswerNotFound)?.saturating_sub(1))
}

/// Records a question, what it was limited to, and its answer with its ID. With `replaces`, the question of that answer and
/// everything after it is kept as an earlier version.
///
/// # Errors
/// [`Error::NotFound`] when the conversation has been deleted, or when the database cannot be reached.
pub(crate) async fn append(
    app: &App,
    id: ConversationId,
    question: String,
    selection: ConversationSelection,
    asked_at: DateTime<Utc>,
    (answer_id, answer, agent): (MessageId, String, MessageRole),
    replaces: Option<MessageId>,
) -> Result<()> {
    let now = app.now();
    let message = |message_id, role, content: String, at| ConversationMessage {
        id: message_id,
        conversation: id,
        ordinal: 0,
        role,
        // Some databases reject the character NUL.
        content: content.replace('\0', ""),
        at,
        replaced_at: None,
    };
    let question_id = app.new_id(MessageId::generate);
    let messages =
        [message(question_id, MessageRole::User, question, asked_at), message(answer_id, agent, answer, now)];
    let mut work = app.store.begin().await?;
    let conversation = work.conversations().get(id).await?;
    let conversation = conversation.ok_or(Error::NotFound(RecordKind::Conversation))?;
    if let Some(replaced) = replaces
        && let Some(ordinal) = work.conversations().answer_ordinal(id, replaced).await?
    {
        work.conversations().replace_from(id, ordinal.saturating_sub(1), now).await?;
    }
    work.conversations().append(&messages).await?;
    // A conversation that was created without a question is titled after its first one.
    let title = match conversation.title.is_untitled() {
        true => ConversationTitle::of_question(&messages[0].content),
        false => conversation.title.clone(),
    };
    work.conversations().update(&Conversation { title, selection, updated_at: now, ..conversation }).await?;
    Ok(work.commit().await?)
}

/// A page of the conversations of all accounts, most recently updated first, each with its number of messages.
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

/// A conversation and a page of its messages. With `is_whole`, large messages are included too; a page of more than one
/// message then ends before it gets too large.
/// The audit log records that the holder of the grant reads it. Sources of documents outside `scope` have no text; these
/// documents are returned too.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn read(
    app: &App,
    grant: Grant<ViewConversations>,
    scope: &Scope,
    id: ConversationId,
    page: PageRequest,
    is_whole: bool,
) -> Result<(ConversationRead<StaffMessage>, HashSet<DocumentId>)> {
    let conversation = app.store.read_latest().await?.conversations().get(id).await?;
    let conversation = conversation.ok_or(Error::NotFound(RecordKind::Conversation))?;
    viewing::record(app, &grant, &conversation).await?;
    let mut read = match is_whole {
        true => reading::messages(app, conversation, page).await?.map(StaffMessage::Shown),
        false => reading::messages_for_staff(app, conversation, page).await?,
    };
    let shown = read.messages.records.iter_mut().filter_map(|message| match message {
        StaffMessage::Shown(message) => Some(message),
        StaffMessage::TooLarge { .. } => None,
    });
    let withheld = quotes::withhold(app, scope, shown.flat_map(sources).collect()).await?;
    Ok((read, withheld))
}

/// The names of the collections that a conversation is shared with.
///
/// # Errors
/// When the database cannot be reached.
pub async fn names_of_collections(
    app: &App,
    _grant: Grant<ViewConversations>,
    id: ConversationId,
) -> Result<Vec<String>> {
    let mut view = app.store.read_latest().await?;
    let ids = view.conversations().shared_with(&[id]).await?.remove(&id).unwrap_or_default();
    let ids: Vec<_> = ids.into_iter().collect();
    let mut names: Vec<_> = view.collections().names(&ids).await?.into_values().collect();
    names.sort();
    Ok(names)
}

/// The sources of an answer; none of a question.
fn sources(message: &mut ConversationMessage) -> &mut [ScoredChunk] {
    match &mut message.role {
        MessageRole::User => &mut [],
        MessageRole::Agent { sources, .. } => sources,
    }
}

/// Deletes a conversation and its messages.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: Grant<DeleteConversations>, id: ConversationId) -> Result<()> {
    let mut work = app.store.begin_freeing().await?;
    let conversation = work.conversations().get(id).await?;
    let conversation = conversation.ok_or(Error::NotFound(RecordKind::Conversation))?;
    work.conversations().delete(id).await?;
    let target = AuditTarget::new(RecordKind::Conversation, id, conversation.title.as_str());
    app.audit(&mut *work, &Initiator::grantee(&grant), AuditAction::Delete, target, Changes::default())
        .await?;
    Ok(work.commit().await?)
}
