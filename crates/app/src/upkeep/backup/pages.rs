//! Pages of records other than documents, read from an archive.

use super::{
    BackupError,
    access_lines::{ApiKeyLine, AuditLine, GroupLine},
    conversation_lines::{ConversationLine, MessageLine},
    entries::Contents,
    lines::{UsageLine, UserLine},
    refused,
    webhook_lines::WebhookLine,
};
use docent_domain::{
    api_key::ApiKey,
    audit::AuditEntry,
    conversation::{Conversation, ConversationMessage},
    group::{AssignedPermissions, Group},
    usage::UsageRecord,
    user::User,
    webhook::Webhook,
};
use docent_ports::store::UnitOfWork;

/// What the records of an entry are.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Groups,
    Users,
    ApiKeys,
    Conversations,
    Messages,
    Webhooks,
    Audit,
    Usage,
}

impl Kind {
    /// The kind that an entry's name tells, if it is one of these.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name.split_once('/')?.0 {
            "groups" => Some(Self::Groups),
            "users" => Some(Self::Users),
            "api_keys" => Some(Self::ApiKeys),
            "conversations" => Some(Self::Conversations),
            "messages" => Some(Self::Messages),
            "webhooks" => Some(Self::Webhooks),
            "audit" => Some(Self::Audit),
            "usage" => Some(Self::Usage),
            _ => None,
        }
    }
}

/// The records of an entry.
pub(super) enum Records {
    Groups(Vec<Group>),
    Users(Vec<(User, AssignedPermissions)>),
    ApiKeys(Vec<ApiKey>),
    Conversations(Vec<Conversation>),
    Messages(Vec<ConversationMessage>),
    Webhooks(Vec<Webhook>),
    Audit(Vec<AuditEntry>),
    Usage(Vec<UsageRecord>),
}

/// Reads the entry that was begun.
pub(super) async fn records(contents: &mut Contents, name: &str, bytes: u64) -> Result<Records, BackupError> {
    let kind = Kind::of(name).ok_or_else(|| refused("an entry is none of records"))?;
    Ok(match kind {
        Kind::Groups => {
            let lines = contents.lines::<GroupLine>(bytes).await?;
            Records::Groups(lines.iter().map(GroupLine::group).collect::<Result<_, _>>()?)
        }
        Kind::Users => {
            let lines = contents.lines::<UserLine>(bytes).await?.into_iter();
            let user = |line: UserLine| {
                let rights = line.rights()?;
                Ok((line.user()?, rights))
            };
            Records::Users(lines.map(user).collect::<Result<_, BackupError>>()?)
        }
        Kind::ApiKeys => {
            let lines = contents.lines::<ApiKeyLine>(bytes).await?;
            Records::ApiKeys(lines.iter().map(ApiKeyLine::key).collect::<Result<_, _>>()?)
        }
        Kind::Conversations => {
            let lines = contents.lines::<ConversationLine>(bytes).await?;
            Records::Conversations(
                lines.iter().map(ConversationLine::conversation).collect::<Result<_, _>>()?,
            )
        }
        Kind::Messages => {
            let lines = contents.lines::<MessageLine>(bytes).await?.into_iter();
            let messages: Vec<ConversationMessage> =
                lines.map(MessageLine::message).collect::<Result<_, _>>()?;
            // All of an entry are added at once.
            let conversation = messages.first().map(|message| message.conversation);
            if messages.iter().any(|message| Some(message.conversation) != conversation) {
                return Err(refused("an entry has messages of two conversations"));
            }
            Records::Messages(messages)
        }
        Kind::Webhooks => {
            let lines = contents.lines::<WebhookLine>(bytes).await?;
            Records::Webhooks(lines.iter().map(WebhookLine::webhook).collect::<Result<_, _>>()?)
        }
        Kind::Audit => {
            let lines = contents.lines::<AuditLine>(bytes).await?.into_iter();
            Records::Audit(lines.map(AuditLine::entry).collect::<Result<_, _>>()?)
        }
        Kind::Usage => {
            let lines = contents.lines::<UsageLine>(bytes).await?.into_iter();
            Records::Usage(lines.map(UsageLine::record).collect::<Result<_, _>>()?)
        }
    })
}

impl Records {
    /// How many accounts are among them.
    pub(super) fn accounts(&self) -> u64 {
        if let Self::Users(users) = self { users.len() as u64 } else { 0 }
    }

    /// Adds them; what they refer to must be there.
    pub(super) async fn insert_into(self, work: &mut dyn UnitOfWork) -> Result<(), BackupError> {
        match self {
            Self::Groups(groups) => {
                for group in groups {
                    is_new(work.groups().insert(&group).await?, "two groups have one name")?;
                }
            }
            Self::Users(users) => {
                for (user, rights) in users {
                    is_new(work.users().insert(&user).await?, "two accounts have one address")?;
                    work.groups().set_assigned_permissions(user.id, &rights).await?;
                }
            }
            Self::ApiKeys(keys) => {
                for key in keys {
                    is_new(work.api_keys().insert(&key).await?, "two API keys have one prefix")?;
                }
            }
            Self::Conversations(conversations) => {
                for conversation in conversations {
                    is_new(
                        work.conversations().insert(&conversation).await?,
                        "two conversations have one id",
                    )?;
                }
            }
            Self::Messages(messages) => drop(work.conversations().append(&messages).await?),
            Self::Webhooks(webhooks) => {
                for webhook in webhooks {
                    is_new(work.webhooks().insert(&webhook).await?, "two webhooks have one id")?;
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

fn is_new(is_new: bool, otherwise: &'static str) -> Result<(), BackupError> {
    if is_new { Ok(()) } else { Err(refused(otherwise)) }
}
