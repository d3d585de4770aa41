//! Several verification tokens per account and purpose: a new link does not invalidate the earlier ones.

use crate::change::Change;
use crate::table::index;

pub(crate) fn changes() -> Vec<Change> {
    let columns = ["user_id", "purpose"];
    vec![
        Change::DropIndex(
            index("verification_tokens_user_id_purpose_key", "verification_tokens", &columns).unique().take(),
        ),
        Change::CreateIndex(index(
            "verification_tokens_user_id_purpose_idx",
            "verification_tokens",
            &columns,
        )),
    ]
}
