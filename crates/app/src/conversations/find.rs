//! Finds a conversation of the requesting account.

use crate::error::{Error, Result};
use docent_domain::access::{Chat, Grant};
use docent_domain::conversation::Conversation;
use docent_domain::id::ConversationId;
use docent_domain::permission::RecordKind;
use docent_ports::conversations::ConversationReader;

/// A conversation that the actor can change.
///
/// # Errors
/// [`Error::NotFound`], also for a conversation that is not open to the actor; or when the database cannot be reached.
pub(super) async fn find(
    reader: &mut dyn ConversationReader,
    grant: &Grant<Chat>,
    id: ConversationId,
) -> Result<Conversation> {
    let found = reader.get(id).await?.filter(|conversation| conversation.is_open_to(grant));
    found.ok_or(Error::NotFound(RecordKind::Conversation))
}
