//! Conversations of the requesting account. Those of other accounts are not found, even by superusers.

use super::reading::{self, ConversationRead};
use crate::error::{Error, Result};
use crate::{App, quotes};
use docent_domain::access::{Chat, Grant};
use docent_domain::conversation::{Conversation, ConversationSelection, ConversationTitle};
use docent_domain::feedback::{Feedback, FeedbackComment, Rating};
use docent_domain::id::{ConversationId, DocumentId, MessageId};
use docent_domain::listing::{ConversationFilter, ConversationPosition, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_ports::conversations::ConversationReader;
use std::collections::HashSet;

/// Which of its conversations an account lists.
#[derive(Clone, Debug, Default)]
pub struct OwnFilter {
    /// Only those with this text in the title or in a message.
    pub text: Option<String>,
    /// Only those that are pinned, or are not.
    pub is_pinned: Option<bool>,
    /// Only those after this position.
    pub after: Option<ConversationPosition>,
}

/// At most `limit` conversations, most recently updated first, each with its number of messages.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    grant: &Grant<Chat>,
    filter: OwnFilter,
    limit: u64,
) -> Result<Vec<(Conversation, u64)>> {
    let OwnFilter { text, is_pinned, after } = filter;
    let owner = Some(grant.user());
    let filter = ConversationFilter { owner, text, includes_messages: true, is_pinned, after };
    let page = PageRequest { offset: 0, limit };
    Ok(app.store.read().await?.conversations().list(&filter, page).await?.records)
}

/// Creates a conversation. Without a title it gets one from its first question.
///
/// # Errors
/// When the database cannot be reached.
pub async fn create(
    app: &App,
    grant: &Grant<Chat>,
    title: Option<ConversationTitle>,
) -> Result<Conversation> {
    let now = app.now();
    let conversation = Conversation {
        id: app.new_id(ConversationId::generate),
        owner: grant.user(),
        title: title.unwrap_or_else(ConversationTitle::untitled),
        selection: ConversationSelection::default(),
        is_pinned: false,
        created_at: now,
        updated_at: now,
    };
    let mut work = app.store.begin().await?;
    work.conversations().insert(&conversation).await?;
    work.commit().await?;
    Ok(conversation)
}

/// A conversation and a page of its messages, oldest first. A page of more than one message ends before it gets too large.
///
/// Sources of documents outside the scope have no text; these documents are returned too.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn read(
    app: &App,
    grant: &Grant<Chat>,
    scope: &Scope,
    id: ConversationId,
    page: PageRequest,
) -> Result<(ConversationRead, HashSet<DocumentId>)> {
    let conversation = find(app.store.read_latest().await?.conversations(), grant, id).await?;
    let mut read = reading::messages(app, conversation, page).await?;
    let sources = read.messages.records.iter_mut().flat_map(super::sources);
    let withheld = quotes::withhold(app, scope, sources.collect()).await?;
    Ok((read, withheld))
}

/// Changes a conversation's title, or pins it or ends that. Pinning is no change of its content, so its time stays.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn change(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    title: Option<ConversationTitle>,
    is_pinned: Option<bool>,
) -> Result<Conversation> {
    let mut work = app.store.begin().await?;
    let mut conversation = find(work.conversations(), grant, id).await?;
    if let Some(title) = title {
        (conversation.title, conversation.updated_at) = (title, app.now());
    }
    conversation.is_pinned = is_pinned.unwrap_or(conversation.is_pinned);
    work.conversations().update(&conversation).await?;
    work.commit().await?;
    Ok(conversation)
}

/// Deletes a conversation and its messages.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: &Grant<Chat>, id: ConversationId) -> Result<()> {
    let mut work = app.store.begin().await?;
    find(work.conversations(), grant, id).await?;
    work.conversations().delete(id).await?;
    Ok(work.commit().await?)
}

/// Rates an answer. Replaces earlier feedback.
///
/// # Errors
/// [`Error::NotFound`], [`Error::AnswerNotFound`], or when the database cannot be reached.
pub async fn rate(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    answer: MessageId,
    rating: Rating,
    comment: Option<FeedbackComment>,
) -> Result<Feedback> {
    let feedback = Feedback { rating, comment, at: app.now() };
    set_feedback(app, grant, id, answer, Some(&feedback)).await?;
    Ok(feedback)
}

/// Removes the feedback on an answer, if there is any.
///
/// # Errors
/// As [`rate`].
pub async fn withdraw_feedback(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    answer: MessageId,
) -> Result<()> {
    set_feedback(app, grant, id, answer, None).await
}

async fn set_feedback(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    answer: MessageId,
    feedback: Option<&Feedback>,
) -> Result<()> {
    let mut work = app.store.begin().await?;
    find(work.conversations(), grant, id).await?;
    if !work.conversations().set_feedback(id, answer, feedback).await? {
        return Err(Error::AnswerNotFound);
    }
    Ok(work.commit().await?)
}

async fn find(
    reader: &mut dyn ConversationReader,
    grant: &Grant<Chat>,
    id: ConversationId,
) -> Result<Conversation> {
    let found = reader.get(id).await?.filter(|conversation| conversation.owner == grant.user());
    found.ok_or(Error::NotFound(RecordKind::Conversation))
}
