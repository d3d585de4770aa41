//! OAuth clients, authorization codes, and applications that accounts have connected.

use crate::change::Change;
use crate::table::{NewTable, id, id_null, instant, instant_null, primary_id, table};
use sea_orm_migration::schema::{binary_len, string_len, string_len_null, text, text_null};

pub(crate) fn changes() -> Vec<Change> {
    let add = |column| Change::AddColumn { table: "api_keys", column };
    vec![
        // The client of a connected application, and its refresh token; null for other keys.
        add(string_len_null("client", 2000)),
        add(string_len_null("resource", 10)),
        add(id_null("refresh_token")),
        add(id_null("replaced_token")),
        add(instant_null("refreshed_at")),
        Change::CreateTable(clients()),
        Change::CreateTable(codes()),
    ]
}

fn clients() -> NewTable {
    table("oauth_clients")
        .columns([
            primary_id(),
            string_len("name", 100),
            // JSON array.
            text("redirect_uris"),
            instant("created_at"),
            instant_null("last_used_at"),
        ])
        // For the purge.
        .index("oauth_clients_last_used_at_idx", &["last_used_at", "created_at"])
}

fn codes() -> NewTable {
    table("oauth_codes")
        .columns([
            primary_id(),
            binary_len("sha256", 32),
            id("user_id"),
            string_len("client", 2000),
            string_len("name", 100),
            string_len("redirect_uri", 2000),
            string_len("challenge", 43),
            string_len("resource", 10),
            string_len("scopes", 100),
            // JSON array of IDs; null for all.
            text_null("collections"),
            id("api_key_id"),
            instant("created_at"),
            instant("expires_at"),
            instant_null("used_at"),
        ])
        .owned_by("user_id", "users")
        .unique("oauth_codes_sha256_key", &["sha256"])
        .index("oauth_codes_user_id_idx", &["user_id"])
        .index("oauth_codes_expires_at_idx", &["expires_at"])
}
