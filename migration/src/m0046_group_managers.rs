//! Members of groups who manage them.

use crate::change::Change;
use crate::table::flag;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "user_groups", column: flag("is_manager", false) }]
}
