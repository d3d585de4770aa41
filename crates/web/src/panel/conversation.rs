//! `GET /admin/conversations/{id}` and `POST /admin/conversations/{id}/delete`

use super::document_chunks::pages;
use super::documents::email;
use super::form::OwnForm;
use super::listing::{PageNumber, Paging};
use super::nav::ROOT;
use super::page::{self, PageResult, id_of};
use super::session::Staff;
use super::times::Time;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::conversations as use_case;
use docent_domain::access::{DeleteConversations, ViewConversations, ViewDocuments};
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::ScoredChunk;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ConversationPage {
    id: String,
    conversation_title: String,
    owner: String,
    created: Time,
    updated: Time,
    messages: Vec<MessageView>,
    paging: Paging,
    may_delete: bool,
    may_view_documents: bool,
}

#[derive(Serialize)]
struct MessageView {
    /// Name of the agent; none for the owner's messages.
    agent: Option<String>,
    content: String,
    at: Time,
    sources: Vec<SourceView>,
    prompt: u64,
    completion: u64,
    is_complete: bool,
}

#[derive(Serialize)]
struct SourceView {
    document: String,
    title: String,
    pages: String,
    text: String,
}

impl From<&ScoredChunk> for SourceView {
    fn from(chunk: &ScoredChunk) -> Self {
        Self {
            document: chunk.document_id.to_string(),
            title: chunk.title.clone(),
            pages: pages(chunk.span.start.page, chunk.span.end.page),
            text: chunk.text.clone(),
        }
    }
}

impl MessageView {
    fn of(message: &ConversationMessage, now: DateTime<Utc>) -> Self {
        let question = Self {
            agent: None,
            content: message.content.clone(),
            at: Time::of(message.at, now),
            sources: Vec::new(),
            prompt: 0,
            completion: 0,
            is_complete: true,
        };
        match &message.role {
            MessageRole::User => question,
            MessageRole::Agent { name, sources, tokens, is_complete } => Self {
                agent: Some(name.as_str().to_owned()),
                sources: sources.iter().map(SourceView::from).collect(),
                prompt: tokens.prompt,
                completion: tokens.completion,
                is_complete: *is_complete,
                ..question
            },
        }
    }
}

pub(super) async fn conversation(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewConversations>()?;
    let (id, number, app) = (id_of(RecordKind::Conversation, &id)?, PageNumber::of(&query), &context.app);
    let (conversation, found) = use_case::read(app, grant, id, number.page()).await?;
    let (emails, now) = (users::emails(app, &[conversation.owner]).await?, app.now());
    let path = format!("{ROOT}/conversations/{id}");
    let page = ConversationPage {
        id: id.to_string(),
        conversation_title: conversation.title.as_str().to_owned(),
        owner: email(&emails, conversation.owner),
        created: Time::of(conversation.created_at, now),
        updated: Time::of(conversation.updated_at, now),
        messages: found.records.iter().map(|message| MessageView::of(message, now)).collect(),
        paging: Paging::of(number, found.records.len(), found.total, &path, &[]),
        may_delete: staff.can::<DeleteConversations>(),
        may_view_documents: staff.can::<ViewDocuments>(),
    };
    staff.show(&context, "conversations", page)
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewConversations>()?;
    let (grant, id) = (staff.authorize::<DeleteConversations>()?, id_of(RecordKind::Conversation, &id)?);
    use_case::delete(&context.app, grant, id).await?;
    staff.notify("The conversation was deleted.")?;
    Ok(page::see_other(&format!("{ROOT}/conversations")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConversationPage {
        fn samples() -> Vec<Self> {
            let source = || SourceView {
                document: "1".to_owned(),
                title: "Terms".to_owned(),
                pages: pages(3, 4),
                text: "Passage".to_owned(),
            };
            let question = || MessageView {
                agent: None,
                content: "Question".to_owned(),
                at: Time::sample(),
                sources: Vec::new(),
                prompt: 0,
                completion: 0,
                is_complete: true,
            };
            let answer = |content: &str| MessageView {
                agent: Some("agent".to_owned()),
                content: content.to_owned(),
                sources: vec![source()],
                prompt: 1,
                completion: 2,
                is_complete: false,
                ..question()
            };
            let page = |messages, is_allowed| Self {
                id: "1".to_owned(),
                conversation_title: "Title".to_owned(),
                owner: "owner@example.com".to_owned(),
                created: Time::sample(),
                updated: Time::sample(),
                messages,
                paging: Paging::sample(),
                may_delete: is_allowed,
                may_view_documents: is_allowed,
            };
            let messages = || vec![question(), answer("Answer"), answer("")];
            vec![page(messages(), true), page(messages(), false), page(Vec::new(), true)]
        }
    }
}
