//! Conversations of the requesting account, and those that others share with it, which it can only read. Other conversations are
//! not found, even by superusers; an API key that is limited to collections finds only those of its account that it began.

use super::find::find;
use super::reading::{self, ConversationRead};
use super::sharing::{self, Sharing};
use crate::error::{Error, Result};
use crate::{App, quotes};
use docent_domain::access::{Chat, Grant};
use docent_domain::conversation::{
    Conversation, ConversationMessage, ConversationSelection, ConversationTitle, MessageRole,
};
use docent_domain::feedback::{Feedback, FeedbackComment, Rating};
use docent_domain::id::{ConversationId, DocumentId, MessageId};
use docent_domain::listing::{ConversationFilter, ConversationPosition, PageRequest, SharedConversations};
use docent_domain::scope::Scope;
use std::collections::{HashMap, HashSet};

/// Which of its conversations an account lists.
#[derive(Clone, Debug, Default)]
pub struct OwnFilter {
    /// Only those with this text in the title or in a message.
    pub text: Option<String>,
    /// Only those that are pinned, or are not.
    pub is_pinned: Option<bool>,
    /// Those that other accounts share with it instead of its own.
    pub is_shared: bool,
    /// Only those after this position.
    pub after: Option<ConversationPosition>,
}

/// A conversation of a list.
#[derive(Clone, Debug)]
pub struct ListedConversation {
    /// The conversation.
    pub conversation: Conversation,
    /// Number of messages.
    pub messages: u64,
    /// Who else reads it.
    pub sharing: Sharing,
}

/// At most `limit` conversations, most recently updated first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    grant: &Grant<Chat>,
    scope: &Scope,
    filter: OwnFilter,
    limit: u64,
) -> Result<Vec<ListedConversation>> {
    let OwnFilter { text, is_pinned, is_shared, after } = filter;
    let any = ConversationFilter {
        text,
        includes_messages: true,
        is_pinned,
        after,
        ..ConversationFilter::default()
    };
    let filter = match is_shared {
        // Only owners see what they pinned.
        true if is_pinned == Some(true) => return Ok(Vec::new()),
        true => {
            let shared = SharedConversations { reader: grant.user(), scope: scope.clone() };
            ConversationFilter { is_pinned: None, shared: Some(shared), ..any }
        }
        false => ConversationFilter { owner: Some(grant.user()), limited_key: grant.limited_key(), ..any },
    };
    let mut view = app.store.read().await?;
    let found = view.conversations().list(&filter, PageRequest { offset: 0, limit }).await?.records;
    let ids: Vec<_> = found.iter().map(|(conversation, _)| conversation.id).collect();
    let owners: Vec<_> = found.iter().map(|(conversation, _)| conversation.owner).collect();
    let mut shared = view.conversations().shared_with(&ids).await?;
    let people = match is_shared {
        true => view.users().people(&owners).await?,
        false => HashMap::new(),
    };
    let listed = found.into_iter().map(|(mut conversation, messages)| {
        conversation.is_pinned &= !is_shared;
        let collections = shared.remove(&conversation.id).unwrap_or_default();
        let sharing = Sharing::new(grant, scope, collections, people.get(&conversation.owner).cloned());
        ListedConversation { conversation, messages, sharing }
    });
    Ok(listed.collect())
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
        limited_key: grant.limited_key(),
        created_at: now,
        updated_at: now,
    };
    let mut work = app.store.begin().await?;
    work.conversations().insert(&conversation).await?;
    work.commit().await?;
    Ok(conversation)
}

/// A page of a conversation, as the requesting account can read it.
#[derive(Debug)]
pub struct OwnRead {
    /// The conversation and its messages.
    pub read: ConversationRead,
    /// Who else reads it.
    pub sharing: Sharing,
    /// Documents outside the scope, whose sources have no text.
    pub withheld: HashSet<DocumentId>,
    /// Ordinal of the first message without text, if the conversation is another account's: it asks for an answer that cites a
    /// document outside the scope.
    pub withheld_from: Option<u32>,
}

/// A conversation and a page of its messages, oldest first. A page of more than one message ends before it gets too large.
///
/// In a conversation of another account, the first answer that cites a document outside the scope has no text, nor have its question
/// and all later messages: later answers can repeat what the model was told before.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn read(
    app: &App,
    grant: &Grant<Chat>,
    scope: &Scope,
    id: ConversationId,
    page: PageRequest,
) -> Result<OwnRead> {
    // The view is closed before the next one is opened, which may need its connection.
    let (conversation, _) = sharing::readable(&mut *app.store.read_latest().await?, grant, scope, id).await?;
    let mut read = reading::messages(app, conversation, page).await?;
    let messages = &mut read.messages.records;
    let withheld =
        quotes::withhold(app, scope, messages.iter_mut().flat_map(super::sources).collect()).await?;
    // Again, because sharing can have ended and documents can have moved while the messages were read.
    let mut view = app.store.read_latest().await?;
    let (_, sharing) = sharing::readable(&mut *view, grant, scope, id).await?;
    if sharing.by.is_none() {
        return Ok(OwnRead { read, sharing, withheld, withheld_from: None });
    }
    let cites_withheld = |role: &MessageRole| match role {
        MessageRole::User => false,
        MessageRole::Agent { sources, .. } => sources.iter().any(|it| withheld.contains(&it.document_id)),
    };
    let is_current = |message: &&ConversationMessage| message.replaced_at.is_none();
    let on_page = messages.iter().filter(is_current).find(|message| cites_withheld(&message.role));
    let before = view.conversations().first_unreadable(id, scope).await?;
    let first = before.into_iter().chain(on_page.map(|message| message.ordinal)).min();
    let withheld_from = first.map(|answer| answer.saturating_sub(1));
    for message in messages {
        message.show_to_reader(withheld_from.is_some_and(|from| message.ordinal >= from));
    }
    // What the last question was limited to is of no use to readers, and names documents.
    read.conversation.selection = ConversationSelection::default();
    read.conversation.is_pinned = false;
    Ok(OwnRead { read, sharing, withheld, withheld_from })
}

/// Changes a conversation's title, or pins it or ends that. Pinning is no change of its content, so its time stays.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn change(
    app: &App,
    grant: &Grant<Chat>,
    scope: &Scope,
    id: ConversationId,
    title: Option<ConversationTitle>,
    is_pinned: Option<bool>,
) -> Result<(Conversation, Sharing)> {
    let mut work = app.store.begin().await?;
    let mut conversation = find(work.conversations(), grant, id).await?;
    if let Some(title) = title {
        (conversation.title, conversation.updated_at) = (title, app.now());
    }
    conversation.is_pinned = is_pinned.unwrap_or(conversation.is_pinned);
    work.conversations().update(&conversation).await?;
    let collections = work.conversations().shared_with(&[id]).await?.remove(&id).unwrap_or_default();
    work.commit().await?;
    Ok((conversation, Sharing::new(grant, scope, collections, None)))
}

/// Deletes a conversation and its messages.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: &Grant<Chat>, id: ConversationId) -> Result<()> {
    let mut work = app.store.begin_freeing().await?;
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
