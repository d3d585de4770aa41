//! API keys, sessions and verification tokens.

use crate::change::Change;
use crate::table::{NewTable, id, instant, instant_null, primary_id, table};
use sea_orm_migration::schema::{binary_len, string_len, string_len_null};

pub(crate) fn changes() -> Vec<Change> {
    vec![
        Change::CreateTable(api_keys()),
        Change::CreateTable(sessions()),
        Change::CreateTable(verification_tokens()),
    ]
}

fn api_keys() -> NewTable {
    table("api_keys")
        .columns([
            primary_id(),
            id("user_id"),
            string_len("name", 100),
            string_len("prefix", 12),
            binary_len("sha256", 32),
            // Names with spaces between them.
            string_len("scopes", 100),
            instant("created_at"),
            instant_null("expires_at"),
            instant_null("last_used_at"),
            instant_null("revoked_at"),
        ])
        .owned_by("user_id", "users")
        .unique("api_keys_prefix_key", &["prefix"])
        .index("api_keys_user_id_idx", &["user_id"])
        .index("api_keys_created_at_idx", &["created_at", "id"])
}

fn sessions() -> NewTable {
    table("sessions")
        .columns([
            primary_id(),
            id("user_id"),
            string_len("kind", 10),
            string_len_null("address", 45),
            string_len_null("agent", 300),
            instant("started_at"),
            instant("last_used_at"),
            instant("expires_at"),
            instant_null("revoked_at"),
        ])
        .check("kind IN ('api', 'panel')")
        .owned_by("user_id", "users")
        .index("sessions_user_id_idx", &["user_id"])
        .index("sessions_last_used_at_idx", &["last_used_at", "id"])
        // For the purge of expired sessions.
        .index("sessions_expires_at_idx", &["expires_at"])
}

fn verification_tokens() -> NewTable {
    table("verification_tokens")
        .columns([
            primary_id(),
            id("user_id"),
            string_len("purpose", 20),
            binary_len("sha256", 32),
            instant("created_at"),
            instant("expires_at"),
        ])
        .owned_by("user_id", "users")
        // One token per account and purpose.
        .unique("verification_tokens_user_id_purpose_key", &["user_id", "purpose"])
        .unique("verification_tokens_sha256_key", &["sha256"])
        .index("verification_tokens_expires_at_idx", &["expires_at"])
}
