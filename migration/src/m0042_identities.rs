//! Identities of accounts at identity providers, and the sign-ins there by which sessions began.

use crate::change::Change;
use crate::table::{flag, id, instant, table};
use sea_orm_migration::schema::{string_len, string_len_null, text_null};

pub(crate) fn changes() -> Vec<Change> {
    let identities = table("identities")
        .columns([
            string_len("issuer", 500),
            string_len("subject", 255),
            id("user_id"),
            string_len_null("email", 254),
            instant("created_at"),
            instant("last_used_at"),
        ])
        .primary_key(&["issuer", "subject"])
        .owned_by("user_id", "users")
        .index("identities_user_id_idx", &["user_id"]);
    let sessions = table("provider_sessions")
        .columns([
            id("session_id").primary_key().take(),
            string_len("issuer", 500),
            string_len("subject", 255),
            string_len_null("provider_session", 255),
            flag("has_second_factor", false),
            text_null("id_token"),
        ])
        .owned_by("session_id", "sessions")
        .index("provider_sessions_issuer_subject_idx", &["issuer", "subject"])
        .index("provider_sessions_issuer_provider_session_idx", &["issuer", "provider_session"]);
    vec![Change::CreateTable(identities), Change::CreateTable(sessions)]
}
