//! Refresh tokens, for installations without Redis.

use crate::change::Change;
use crate::table::{id, instant, instant_null, primary_id, table};

pub(crate) fn changes() -> Vec<Change> {
    // No foreign key to users: the store of tokens is separate from that of accounts.
    let families = table("refresh_families")
        .columns([
            primary_id(),
            id("user_id"),
            // When its last token expires.
            instant("expires_at"),
        ])
        .index("refresh_families_user_id_idx", &["user_id"])
        .index("refresh_families_expires_at_idx", &["expires_at"]);
    let tokens = table("refresh_tokens")
        .columns([
            id("family_id"),
            id("id"),
            instant("expires_at"),
            // When it got its first successor.
            instant_null("replaced_at"),
        ])
        .primary_key(&["family_id", "id"])
        .owned_by("family_id", "refresh_families")
        .index("refresh_tokens_expires_at_idx", &["family_id", "expires_at"]);
    vec![Change::CreateTable(families), Change::CreateTable(tokens)]
}
