//! Webhooks and what is delivered to them.

use crate::{
    columns::{count, id, id_null, instant, instant_null},
    m0010_access::owned_by,
};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer_null, binary_len, binary_len_null, boolean, string_len, text, text_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(webhooks()).await?;
        manager.create_table(deliveries()).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("webhook_deliveries").take()).await?;
        manager.drop_table(Table::drop().table("webhooks").take()).await
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
        // Who tells it something at present, and until when; after that, when it was last told something.
        .col(id_null("lease_id"))
        .col(count("held_until"))
        .foreign_key(&mut owned_by("webhooks", "owner_id", "users"))
        .take()
}

/// No foreign key to documents: what was told stays on record when the document is gone.
fn deliveries() -> TableCreateStatement {
    Table::create()
        .table("webhook_deliveries")
        .col(id("id").primary_key())
        .col(id("webhook_id"))
        .col(string_len("event", 50))
        .col(id_null("document_id"))
        .col(text("body"))
        .col(string_len("state", 10))
        // When it is to be tried next; none when it is over.
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
    let index = |name: &'static str, table: &'static str| Index::create().name(name).table(table).take();
    let deliveries = |name| index(name, "webhook_deliveries");
    [
        index("webhooks_owner_id_idx", "webhooks").col("owner_id").col("created_at").col("id").take(),
        index("webhooks_created_at_idx", "webhooks").col("created_at").col("id").take(),
        // The log of a webhook.
        deliveries("webhook_deliveries_webhook_id_idx").col("webhook_id").col("created_at").col("id").take(),
        // What of a webhook is due, and what is due at all.
        deliveries("webhook_deliveries_webhook_due_idx").col("webhook_id").col("due_at").take(),
        deliveries("webhook_deliveries_due_at_idx").col("due_at").take(),
        // What is past its time.
        deliveries("webhook_deliveries_updated_at_idx").col("updated_at").take(),
    ]
}
