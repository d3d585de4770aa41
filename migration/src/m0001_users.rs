//! Accounts.

use crate::change::Change;
use crate::table::{flag, instant, instant_null, primary_id, table};
use sea_orm_migration::schema::{string_len, text};

pub(crate) fn changes() -> Vec<Change> {
    let users = table("users")
        .columns([
            primary_id(),
            // In lower case, so that the unique index ignores case.
            string_len("email", 320),
            text("password_hash"),
            flag("is_active", true),
            flag("is_staff", false),
            flag("is_superuser", false),
            instant("created_at"),
            instant_null("last_login_at"),
        ])
        .unique("users_email_key", &["email"]);
    vec![Change::CreateTable(users)]
}
