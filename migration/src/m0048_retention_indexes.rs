//! Indexes for the removal of old responses and batches of files.

use crate::change::Change;
use crate::table::index;

pub(crate) fn changes() -> Vec<Change> {
    vec![
        Change::CreateIndex(index("responses_created_at_idx", "responses", &["created_at"])),
        Change::CreateIndex(index("file_batches_created_at_idx", "file_batches", &["created_at"])),
    ]
}
