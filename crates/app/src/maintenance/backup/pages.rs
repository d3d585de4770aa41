//! Reads records other than documents from an archive.

use super::entries::EntryReader;
use super::{BackupError, invalid_archive};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::AuditEntry;
use docent_domain::collection::Member;
use docent_domain::conversation::ConversationMessage;
use docent_domain::group::Group;
use docent_domain::invitation::Invitation;
use docent_domain::stored_response::StoredResponse;
use docent_domain::usage::UsageRecord;
use docent_domain::webhook::Webhook;
use docent_ports::records::{ArchivedCollection, ArchivedConversation, ArchivedUser};
use docent_ports::store::UnitOfWork;

/// The records of an entry.
pub(super) enum Records {
    Groups(Vec<Group>),
    Users(Vec<ArchivedUser>),
    Collections(Vec<ArchivedCollection>),
    ApiKeys(Vec<ApiKey>),
    Invitations(Vec<Invitation>),
    Conversations(Vec<ArchivedConversation>),
    Messages(Vec<ConversationMessage>),
    Responses(Vec<StoredResponse>),
    Webhooks(Vec<Webhook>),
    Audit(Vec<AuditEntry>),
    Usage(Vec<UsageRecord>),
}

/// Reads the current entry; none if its name is not that of records other than documents.
pub(super) async fn records(
    contents: &mut EntryReader,
    name: &str,
    bytes: u64,
) -> Result<Option<Records>, BackupError> {
    Ok(Some(match name.split_once('/').map(|(folder, _)| folder) {
        Some("groups") => Records::Groups(contents.records(bytes).await?),
        Some("users") => Records::Users(contents.records(bytes).await?),
        Some("collections") => Records::Collections(contents.records(bytes).await?),
        Some("api_keys") => Records::ApiKeys(contents.records(bytes).await?),
        Some("invitations") => Records::Invitations(contents.records(bytes).await?),
        Some("conversations") => Records::Conversations(contents.records(bytes).await?),
        Some("messages") => {
            let messages: Vec<ConversationMessage> = contents.records(bytes).await?;
            // All messages of an entry are appended at once.
            let conversation = messages.first().map(|message| message.conversation);
            if messages.iter().any(|message| Some(message.conversation) != conversation) {
                return Err(invalid_archive("an entry has messages of two conversations"));
            }
            Records::Messages(messages)
        }
        Some("responses") => Records::Responses(contents.records(bytes).await?),
        Some("webhooks") => Records::Webhooks(contents.records(bytes).await?),
        Some("audit") => Records::Audit(contents.records(bytes).await?),
        Some("usage") => Records::Usage(contents.records(bytes).await?),
        _ => return Ok(None),
    }))
}

impl Records {
    /// The number of accounts.
    pub(super) fn accounts(&self) -> u64 {
        if let Self::Users(users) = self { users.len() as u64 } else { 0 }
    }

    /// Inserts the records. The records that they reference must exist.
    pub(super) async fn insert_into(self, work: &mut dyn UnitOfWork) -> Result<(), BackupError> {
        match self {
            Self::Groups(groups) => {
                for group in groups {
                    ensure_new(work.groups().insert(&group).await?, "two groups have the same name")?;
                }
            }
            Self::Users(users) => {
                for ArchivedUser { user, rights } in users {
                    ensure_new(
                        work.users().insert(&user).await?,
                        "two accounts have the same email address",
                    )?;
                    work.groups().set_assigned_permissions(user.id, &rights).await?;
                }
            }
            Self::Collections(collections) => {
                for archived in collections {
                    let ArchivedCollection { collection, users, groups, hidden_by, metadata } = archived;
                    // The one of everyone and the personal ones of the accounts exist already.
                    if !work.collections().update(&collection).await? {
                        work.collections().insert(&collection).await?;
                    }
                    let users = users.into_iter().map(|(user, role)| (Member::User(user), role));
                    let groups = groups.into_iter().map(|(group, role)| (Member::Group(group), role));
                    for (member, role) in users.chain(groups) {
                        work.collections().set_member(collection.id, member, Some(role)).await?;
                    }
                    for user in hidden_by {
                        work.collections().set_hidden(user, collection.id, true).await?;
                    }
                    if let Some(metadata) = metadata {
                        work.collections().set_metadata(collection.id, &metadata).await?;
                    }
                }
            }
            Self::ApiKeys(keys) => {
                for key in keys {
                    ensure_new(work.api_keys().insert(&key).await?, "two API keys have the same prefix")?;
                }
            }
            Self::Invitations(invitations) => {
                for invitation in invitations {
                    ensure_new(
                        work.invitations().insert(&invitation).await?,
                        "two invitations have the same email address",
                    )?;
                }
            }
            Self::Conversations(conversations) => {
                for ArchivedConversation { conversation, shared_with } in conversations {
                    ensure_new(
                        work.conversations().insert(&conversation).await?,
                        "two conversations have the same ID",
                    )?;
                    work.conversations().share(conversation.id, &shared_with).await?;
                }
            }
            Self::Messages(messages) => drop(work.conversations().append(&messages).await?),
            Self::Responses(responses) => {
                for response in responses {
                    work.conversations().insert_response(&response).await?;
                }
            }
            Self::Webhooks(webhooks) => {
                for webhook in webhooks {
                    ensure_new(work.webhooks().insert(&webhook).await?, "two webhooks have the same ID")?;
                }
            }
            Self::Audit(entries) => {
                for entry in entries {
                    work.audit().append(&entry).await?;
                }
            }
            Self::Usage(records) => {
                for record in records {
                    work.usage().insert(&record).await?;
                }
            }
        }
        Ok(())
    }
}

fn ensure_new(is_new: bool, error: &'static str) -> Result<(), BackupError> {
    if is_new { Ok(()) } else { Err(invalid_archive(error)) }
}
