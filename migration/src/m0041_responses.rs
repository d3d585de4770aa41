//! Stored responses of the OpenAI API.

use crate::change::Change;
use crate::table::{id, id_null, instant, primary_id, table};
use sea_orm_migration::schema::text;

pub(crate) fn changes() -> Vec<Change> {
    let responses = table("responses")
        .columns([
            primary_id(),
            id("owner_id"),
            id_null("limited_key_id"),
            // The response that it continues, which can have been deleted.
            id_null("previous_id"),
            text("content"),
            instant("created_at"),
        ])
        .owned_by("owner_id", "users")
        .index("responses_owner_id_idx", &["owner_id"]);
    vec![Change::CreateTable(responses)]
}
