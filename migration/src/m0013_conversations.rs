//! Conversations and their messages, and an index of usage by time.

use crate::change::Change;
use crate::table::{NewTable, count, flag, id, index, instant, primary_id, table};
use sea_orm_migration::schema::{json_binary, string_len, string_len_null, text};

pub(crate) fn changes() -> Vec<Change> {
    let usage_by_time = index("usage_records_recorded_at_idx", "usage_records", &["recorded_at"]);
    vec![
        Change::CreateTable(conversations()),
        Change::CreateTable(messages()),
        Change::CreateIndex(usage_by_time),
    ]
}

fn conversations() -> NewTable {
    table("conversations")
        .columns([
            primary_id(),
            id("owner_id"),
            string_len("title", 200),
            instant("created_at"),
            instant("updated_at"),
        ])
        .owned_by("owner_id", "users")
        .index("conversations_owner_id_idx", &["owner_id", "updated_at", "id"])
        .index("conversations_updated_at_idx", &["updated_at", "id"])
}

fn messages() -> NewTable {
    table("messages")
        .columns([
            primary_id(),
            id("conversation_id"),
            count("ordinal"),
            // The agent, or null for a message of the owner.
            string_len_null("agent", 64),
            text("content"),
            json_binary("sources"),
            count("prompt_tokens"),
            count("completion_tokens"),
            flag("is_complete", true),
            instant("created_at"),
        ])
        .owned_by("conversation_id", "conversations")
        .unique("messages_conversation_id_ordinal_key", &["conversation_id", "ordinal"])
}
