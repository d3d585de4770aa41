//! Who created an API key, and the new address of a link that changes the email address.

use crate::change::Change;
use crate::table::id_null;
use sea_orm_migration::schema::string_len_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![
        // No foreign key: the account may be deleted, and the key stays.
        Change::AddColumn { table: "api_keys", column: id_null("created_by") },
        Change::AddColumn { table: "verification_tokens", column: string_len_null("new_email", 320) },
    ]
}
