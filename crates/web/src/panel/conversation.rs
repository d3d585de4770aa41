//! `GET /admin/conversations/{id}` and `POST /admin/conversations/{id}/delete`

use super::{
    document_chunks::pages,
    documents::email,
    form::OwnForm,
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, Broken, id_of},
    session::Staff,
    times::Time,
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use chrono::{DateTime, Utc};
use docent_app::{accounts::users, conversations as use_case};
use docent_domain::{
    access::{DeleteConversations, ViewConversations, ViewDocuments},
    conversation::{ConversationMessage, MessageRole},
    permission::RecordKind,
    retrieval::ScoredChunk,
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

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
        let said = Self {
            agent: None,
            content: message.content.clone(),
            at: Time::of(message.at, now),
            sources: Vec::new(),
            prompt: 0,
            completion: 0,
            is_complete: true,
        };
        match &message.role {
            MessageRole::User => said,
            MessageRole::Agent { name, sources, tokens, is_complete } => Self {
                agent: Some(name.as_str().to_owned()),
                sources: sources.iter().map(SourceView::from).collect(),
                prompt: tokens.prompt,
                completion: tokens.completion,
                is_complete: *is_complete,
                ..said
            },
        }
    }
}

pub(super) async fn conversation(
    staff: Staff,
    context: State,
    id: Path<String>,
    query: Query,
) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewConversations>()?;
    let (id, number, app) = (id_of(RecordKind::Conversation, &id)?, PageNumber::of(&query), &context.app);
    let (conversation, found) = use_case::read(app, grant, id, number.page()).await?;
    let (emails, now) = (users::emails(app, &[conversation.owner]).await?, app.now());
    let messages: Vec<_> = found.records.iter().map(|message| MessageView::of(message, now)).collect();

    let mut values = staff.page("conversations");
    let path = format!("{ROOT}/conversations/{id}");
    values.insert("paging", &Paging::of(number, messages.len(), found.total, &path, &[]));
    values.insert("id", &id.to_string());
    values.insert("conversation_title", conversation.title.as_str());
    values.insert("owner", &email(&emails, conversation.owner));
    values.insert("created", &Time::of(conversation.created_at, now));
    values.insert("updated", &Time::of(conversation.updated_at, now));
    values.insert("messages", &messages);
    values.insert("may_delete", &staff.authorize::<DeleteConversations>().is_ok());
    values.insert("may_view_documents", &staff.authorize::<ViewDocuments>().is_ok());
    page::show(&context, StatusCode::OK, "conversation.html", &values)
}

pub(super) async fn delete(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(_): OwnForm,
) -> Result<HttpResponse, Broken> {
    staff.authorize::<ViewConversations>()?;
    use_case::delete(
        &context.app,
        staff.authorize::<DeleteConversations>()?,
        id_of(RecordKind::Conversation, &id)?,
    )
    .await?;
    staff.say("The conversation was deleted.")?;
    Ok(page::see_other(&format!("{ROOT}/conversations")))
}
