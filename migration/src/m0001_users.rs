//! Accounts.

use crate::columns::{id, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{boolean, string_len, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let users = Table::create()
            .table("users")
            .col(id("id").primary_key())
            // In lower case, which makes the unique index one without regard to case.
            .col(string_len("email", 320))
            .col(text("password_hash"))
            .col(boolean("is_active").default(true))
            .col(boolean("is_staff").default(false))
            .col(boolean("is_superuser").default(false))
            .col(instant("created_at"))
            .col(instant_null("last_login_at"))
            .take();
        manager.create_table(users).await?;
        let email = Index::create().name("users_email_key").table("users").col("email").unique().take();
        manager.create_index(email).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("users").take()).await
    }
}
