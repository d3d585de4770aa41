//! Webhooks and their deliveries.

use crate::steps::{
    count, create, drop_tables, id, id_null, in_transaction, index, instant, instant_null, owned_by,
};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer_null, binary_len, binary_len_null, boolean, string_len, text, text_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [webhooks(), deliveries()], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["webhook_deliveries", "webhooks"]).await
    }
}

fn webhooks() -> TableCreateStatement {
    Table::create()
        .table("webhooks")
        .col(id("id").primary_key())
        .col(id("owner_id"))
        .col(string_len("url", 2000))
        .col(string_len("description", 200))
        // Names with spaces between them.
        .col(string_len("events", 200))
        .col(boolean("all_documents"))
        .col(boolean("is_active"))
        .col(binary_len("secret", 32))
        .col(binary_len_null("previous_secret", 32))
        .col(instant_null("previous_until"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        // The lease of the process that delivers to it, and its end; afterwards the time of the last delivery.
        .col(id_null("lease_id"))
        .col(count("held_until"))
        .foreign_key(&mut owned_by("webhooks", "owner_id", "users"))
        .take()
}

/// No foreign key to documents: deliveries outlive them.
fn deliveries() -> TableCreateStatement {
    Table::create()
        .table("webhook_deliveries")
        .col(id("id").primary_key())
        .col(id("webhook_id"))
        .col(string_len("event", 50))
        .col(id_null("document_id"))
        .col(text("body"))
        .col(string_len("state", 10))
        // The next attempt; null once it succeeded or failed.
        .col(instant_null("due_at"))
        .col(count("attempts"))
        .col(big_integer_null("last_status"))
        .col(text_null("last_error"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .check(Expr::cust("state IN ('pending', 'delivered', 'failed')"))
        .foreign_key(&mut owned_by("webhook_deliveries", "webhook_id", "webhooks"))
        .take()
}

fn indexes() -> [IndexCreateStatement; 6] {
    [
        index("webhooks_owner_id_idx", "webhooks", &["owner_id", "created_at", "id"]),
        index("webhooks_created_at_idx", "webhooks", &["created_at", "id"]),
        // The log of a webhook.
        index("webhook_deliveries_webhook_id_idx", "webhook_deliveries", &["webhook_id", "created_at", "id"]),
        // Due deliveries of a webhook, and of all.
        index("webhook_deliveries_webhook_due_idx", "webhook_deliveries", &["webhook_id", "due_at"]),
        index("webhook_deliveries_due_at_idx", "webhook_deliveries", &["due_at"]),
        // For the purge of old deliveries.
        index("webhook_deliveries_updated_at_idx", "webhook_deliveries", &["updated_at"]),
    ]
}
