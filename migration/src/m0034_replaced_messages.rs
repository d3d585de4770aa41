//! Questions and answers that were replaced by asking again.

use crate::change::Change;
use crate::table::instant_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "messages", column: instant_null("replaced_at") }]
}
