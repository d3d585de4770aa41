//! An account's own conversations.

pub(crate) mod begin;
pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod rename;

use crate::extract::{json::Fields, query::Query};
use chrono::{DateTime, SecondsFormat, Utc};
use docent_domain::conversation::{Conversation, ConversationTitle};
use serde::Serialize;

/// The largest page of a list.
const LIMIT_MAX: u64 = 1000;

/// A conversation, without what was said in it.
#[derive(Serialize)]
pub(crate) struct ConversationResponse<'a> {
    id: String,
    title: &'a str,
    created_at: String,
    updated_at: String,
}

impl<'a> From<&'a Conversation> for ConversationResponse<'a> {
    fn from(conversation: &'a Conversation) -> Self {
        Self {
            id: conversation.id.to_string(),
            title: conversation.title.as_str(),
            created_at: instant(conversation.created_at),
            updated_at: instant(conversation.updated_at),
        }
    }
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Reads `limit`.
fn limit(query: &mut Query, standard: u64) -> u64 {
    let limit = query.parse("limit", "must be a whole number from 1 to 1000", |text| {
        text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit))
    });
    limit.unwrap_or(standard)
}

/// Reads a title that somebody chose.
fn title(body: &mut Fields, text: Option<String>) -> Option<ConversationTitle> {
    body.parse("title", text, ConversationTitle::parse)
}

/// Where the next page is, for `Link`.
fn next_link(path: &str, limit: u64, cursor: &str) -> String {
    format!("<{path}?limit={limit}&cursor={cursor}>; rel=\"next\"")
}
