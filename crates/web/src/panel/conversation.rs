//! `GET /admin/conversations/{id}` and `POST /admin/conversations/{id}/delete`

use super::document_chunks::place;
use super::documents::email;
use super::nav::ROOT;
use crate::language::{self, t};
use crate::paging::{PageNumber, Paging};
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::session::Staff;
use crate::times::{Time, size};
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::conversations::{self as use_case, StaffMessage};
use docent_app::scope;
use docent_domain::access::{DeleteConversations, ViewConversations, ViewDocuments};
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::feedback::{Feedback, FeedbackReason, Rating};
use docent_domain::id::DocumentId;
use docent_domain::listing::PageRequest;
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashSet;

#[derive(Serialize)]
pub(super) struct ConversationPage {
    id: String,
    conversation_title: String,
    owner: String,
    created: Time,
    updated: Time,
    /// Names of the collections that it is shared with, separated by commas.
    shared_with: String,
    messages: Vec<MessageView>,
    paging: Paging,
    /// Whether the page shows one large message.
    is_single: bool,
    may_delete: bool,
    may_view_documents: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageView {
    Shown(ShownMessage),
    TooLarge { too_large: String, href: String },
}

#[derive(Serialize)]
struct ShownMessage {
    /// Always none: the template tells the two kinds of messages apart by this value.
    too_large: Option<&'static str>,
    /// Position in the conversation, counted from 0.
    position: u32,
    /// Name of the agent; none for the owner's messages.
    agent: Option<String>,
    content: String,
    at: Time,
    sources: Vec<SourceView>,
    prompt: u64,
    completion: u64,
    is_complete: bool,
    is_declined: bool,
    is_fallback: bool,
    feedback: Option<FeedbackView>,
}

/// Feedback of the owner.
#[derive(Serialize)]
pub(super) struct FeedbackView {
    is_up: bool,
    reason: Option<String>,
    comment: Option<String>,
}

impl From<&Feedback> for FeedbackView {
    fn from(feedback: &Feedback) -> Self {
        Self {
            is_up: feedback.rating == Rating::Up,
            reason: feedback.rating.reason().map(reason),
            comment: feedback.comment.as_ref().map(|comment| comment.as_str().to_owned()),
        }
    }
}

/// What was wrong with an answer.
fn reason(reason: FeedbackReason) -> String {
    language::named("reason-", &reason.name().replace('_', "-"))
}

#[derive(Serialize)]
struct SourceView {
    document: String,
    title: String,
    pages: String,
    /// None if the document was deleted or the staff account may not read it.
    text: Option<String>,
    /// Whether it was recognised on an image of a page.
    is_recognized: bool,
}

impl SourceView {
    fn of(chunk: &ScoredChunk, withheld: &HashSet<DocumentId>) -> Self {
        Self {
            document: chunk.document_id.to_string(),
            title: chunk.title.clone(),
            pages: place(chunk),
            text: (!withheld.contains(&chunk.document_id)).then(|| chunk.text.clone()),
            is_recognized: chunk.recognized,
        }
    }
}

impl MessageView {
    /// `path` is that of the conversation's page.
    fn of(message: &StaffMessage, withheld: &HashSet<DocumentId>, path: &str, now: DateTime<Utc>) -> Self {
        match message {
            StaffMessage::Shown(message) => Self::Shown(ShownMessage::of(message, withheld, now)),
            StaffMessage::TooLarge { position, bytes } => {
                Self::TooLarge { too_large: size(*bytes), href: format!("{path}?message={position}") }
            }
        }
    }
}

impl ShownMessage {
    fn of(message: &ConversationMessage, withheld: &HashSet<DocumentId>, now: DateTime<Utc>) -> Self {
        let question = Self {
            too_large: None,
            position: message.ordinal,
            agent: None,
            content: message.content.clone(),
            at: Time::of(message.at, now),
            sources: Vec::new(),
            prompt: 0,
            completion: 0,
            is_complete: true,
            is_declined: false,
            is_fallback: false,
            feedback: None,
        };
        match &message.role {
            MessageRole::User => question,
            MessageRole::Agent {
                name,
                sources,
                tokens,
                is_complete,
                is_declined,
                fallback,
                feedback,
                best_score: _,
            } => Self {
                agent: Some(name.as_str().to_owned()),
                sources: sources.iter().map(|source| SourceView::of(source, withheld)).collect(),
                prompt: tokens.prompt,
                completion: tokens.completion,
                is_complete: *is_complete,
                is_declined: *is_declined,
                is_fallback: fallback.is_some(),
                feedback: feedback.as_ref().map(FeedbackView::from),
                ..question
            },
        }
    }
}

pub(super) async fn conversation(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewConversations>()?;
    let (id, number, app) = (id_of(RecordKind::Conversation, &id)?, PageNumber::of(&query), &context.app);
    let single: Option<u32> = query.text("message").and_then(|position| position.parse().ok());
    let requested = match single {
        Some(position) => PageRequest { offset: position.into(), limit: 1 },
        None => number.page(),
    };
    let scope = match staff.authorize::<ViewDocuments>() {
        Ok(grant) => Scope::everything(grant),
        Err(_) => scope::load(app, &staff.actor).await?,
    };
    let (read, withheld) = use_case::read(app, grant, &scope, id, requested, single.is_some()).await?;
    let shared_with = use_case::names_of_collections(app, grant, id).await?.join(", ");
    let (conversation, found) = (&read.conversation, &read.messages);
    let (emails, now) = (users::emails(app, &[conversation.owner]).await?, app.now());
    let path = format!("{ROOT}/conversations/{id}");
    let page = ConversationPage {
        id: id.to_string(),
        conversation_title: conversation.title.as_str().to_owned(),
        owner: email(&emails, conversation.owner),
        created: Time::of(conversation.created_at, now),
        updated: Time::of(conversation.updated_at, now),
        shared_with,
        messages: found
            .records
            .iter()
            .map(|message| MessageView::of(message, &withheld, &path, now))
            .collect(),
        paging: Paging::of(number, found.records.len(), found.total, &path, &[]),
        is_single: single.is_some(),
        may_delete: staff.can::<DeleteConversations>(),
        may_view_documents: staff.can::<ViewDocuments>(),
    };
    staff.show(&context, "conversations", page)
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewConversations>()?;
    let (grant, id) = (staff.authorize::<DeleteConversations>()?, id_of(RecordKind::Conversation, &id)?);
    use_case::delete(&context.app, grant, id).await?;
    staff.notify(t!("conversation-deleted"))?;
    Ok(page::see_other(&format!("{ROOT}/conversations")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl FeedbackView {
        pub(crate) fn sample(is_up: bool) -> Self {
            let text = |text: &str| (!is_up).then(|| text.to_owned());
            Self { is_up, reason: text("Incomplete"), comment: text("Comment") }
        }
    }

    impl Samples for ConversationPage {
        fn samples() -> Vec<Self> {
            let source = || SourceView {
                document: "1".to_owned(),
                title: "Terms".to_owned(),
                pages: "pages 3–4".to_owned(),
                text: Some("Passage".to_owned()),
                is_recognized: true,
            };
            let withheld = || SourceView { text: None, ..source() };
            let question = || ShownMessage {
                too_large: None,
                position: 0,
                agent: None,
                content: "Question".to_owned(),
                at: Time::sample(),
                sources: Vec::new(),
                prompt: 0,
                completion: 0,
                is_complete: true,
                is_declined: false,
                is_fallback: false,
                feedback: None,
            };
            let answer = |content: &str| ShownMessage {
                agent: Some("agent".to_owned()),
                content: content.to_owned(),
                sources: vec![source(), withheld()],
                prompt: 1,
                completion: 2,
                is_complete: false,
                is_declined: content.is_empty(),
                is_fallback: content.is_empty(),
                feedback: Some(FeedbackView::sample(content.is_empty())),
                ..question()
            };
            let page = |messages, is_allowed: bool| Self {
                id: "1".to_owned(),
                conversation_title: "Title".to_owned(),
                owner: "owner@example.com".to_owned(),
                created: Time::sample(),
                updated: Time::sample(),
                shared_with: if is_allowed { "Team".to_owned() } else { String::new() },
                messages,
                paging: Paging::sample(),
                is_single: !is_allowed,
                may_delete: is_allowed,
                may_view_documents: is_allowed,
            };
            let large =
                || MessageView::TooLarge { too_large: "4 MB".to_owned(), href: "?message=1".to_owned() };
            let shown = || [question(), answer("Answer"), answer("")].map(MessageView::Shown);
            let messages = || shown().into_iter().chain([large()]).collect::<Vec<_>>();
            vec![page(messages(), true), page(messages(), false), page(Vec::new(), true)]
        }
    }
}
