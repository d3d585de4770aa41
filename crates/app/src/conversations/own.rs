//! What an account does with its own conversations. To everybody else, superusers too, they do not exist.

use crate::{
    App,
    error::{Error, Result},
    listing::{ConversationFilter, ConversationPosition, Page, PageRequest},
};
use docent_domain::{
    access::{Chat, Grant},
    conversation::{Conversation, ConversationMessage, ConversationTitle},
    id::ConversationId,
    permission::RecordKind,
};
use docent_ports::conversations::ConversationReader;

/// At most `limit` conversations of the grant's holder behind a place of the list, the one that something was
/// said in last first, each with the number of its messages.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    grant: &Grant<Chat>,
    after: Option<ConversationPosition>,
    limit: u64,
) -> Result<Vec<(Conversation, u64)>> {
    let filter = ConversationFilter { owner: Some(grant.user()), text: None, after };
    let page = PageRequest { offset: 0, limit };
    Ok(app.store.read().await?.conversations().list(&filter, page).await?.records)
}

/// Begins a conversation. One without a title is called after the first question that is asked in it.
///
/// # Errors
/// When the database cannot be reached.
pub async fn begin(app: &App, grant: &Grant<Chat>, title: Option<ConversationTitle>) -> Result<Conversation> {
    let now = app.clock.now();
    let conversation = Conversation {
        id: app.new_id(ConversationId::generate),
        owner: grant.user(),
        title: title.unwrap_or_else(ConversationTitle::untitled),
        created_at: now,
        updated_at: now,
    };
    let mut work = app.store.begin().await?;
    work.conversations().insert(&conversation).await?;
    work.commit().await?;
    Ok(conversation)
}

/// A conversation and a page of what was said in it, the first message first.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn read(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    page: PageRequest,
) -> Result<(Conversation, Page<ConversationMessage>)> {
    let mut view = app.store.read().await?;
    let conversation = find(view.conversations(), grant, id).await?;
    let messages = view.conversations().messages(id, page).await?;
    Ok((conversation, messages))
}

/// Gives a conversation another title.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn rename(
    app: &App,
    grant: &Grant<Chat>,
    id: ConversationId,
    title: ConversationTitle,
) -> Result<Conversation> {
    let mut work = app.store.begin().await?;
    let conversation = find(work.conversations(), grant, id).await?;
    let renamed = Conversation { title, updated_at: app.clock.now(), ..conversation };
    work.conversations().update(&renamed).await?;
    work.commit().await?;
    Ok(renamed)
}

/// Removes a conversation with all that was said in it.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: &Grant<Chat>, id: ConversationId) -> Result<()> {
    let mut work = app.store.begin().await?;
    find(work.conversations(), grant, id).await?;
    work.conversations().delete(id).await?;
    Ok(work.commit().await?)
}

async fn find<R: ConversationReader + ?Sized>(
    reader: &mut R,
    grant: &Grant<Chat>,
    id: ConversationId,
) -> Result<Conversation> {
    let found = reader.get(id).await?.filter(|conversation| conversation.owner == grant.user());
    found.ok_or(Error::NotFound(RecordKind::Conversation))
}
