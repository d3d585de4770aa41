//! What the last question of a conversation was limited to.

use crate::change::Change;
use sea_orm_migration::schema::text_null;

pub(crate) fn changes() -> Vec<Change> {
    // JSON object with lists of IDs; null for all documents, also in rows of the release before.
    vec![Change::AddColumn { table: "conversations", column: text_null("selection") }]
}
