//! Accounts.

use crate::steps::{create, drop_tables, id, in_transaction, index, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{boolean, string_len, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let users = Table::create()
            .table("users")
            .col(id("id").primary_key())
            // In lower case, so that the unique index ignores case.
            .col(string_len("email", 320))
            .col(text("password_hash"))
            .col(boolean("is_active").default(true))
            .col(boolean("is_staff").default(false))
            .col(boolean("is_superuser").default(false))
            .col(instant("created_at"))
            .col(instant_null("last_login_at"))
            .take();
        create(manager, [users], [index("users_email_key", "users", &["email"]).unique().take()]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["users"]).await
    }
}
