//! The usage ledger.

use crate::change::Change;
use crate::table::{count, id, id_null, instant, primary_id, table};
use sea_orm_migration::schema::{string_len, text};

pub(crate) fn changes() -> Vec<Change> {
    // No foreign keys: records outlive the account, key and conversation.
    let usage = table("usage_records")
        .columns([
            primary_id(),
            id("user_id"),
            id_null("api_key_id"),
            id_null("conversation_id"),
            string_len("agent", 64),
            text("model"),
            count("prompt_tokens"),
            count("completion_tokens"),
            instant("recorded_at"),
        ])
        .index("usage_records_user_id_idx", &["user_id", "recorded_at"]);
    vec![Change::CreateTable(usage)]
}
