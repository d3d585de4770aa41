//! The API key that began a conversation, if it is limited to collections.

use crate::change::Change;
use crate::table::id_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "conversations", column: id_null("limited_key_id") }]
}
