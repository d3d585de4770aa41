//! Conversations in memory.

use super::{Transaction, newest_page, page_of, violation};
use async_trait::async_trait;
use docent_domain::conversation::{Conversation, ConversationMessage, MessageRole};
use docent_domain::fault::Result;
use docent_domain::id::ConversationId;
use docent_domain::listing::{ConversationFilter, Page, PageRequest};
use docent_ports::conversations::{ConversationReader, ConversationWriter, MessageSize};

#[async_trait]
impl ConversationReader for Transaction {
    async fn get(&mut self, id: ConversationId) -> Result<Option<Conversation>> {
        Ok(self.read()?.conversations.get(&id).map(|(conversation, _)| conversation.clone()))
    }

    async fn list(
        &mut self,
        filter: &ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<(Conversation, u64)>> {
        let fits = |conversation: &Conversation| {
            let title = conversation.title.as_str().to_ascii_lowercase();
            filter.owner.is_none_or(|owner| conversation.owner == owner)
                && filter.after.is_none_or(|after| {
                    (conversation.updated_at, conversation.id) < (after.updated_at, after.id)
                })
                && filter.text.as_ref().is_none_or(|text| title.contains(&text.to_ascii_lowercase()))
        };
        let all = self.read()?.conversations.values().filter(|(conversation, _)| fits(conversation));
        let found: Vec<_> =
            all.map(|(conversation, messages)| (conversation.clone(), messages.len() as u64)).collect();
        Ok(newest_page(found, |(conversation, _)| (conversation.updated_at, conversation.id), page))
    }

    async fn message_sizes(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<MessageSize>> {
        let Page { records, total } = self.messages(id, page).await?;
        let size = |message: &ConversationMessage| {
            let sources = match &message.role {
                MessageRole::User => &[][..],
                MessageRole::Agent { sources, .. } => sources,
            };
            MessageSize {
                text: message.content.len() as u64,
                sources: sources.iter().map(|source| source.text.len() as u64).sum(),
            }
        };
        Ok(Page { records: records.iter().map(size).collect(), total })
    }

    async fn messages(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<ConversationMessage>> {
        let messages = self.read()?.conversations.get(&id).map(|(_, messages)| messages.clone());
        Ok(page_of(messages.unwrap_or_default(), page))
    }
}

#[async_trait]
impl ConversationWriter for Transaction {
    async fn insert(&mut self, conversation: &Conversation) -> Result<bool> {
        self.write(|tables| {
            tables.check_owner(conversation.owner)?;
            if tables.conversations.contains_key(&conversation.id) {
                return Ok(false);
            }
            tables.conversations.insert(conversation.id, (conversation.clone(), Vec::new()));
            Ok(true)
        })
    }

    async fn update(&mut self, conversation: &Conversation) -> Result<bool> {
        self.write(|tables| {
            let Some((known, _)) = tables.conversations.get_mut(&conversation.id) else { return Ok(false) };
            known.title = conversation.title.clone();
            known.selection = conversation.selection.clone();
            known.updated_at = conversation.updated_at;
            Ok(true)
        })
    }

    async fn delete(&mut self, id: ConversationId) -> Result<bool> {
        self.write(|tables| Ok(tables.conversations.remove(&id).is_some()))
    }

    async fn append(&mut self, added: &[ConversationMessage]) -> Result<u32> {
        let Some(first) = added.first() else { return Ok(0) };
        self.write(|tables| {
            let Some((_, messages)) = tables.conversations.get_mut(&first.conversation) else {
                return Err(violation("the conversation does not exist"));
            };
            let start = u32::try_from(messages.len()).expect("few messages");
            let numbered = added.iter().zip(start..);
            messages.extend(
                numbered.map(|(message, ordinal)| ConversationMessage { ordinal, ..message.clone() }),
            );
            Ok(start)
        })
    }
}
