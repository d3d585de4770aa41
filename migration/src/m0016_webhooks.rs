//! Webhooks and their deliveries.

use crate::change::Change;
use crate::table::{NewTable, count, id, id_null, instant, instant_null, primary_id, table};
use sea_orm_migration::schema::{
    big_integer_null, binary_len, binary_len_null, boolean, string_len, text, text_null,
};

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::CreateTable(webhooks()), Change::CreateTable(deliveries())]
}

fn webhooks() -> NewTable {
    table("webhooks")
        .columns([
            primary_id(),
            id("owner_id"),
            string_len("url", 2000),
            string_len("description", 200),
            // Names with spaces between them.
            string_len("events", 200),
            boolean("all_documents"),
            boolean("is_active"),
            binary_len("secret", 32),
            binary_len_null("previous_secret", 32),
            instant_null("previous_until"),
            instant("created_at"),
            instant("updated_at"),
            // The lease of the process that delivers to it, and its end; afterwards the time of the last delivery.
            id_null("lease_id"),
            count("held_until"),
        ])
        .owned_by("owner_id", "users")
        .index("webhooks_owner_id_idx", &["owner_id", "created_at", "id"])
        .index("webhooks_created_at_idx", &["created_at", "id"])
}

/// No foreign key to documents: deliveries outlive them.
fn deliveries() -> NewTable {
    table("webhook_deliveries")
        .columns([
            primary_id(),
            id("webhook_id"),
            string_len("event", 50),
            id_null("document_id"),
            text("body"),
            string_len("state", 10),
            // The next attempt; null once it succeeded or failed.
            instant_null("due_at"),
            count("attempts"),
            big_integer_null("last_status"),
            text_null("last_error"),
            instant("created_at"),
            instant("updated_at"),
        ])
        .check("state IN ('pending', 'delivered', 'failed')")
        .owned_by("webhook_id", "webhooks")
        // The log of a webhook.
        .index("webhook_deliveries_webhook_id_idx", &["webhook_id", "created_at", "id"])
        // Due deliveries of a webhook, and of all.
        .index("webhook_deliveries_webhook_due_idx", &["webhook_id", "due_at"])
        .index("webhook_deliveries_due_at_idx", &["due_at"])
        // For the purge of old deliveries.
        .index("webhook_deliveries_updated_at_idx", &["updated_at"])
}
