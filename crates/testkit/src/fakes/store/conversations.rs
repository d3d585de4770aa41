//! Conversations in memory.

use super::{Tables, Transaction, newest_page, page_of, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::conversation::{Conversation, ConversationMessage, MessageRole};
use docent_domain::fault::Result;
use docent_domain::feedback::{Feedback, Rating};
use docent_domain::id::{CollectionId, ConversationId, MessageId, ResponseId};
use docent_domain::listing::{AnswerFilter, AnswerKind, ConversationFilter, Page, PageRequest};
use docent_domain::scope::Scope;
use docent_domain::stored_response::StoredResponse;
use docent_ports::conversations::{ConversationReader, ConversationWriter, ListedAnswer, MessageSize};
use std::collections::{BTreeSet, HashMap};

#[async_trait]
impl ConversationReader for Transaction {
    async fn response(&mut self, id: ResponseId) -> Result<Option<StoredResponse>> {
        Ok(self.read()?.responses.get(&id).cloned())
    }

    async fn get(&mut self, id: ConversationId) -> Result<Option<Conversation>> {
        Ok(self.read()?.conversations.get(&id).map(|(conversation, _)| conversation.clone()))
    }

    async fn list(
        &mut self,
        filter: &ConversationFilter,
        page: PageRequest,
    ) -> Result<Page<(Conversation, u64)>> {
        let tables = self.read()?;
        let fits = |conversation: &Conversation, messages: &[ConversationMessage]| {
            let withheld_from = filter.shared.as_ref().and_then(|shared| {
                first_unreadable(tables, messages, &shared.scope).map(|answer| answer.saturating_sub(1))
            });
            let is_visible = |message: &&ConversationMessage| {
                filter.shared.is_none()
                    || message.replaced_at.is_none()
                        && withheld_from.is_none_or(|from| message.ordinal < from)
            };
            let has = |text: &str| {
                let contains =
                    |content: &str| content.to_ascii_lowercase().contains(&text.to_ascii_lowercase());
                contains(conversation.title.as_str())
                    || filter.includes_messages
                        && messages.iter().filter(is_visible).any(|message| contains(&message.content))
            };
            let is_shared = |with: &CollectionId| {
                let shared = filter.shared.as_ref();
                shared.is_some_and(|shared| shared.scope.role_in(*with).is_some())
            };
            filter.shared.as_ref().is_none_or(|shared| {
                shared.reader != conversation.owner
                    && collections(tables, conversation.id).iter().any(is_shared)
            }) && filter.owner.is_none_or(|owner| conversation.owner == owner)
                && filter.after.is_none_or(|after| {
                    (conversation.updated_at, conversation.id) < (after.updated_at, after.id)
                })
                && filter.is_pinned.is_none_or(|is_pinned| conversation.is_pinned == is_pinned)
                && filter.limited_key.is_none_or(|key| conversation.limited_key == Some(key))
                && filter.text.as_ref().is_none_or(|text| has(text))
        };
        let all = tables.conversations.values();
        let all = all.filter(|(conversation, messages)| fits(conversation, messages));
        let found: Vec<_> =
            all.map(|(conversation, messages)| (conversation.clone(), messages.len() as u64)).collect();
        Ok(newest_page(found, |(conversation, _)| (conversation.updated_at, conversation.id), page))
    }

    async fn message_sizes(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<MessageSize>> {
        let Page { records, total } = self.messages(id, page).await?;
        let size = |message: &ConversationMessage| {
            let (sources, feedback) = match &message.role {
                MessageRole::User => (&[][..], None),
                MessageRole::Agent { sources, feedback, .. } => (sources.as_slice(), feedback.as_ref()),
            };
            let comment = feedback.and_then(|feedback| feedback.comment.as_ref());
            MessageSize {
                text: (message.content.len() + comment.map_or(0, |text| text.as_str().len())) as u64,
                sources: sources.iter().map(|source| source.text.len() as u64).sum(),
            }
        };
        Ok(Page { records: records.iter().map(size).collect(), total })
    }

    async fn messages(&mut self, id: ConversationId, page: PageRequest) -> Result<Page<ConversationMessage>> {
        let messages = self.read()?.conversations.get(&id).map(|(_, messages)| messages.clone());
        Ok(page_of(messages.unwrap_or_default(), page))
    }

    async fn answer_ordinal(&mut self, id: ConversationId, answer: MessageId) -> Result<Option<u32>> {
        let tables = self.read()?;
        let messages = tables.conversations.get(&id).map_or(&[][..], |(_, messages)| messages);
        let is_meant = |message: &&ConversationMessage| {
            message.id == answer && message.role != MessageRole::User && message.replaced_at.is_none()
        };
        Ok(messages.iter().find(is_meant).map(|message| message.ordinal))
    }

    async fn shared_with(
        &mut self,
        ids: &[ConversationId],
    ) -> Result<HashMap<ConversationId, BTreeSet<CollectionId>>> {
        let tables = self.read()?;
        let shared = ids.iter().map(|id| (*id, collections(tables, *id)));
        Ok(shared.filter(|(_, collections)| !collections.is_empty()).collect())
    }

    async fn first_unreadable(&mut self, id: ConversationId, scope: &Scope) -> Result<Option<u32>> {
        let tables = self.read()?;
        let messages = tables.conversations.get(&id).map_or(&[][..], |(_, messages)| messages);
        Ok(first_unreadable(tables, messages, scope))
    }

    async fn answers(
        &mut self,
        filter: &AnswerFilter,
        question_max: u32,
        page: PageRequest,
    ) -> Result<Page<ListedAnswer>> {
        let tables = self.read()?;
        let mut found = Vec::new();
        for (conversation, messages) in tables.conversations.values() {
            for answer in messages {
                let is_listed = filter.kinds.iter().any(|kind| is_of_kind(&answer.role, *kind));
                if !is_listed || !filter.period.contains(answer.at) {
                    continue;
                }
                let question = messages.iter().find(|message| message.ordinal + 1 == answer.ordinal);
                let question = question.filter(|message| message.role == MessageRole::User);
                found.push(ListedAnswer {
                    answer: ConversationMessage { content: String::new(), ..answer.clone() },
                    owner: conversation.owner,
                    question: question
                        .map(|question| question.content.chars().take(question_max as usize).collect())
                        .unwrap_or_default(),
                });
            }
        }
        Ok(newest_page(found, |listed| (listed.answer.at, listed.answer.id), page))
    }
}

/// The collections that a conversation is shared with.
fn collections(tables: &Tables, id: ConversationId) -> BTreeSet<CollectionId> {
    let shared = tables.shared.iter().filter(|(conversation, _)| *conversation == id);
    shared.map(|(_, collection)| *collection).collect()
}

fn first_unreadable(tables: &Tables, messages: &[ConversationMessage], scope: &Scope) -> Option<u32> {
    let is_readable =
        |id: &_| tables.documents.get(id).is_some_and(|document| scope.contains(&document.collections));
    let is_unreadable = |message: &&ConversationMessage| match &message.role {
        MessageRole::Agent { sources, .. } if message.replaced_at.is_none() => {
            !sources.iter().all(|source| is_readable(&source.document_id))
        }
        _ => false,
    };
    messages.iter().find(is_unreadable).map(|message| message.ordinal)
}

fn is_of_kind(role: &MessageRole, kind: AnswerKind) -> bool {
    let MessageRole::Agent { is_declined, best_score, feedback, .. } = role else { return false };
    let rating = feedback.as_ref().map(|feedback| feedback.rating);
    match kind {
        AnswerKind::RatedUp => rating == Some(Rating::Up),
        AnswerKind::RatedDown => matches!(rating, Some(Rating::Down { .. })),
        AnswerKind::Declined => *is_declined,
        AnswerKind::ScoredBelow(limit) => best_score.is_some_and(|score| score < limit),
    }
}

#[async_trait]
impl ConversationWriter for Transaction {
    async fn insert_response(&mut self, response: &StoredResponse) -> Result<()> {
        self.write(|tables| {
            tables.check_owner(response.owner)?;
            if tables.responses.contains_key(&response.id) {
                return Err(violation("the response exists"));
            }
            tables.responses.insert(response.id, response.clone());
            Ok(())
        })
    }

    async fn delete_response(&mut self, id: ResponseId) -> Result<bool> {
        self.write(|tables| Ok(tables.responses.remove(&id).is_some()))
    }

    async fn purge_responses(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let old = tables.responses.values().filter(|response| response.created_at < before);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let ids: Vec<ResponseId> = old.map(|response| response.id).take(limit).collect();
            tables.responses.retain(|id, _| !ids.contains(id));
            Ok(ids.len() as u64)
        })
    }

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
            known.is_pinned = conversation.is_pinned;
            known.limited_key = conversation.limited_key;
            Ok(true)
        })
    }

    async fn delete(&mut self, id: ConversationId) -> Result<bool> {
        self.write(|tables| {
            tables.shared.retain(|(conversation, _)| *conversation != id);
            Ok(tables.conversations.remove(&id).is_some())
        })
    }

    async fn share(&mut self, id: ConversationId, collections: &BTreeSet<CollectionId>) -> Result<()> {
        self.write(|tables| {
            if !tables.conversations.contains_key(&id)
                || !collections.iter().all(|collection| tables.collections.contains_key(collection))
            {
                return Err(violation("the conversation or a collection does not exist"));
            }
            tables.shared.retain(|(conversation, _)| *conversation != id);
            tables.shared.extend(collections.iter().map(|collection| (id, *collection)));
            Ok(())
        })
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

    async fn replace_from(&mut self, id: ConversationId, ordinal: u32, at: DateTime<Utc>) -> Result<()> {
        self.write(|tables| {
            let messages = tables.conversations.get_mut(&id).map(|(_, messages)| messages);
            for message in messages.into_iter().flatten().filter(|message| message.ordinal >= ordinal) {
                message.replaced_at.get_or_insert(at);
            }
            Ok(())
        })
    }

    async fn set_feedback(
        &mut self,
        conversation: ConversationId,
        answer: MessageId,
        given: Option<&Feedback>,
    ) -> Result<bool> {
        self.write(|tables| {
            let Some((_, messages)) = tables.conversations.get_mut(&conversation) else { return Ok(false) };
            let found = messages.iter_mut().find(|message| message.id == answer);
            let Some(MessageRole::Agent { feedback, .. }) = found.map(|message| &mut message.role) else {
                return Ok(false);
            };
            *feedback = given.cloned();
            Ok(true)
        })
    }
}
