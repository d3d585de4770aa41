//! Conversations that their owner has pinned.

use crate::change::Change;
use crate::table::flag;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "conversations", column: flag("is_pinned", false) }]
}
