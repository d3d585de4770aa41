//! `GET /conversations/{id}`

use super::{ConversationResponse, instant, limit, next_link};
use crate::{
    api::Reply,
    context::State,
    extract::{self, granted::Granted, query::Query},
    sse::Source,
};
use actix_web::{HttpResponse, http::header, web::Path};
use docent_app::{conversations::own, listing::Page};
use docent_domain::{
    access::Chat,
    conversation::{ConversationMessage, MessageAuthor},
    usage::TokenUsage,
};
use serde::Serialize;

/// Messages on a page, when nobody says how many.
const LIMIT: u64 = 200;

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    conversation: ConversationResponse<'a>,
    messages: Vec<MessageResponse<'a>>,
}

#[derive(Serialize)]
struct MessageResponse<'a> {
    id: String,
    role: &'static str,
    content: &'a str,
    created_at: String,
    #[serde(flatten)]
    answer: Option<AnswerResponse<'a>>,
}

/// What there is to say of an answer alone.
#[derive(Serialize)]
struct AnswerResponse<'a> {
    agent: &'a str,
    complete: bool,
    sources: Vec<Source<'a>>,
    usage: UsageResponse,
}

#[derive(Serialize)]
struct UsageResponse {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl From<TokenUsage> for UsageResponse {
    fn from(tokens: TokenUsage) -> Self {
        Self { prompt_tokens: tokens.prompt, completion_tokens: tokens.completion }
    }
}

impl<'a> From<&'a ConversationMessage> for MessageResponse<'a> {
    fn from(message: &'a ConversationMessage) -> Self {
        let (role, answer) = match &message.author {
            MessageAuthor::User => ("user", None),
            MessageAuthor::Agent { name, sources, tokens, is_complete } => {
                let answer = AnswerResponse {
                    agent: name.as_str(),
                    complete: *is_complete,
                    sources: sources.iter().map(Source::from).collect(),
                    usage: UsageResponse::from(*tokens),
                };
                ("assistant", Some(answer))
            }
        };
        let (id, content) = (message.id.to_string(), message.content.as_str());
        Self { id, role, content, created_at: instant(message.at), answer }
    }
}

pub(crate) async fn read(by: Granted<Chat>, context: State, id: Path<String>, mut query: Query) -> Reply {
    let id = extract::id("id", &id)?;
    let limit = limit(&mut query, LIMIT);
    // The cursor is the place of the first message of the page.
    let cursor = query.parse("cursor", "is not a cursor of this list", |text| text.parse::<u32>().ok());
    query.done()?;
    let offset = u64::from(cursor.unwrap_or(0));
    let (conversation, found) = own::read(&context.app, &by.grant, id, Page { offset, limit }).await?;

    let mut response = HttpResponse::Ok();
    let next = offset + found.records.len() as u64;
    if next < found.total && !found.records.is_empty() {
        let link = next_link(&format!("/conversations/{id}"), limit, &next.to_string());
        response.insert_header((header::LINK, link)).insert_header(("X-Next-Cursor", next.to_string()));
    }
    let messages = found.records.iter().map(MessageResponse::from).collect();
    Ok(response.json(Whole { conversation: ConversationResponse::from(&conversation), messages }))
}
